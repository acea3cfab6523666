"""Figures and tables of the papers: none is left out, verdicts are of the list, pages say what the numbers say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from studies.papers import __main__ as command
from studies.papers import page, result
from studies.papers.author_topic import PRINTED_AUTHORS, PRINTED_TOPICS, nearest_in_size, nearest_topics
from studies.papers.kernel import _half_width, two_bases
from studies.papers.pachinko import _specific, structure_chart
from studies.papers.result import STUDIES_BY_NAME, VERDICTS, Found, perform, study

import topoi

WANTED = {
    "at09": ["fig1", "fig2", "fig4", "fig5", "fig6", "fig7", "fig8", "fig9", "fig11", "fig12", "table2"],
    "at04": ["fig2", "fig3", "fig4", "fig5", "fig6", "tables1-3"],
    "ep02": ["fig1", "fig2", "fig3", "text"],
    "ktm12": ["fig3", "fig4", "fig5", "fig6"],
    "pam": ["fig4", "fig5", "fig6", "fig7", *(f"table{n}" for n in (2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14))],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (result, page):
        monkeypatch.setattr(module, "OUT", tmp_path)
    monkeypatch.setattr(result, "STUDIES_BY_NAME", dict(STUDIES_BY_NAME))
    monkeypatch.setattr(page, "STUDIES_BY_NAME", result.STUDIES_BY_NAME)
    return tmp_path


def test_every_figure_and_table_is_there() -> None:
    assert sorted(STUDIES_BY_NAME) == sorted(f"{paper}-{item}" for paper, items in WANTED.items() for item in items)


@pytest.mark.parametrize("path", sorted(result.OUT.glob("*.json")), ids=lambda path: path.stem)
def test_numbers_in_the_docs_are_of_a_study_and_have_a_verdict(path: Path) -> None:
    row = json.loads(path.read_text(encoding="utf-8"))
    assert path.stem in STUDIES_BY_NAME
    assert row["verdict"] in VERDICTS
    assert row["why"]
    assert row["paper"] == STUDIES_BY_NAME[path.stem].theirs


@pytest.mark.parametrize("name", sorted(name for name, one in STUDIES_BY_NAME.items() if one.page))
def test_numbers_that_are_read_are_those_of_the_studys_own_page(name: str) -> None:
    now, kept = STUDIES_BY_NAME[name].run(), result.found_before(name)
    assert kept is not None
    assert (kept["ours"], kept["verdict"]) == (json.loads(json.dumps(now.ours)), now.verdict)


def test_a_study_is_run_written_and_shown(folder: Path) -> None:
    study("ep02-fig9", "Figure 9", "A thing of the test", {"size": 3})(
        lambda: Found({"size": 2.5}, "partly", "It is smaller | here.", "![It](ep02-fig9.svg)", {"ep02-fig9": "<svg/>"})
    )
    row = perform(result.STUDIES_BY_NAME["ep02-fig9"])
    assert row["ours"] == {"size": 2.5}
    assert (folder / "ep02-fig9.svg").read_text() == "<svg/>"
    missing = page.write()
    assert "ep02-fig9" not in missing
    assert "at09-fig4" in missing
    text = (folder / "ep02.md").read_text(encoding="utf-8")
    assert "| size | 3 | 2.5 |" in text
    assert "**Partly.** It is smaller | here." in text
    assert "python -m studies.papers ep02-fig9" in text
    overview = (folder / "index.md").read_text(encoding="utf-8")
    assert "A thing of the test | **partly** |" in overview
    assert "[Figure 9](ep02.md#ep02-fig9)" in overview


def test_a_quotation_is_put_right_without_a_run(folder: Path) -> None:
    def enter(size: float) -> None:
        study("ep02-fig9", "Figure 9", "A thing", {"size": size}, "3 hours")(
            lambda: Found({"size": 2.5}, "partly", "So.")
        )

    enter(87.3)
    perform(result.STUDIES_BY_NAME["ep02-fig9"])
    enter(87.34)
    page.write()
    assert json.loads((folder / "ep02-fig9.json").read_text(encoding="utf-8"))["paper"] == {"size": 87.34}
    text = (folder / "ep02.md").read_text(encoding="utf-8")
    assert "| size | 87.34 | 2.5 |" in text
    assert "| *time* | 3 hours | below 1 s |" in text


def test_a_shared_sub_topic_is_drawn_once_with_both_alphas() -> None:
    svg = structure_chart({"super 0": {"a b": 2.0, "c d": 0.5}, "super 1": {"a b": 1.0}})
    assert (svg.count("<circle"), svg.count("<line"), svg.count("<rect")) == (2, 3, 2)
    first = next(line for line in svg.splitlines() if ">a b<" in line)
    assert first.index("2.00") < first.index("1.00")


def test_a_verdict_that_is_none_is_refused(folder: Path) -> None:
    study("ep02-fig9", "Figure 9", "A thing", {})(lambda: Found({}, "nearly", ""))
    with pytest.raises(ValueError, match="not 'nearly'"):
        perform(result.STUDIES_BY_NAME["ep02-fig9"])
    with pytest.raises(ValueError, match="name of a paper"):
        study("abc-fig1", "Figure 1", "A thing", {})


@pytest.mark.parametrize(
    ("arguments", "said"), [(["at09-fig3"], "no study is called 'at09-fig3'"), ([], "name a study")]
)
def test_the_command_says_what_is_wrong(
    arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["papers", *arguments])
    with pytest.raises(SystemExit):
        command.main()
    assert said in capsys.readouterr().err


def test_bridge_is_near_in_the_softmax_basis() -> None:
    found = two_bases()
    assert found.verdict == "reproduced"
    assert found.ours["simplex basis (shares)"].count("none") == 1


def test_half_width_of_a_peak() -> None:
    shares = np.array([[0.1, 0.5], [0.6, 0.5], [0.9, 0.5], [0.2, 0.5]])
    assert _half_width(shares, np.array([1900, 1904, 1908, 1912])) == [5.0, 13.0]


def test_printed_topics_have_ten_words_and_ten_authors() -> None:
    for words, authors in PRINTED_TOPICS:
        assert (len(set(words.split())), len(set(authors.split("; ")))) == (10, 10)
    for topics in PRINTED_AUTHORS.values():
        assert [len(set(words.split())) for words in topics] == [10, 10, 10, 10]


def test_the_nearest_topic_shares_most_words_and_serves_once() -> None:
    halves = [[f"a{i}" for i in range(10)], [f"b{i}" for i in range(10)]]
    corpus = topoi.Corpus.from_tokens(halves * 30, authors=["Ann", "Bob"] * 30)
    model = topoi.AuthorTopicModel(2, alpha=0.1, n_iter=100, random_state=0, progress=False).fit(corpus)
    about_b = "b0 b1 b2 unknown"
    first, second = nearest_topics(model, [about_b, "a0 a1 a2"])
    assert set(model.top_words(10, topic=first)["word"]) == set(halves[1])
    assert second == 1 - first
    assert nearest_topics(model, [about_b, about_b]) == [first, second]


def test_authors_are_chosen_by_their_number_of_documents_alone() -> None:
    assert nearest_in_size(np.array([3000, 500, 510, 140, 2]), (509, 509, 132)) == [2, 1, 3]


def test_small_topics_count_if_they_are_as_clear_as_large_ones() -> None:
    sizes = np.arange(100.0, 40_100.0, 1000.0)  # 40 topics; the smallest tenth are the first four
    clear = np.where(sizes > 20_000, 0.2, 0.1)
    clear[[1, 3, 7, 15]] = 0.3
    assert _specific(sizes, clear) == (0.2, [1, 3, 7], [1, 3])
