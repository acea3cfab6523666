"""Answers that pages show are compared with those of today, and written back."""

import sys

from studies.sessions import is_answer, main, same_line, same_word, session, written

import topoi

PAGE = """\
# A page

```python
total = 2 / 3
print("sum", total)
total
```

```
sum  0.667
```

Words, and a command:

```
$ topoi version
0.0.0
$ topoi version
{version}
```
"""


def answers(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return list(session(text))


def test_answers_that_differ_are_found_and_written_back(tmp_path, monkeypatch):
    text = PAGE.format(version=topoi.__version__)
    found = answers(text, tmp_path, monkeypatch)
    assert [each.same for each in found] == [True, False, True]
    assert found[1].line == 16 and found[1].shown == "0.0.0"
    mended = written(text, found)
    assert mended == text.replace("0.0.0\n", f"{topoi.__version__}\n")
    assert all(each.same for each in answers(mended, tmp_path, monkeypatch))


def test_numbers_may_be_rounded_and_lines_left_out():
    assert same_word("4,323", "4322.6") and not same_word("4,324", "4322.6")
    assert same_word("0.67", "0.6667") and not same_word("0.66", "0.6667")
    assert same_line("3  war  peace …", "  3 war peace law") and not same_line("3 war law", "3 war peace law")
    came = "first\nsecond\nthird\nfourth"
    assert is_answer("second\n…\nfourth", came) and is_answer("first", came)
    assert not is_answer("second\nfourth", came) and not is_answer("fourth\n…\nfirst", came)


def test_commands_that_serve_are_left_out(tmp_path, monkeypatch):
    assert answers("```bash\ntopoi browse papers.topoi\n```\n", tmp_path, monkeypatch) == []


def test_only_answers_that_stay_wrong_are_a_failure(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(PAGE.format(version="0.0.1"), encoding="utf-8")

    def ran(*options):
        monkeypatch.setattr(sys, "argv", ["sessions", str(page), *options])
        return main()

    assert (ran(), ran("--write"), ran()) == (1, 0, 0)
    page.write_text(page.read_text(encoding="utf-8").replace("0.667", "0.668"), encoding="utf-8")
    assert (ran("--write"), ran()) == (1, 1)  # only answers below a $ command are written back
