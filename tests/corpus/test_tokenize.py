"""The tokeniser's rules, and the compiled scanner against its plain twin."""

import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from topoi.corpus.characters import fold
from topoi.corpus.scan import BackgroundScanner, Scanner
from topoi.corpus.tokenize import Analyzer
from topoi.errors import CorpusError

PIECES = [
    "a", "Be", "s", "S", "'", "’", "ʼ", "-", "‐", "–", "_", " ", "\n", "\u00ad", "\u200d", "@", ".", ":", "/", "%", "+",
    "www.", "http://", "HTTPS://", "ftp://", "htt", "ww", "1", "23", "½", "Ⅷ",
    "é", "e\u0301", "\u0301", "中",
    "文", "ひ", "한국",
    "İ", "ſ", "Σ", "ß", "<", ">", '"', "!", "(", ")", ",", "\x00", "\ufeff", "𝒳", "𠀀", "क्\u200dष", "x@y",
    "'s",
]  # fmt: skip
TEXT = st.lists(st.sampled_from(PIECES) | st.characters(exclude_categories=["Cs"]), max_size=25).map("".join)


def words(text, **options):
    return [word for word, _, _ in Analyzer(stop_words=None, **options).words(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't", ["don't"]),
        ("don’t 'quoted' rock'n'roll", ["don't", "quoted", "rock'n'roll"]),
        ("Jordan's the women’s JONES'S", ["jordan", "the", "women", "jones"]),
        ("the authors' model", ["the", "authors", "model"]),
        ("state-of-the-art well–known -x- non‑linear", ["state-of-the-art", "well", "known", "non-linear"]),
        ("COVID-19 covid19 GPT-4 3d 2001 3.14 1,000 1990-1995", ["covid-19", "covid19", "gpt-4", "3d"]),
        ("see https://example.org/a_b?c=d#e, or www.example.org. End", ["see", "or", "end"]),
        ("mail joe.o'hara+list@mail.example.org now", ["mail", "now"]),
        ("@user and a@ b", ["user", "and"]),
        ("topic_model __init__ _x_", ["topic_model", "init"]),
        ("co\u00adopera\u00adtion", ["cooperation"]),
        ("naïve Ελλάδα МОСКВА", ["naïve", "ελλάδα", "москва"]),
        ("cafe\u0301", ["cafe\u0301"]),
        ("我爱 Python", ["我", "爱", "python"]),
        ("한국어 문서", ["한국어", "문서"]),
        ("null\x00byte a\tb", ["null", "byte"]),
        ("", []),
    ],
)
def test_rules(text, expected):
    assert words(text) == expected


def test_options_change_the_rules():
    assert words("state-of-the-art", hyphens="split") == ["state", "of", "the", "art"]
    assert words("In 2001 I", keep_numbers=True, min_length=1) == ["in", "2001", "i"]
    assert words("The Cat’s Don’t", lowercase=False) == ["The", "Cat", "Don't"]
    assert words("one two three", min_length=4) == ["three"]


def test_a_pattern_decides_alone():
    assert words("A1 b2 33", pattern=r"\w+") == ["a1", "b2", "33"]
    assert words("#one two #three", pattern=r"#(\w+)") == ["one", "three"]
    assert Analyzer(pattern=r"#(\w+)", stop_words=None).words("x #One") == [("one", 3, 6)]
    with pytest.raises(CorpusError, match="not a regular expression"):
        Analyzer(pattern="(")


@settings(max_examples=200, deadline=None)
@example(["中's"], True, "join", False, 1)
@example(["a@b_c@d www.x.org.www.y", "x.www.y@z.org http://é@b"], True, "split", True, 1)
@given(st.lists(TEXT, max_size=4), st.booleans(), st.sampled_from(["join", "split"]), st.booleans(), st.integers(1, 3))
def test_compiled_scanner_equals_plain_twin(texts, lowercase, hyphens, keep_numbers, min_length):
    analyzer = Analyzer(lowercase, None, None, hyphens, min_length, keep_numbers)
    fast, plain = analyzer.scan(texts), analyzer.scan_plainly(texts)
    assert [fast.words[w] for w in fast.tokens] == [plain.words[w] for w in plain.tokens]
    for name in ("doc_start", "token_start", "token_end", "linked"):
        np.testing.assert_array_equal(getattr(fast, name), getattr(plain, name), err_msg=name)


@settings(max_examples=200, deadline=None)
@given(TEXT)
def test_offsets_point_at_the_word(text):
    for word, start, end in Analyzer(stop_words=None).words(text):
        assert fold(text[start:end]) == word


def test_scanner_numbers_words_across_blocks_and_threads():
    texts = [f"word{d % 700} common Word{d % 13}" * (d % 5) for d in range(3000)] + ["x " * 300_000]
    whole = Analyzer(stop_words=None).scan(texts)
    scanner = Scanner()
    for d in range(0, len(texts), 7):
        scanner.feed(texts[d : d + 7])
    with BackgroundScanner(Scanner()) as background:
        for text in texts:
            background.add(text)
        threaded = background.finish()
    for other in (scanner.finish(), threaded):
        assert other.words == whole.words
        np.testing.assert_array_equal(other.tokens, whole.tokens)
        np.testing.assert_array_equal(other.doc_start, whole.doc_start)
    assert sorted(whole.words) == sorted({w for t in texts for w in re.findall(r"\w\w+", t.lower())})


def test_skipped_things_are_counted():
    scan = Analyzer(stop_words=None).scan(["12 a http://x.org joe@x.org 3.5"])
    assert scan.skipped.tolist() == [3, 1, 2]


def test_stop_words_from_everywhere(tmp_path):
    file = tmp_path / "stop.txt"
    file.write_text("# my list\nFoo\n\nbar # comment\n", encoding="utf-8")
    for given_as in (file, str(file), ["FOO", "bar"], {"foo", "bar"}):
        analyzer = Analyzer(stop_words=given_as)
        assert [word for word, _, _ in analyzer.words("Foo bar baz")] == ["baz"]
    assert [w for w, _, _ in Analyzer().words("I don't and they’re you'll cats")] == ["cats"]
    with pytest.raises(CorpusError, match="no such stop list"):
        Analyzer(stop_words="klingon")
    with pytest.raises(CorpusError, match="stop words are strings"):
        Analyzer(stop_words=[3])


def test_analyzer_travels():
    analyzer = Analyzer(False, ["X"], None, "split", 3, True, [("new", "york")])
    assert Analyzer.from_dict(analyzer.to_dict()) == analyzer
    assert hash(Analyzer.from_dict(analyzer.to_dict())) == hash(analyzer)
    with pytest.raises(CorpusError, match="unknown analyser settings: spell"):
        Analyzer.from_dict({"spell": True})
    with pytest.raises(CorpusError, match="must be a list"):
        Analyzer.from_dict({"stop_words": "/etc/passwd"})
    with pytest.raises(CorpusError, match="hyphens"):
        Analyzer(hyphens="maybe")
    with pytest.raises(CorpusError, match="min_length"):
        Analyzer(min_length=0)
    with pytest.raises(CorpusError, match="pair of words"):
        Analyzer(phrases=["new york"])


@pytest.mark.parametrize("value", [[], {}, "yes", 2, None, 0.5])
def test_a_saved_analyser_says_yes_or_no(value):
    saved = Analyzer().to_dict()
    with pytest.raises(CorpusError, match="must be true or false"):
        Analyzer.from_dict(saved | {"lowercase": value})
