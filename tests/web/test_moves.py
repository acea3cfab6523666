"""Topics that rise and fall: the same choice, and the same figures, in pages and on the command line."""

import re

import pytest

import topoi
from topoi.analysis.trends import topic_moves
from topoi.cli.main import main
from topoi.drawing.words import percent, percents
from web.conftest import client_of

WORDS = (
    ["sea", "ship", "sail", "wind"],
    ["law", "court", "judge", "jury"],
    ["tax", "duty", "toll", "levy"],
    ["corn", "wheat", "barn", "plough"],
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The sea rises, law and taxes fall, corn stays; but the first year, of few words, is all about the sea."""
    rows, years = [WORDS[0]], [1900]
    for y in range(12):
        for words, n in zip(WORDS, (2 + 3 * y, 40 - 2 * y, 20 - y, 10), strict=True):
            rows += [words * 2] * n
            years += [1901 + y] * n
    corpus = topoi.Corpus.from_tokens(rows, dates=years)
    path = tmp_path_factory.mktemp("moves") / "m.topoi"
    topoi.LDA(4, alpha=0.1, n_iter=60, random_state=1).fit(corpus).save(path, "m")
    return path


@pytest.fixture(scope="module")
def names(path):
    """Which topic is which."""
    words = topoi.view(path).top_words(4).groupby("topic")["word"].agg(set).to_dict()
    return {group[0]: next(k for k, found in words.items() if found == set(group)) for group in WORDS}


def listed(rows):
    return [(row["topic"]["topic"], row["first"], row["last"]) for row in rows]


@pytest.mark.parametrize("by", ["year", "decade"])
def test_pages_list_what_their_figures_say(path, names, by):
    client = client_of(path)
    view = topoi.view(path)
    found = topic_moves(view, topoi.topic_trends(view, by=by)).set_index("topic")
    data = client.get(f"/m/m/trends.json?by={by}").json()
    pages = [(data["hottest"], data["coldest"])]
    if by == "year":
        data = client.get("/m/m/overview.json").json()
        pages.append((data["rising"], data["falling"]))
        assert found.loc[names["sea"], "first"] == pytest.approx(0.04, abs=0.02)  # and not 1.0, as in 1900
    for rising, falling in pages:
        assert [row[0] for row in listed(rising)] == [names["sea"]]
        assert [row[0] for row in listed(falling)] == [names["law"], names["tax"]]
        for topic, first, last in listed(rising) + listed(falling):
            assert (first, last) == pytest.approx(found.loc[topic, ["first", "last"]].tolist())
        for row in rising + falling:
            own = found.loc[row["topic"]["topic"]]
            for name in found.columns.drop("direction"):
                assert row[name] == pytest.approx(own[name])
            assert row["first_lower"] <= row["first"] <= row["first_upper"] and row["lower"] * row["upper"] > 0
        assert rising[0]["change"] == pytest.approx(rising[0]["last"] - rising[0]["first"])
    html = client.get(f"/m/m/trends?by={by}").text
    for _, first, last in listed(rising) + listed(falling):
        assert re.search(rf"{re.escape(percent(first))}.{{0,300}}{re.escape(percent(last))}", html, re.DOTALL)
    for row in rising + falling:
        for name in ("first", "last"):
            assert percents(row[f"{name}_lower"], row[f"{name}_upper"]) in html
    assert "earliest to the latest tenth" in html


def test_the_command_line_lists_the_same(path, names, capsys):
    assert main(["trends", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()[1:-1]
    figures = {int(line.split()[0]): [float(x) for x in re.findall(r"([\d.]+)%", line)] for line in lines}
    assert list(figures) == [names[each] for each in ("sea", "corn", "tax", "law")]
    (a, b), (c, d), (e, f), (g, h) = figures.values()
    assert a < b and c == d and e > f and g > h
    assert main(["trends", str(path), "-n", "2"]) == 0
    assert [int(line.split()[0]) for line in capsys.readouterr().out.splitlines()[1:-1]] == [names["sea"], names["law"]]
    assert main(["trends", str(path), "-n", "4"]) == 0
    shown = [int(line.split()[0]) for line in capsys.readouterr().out.splitlines()[1:-1]]
    assert shown == [names["sea"], names["tax"], names["law"]]  # what stays is left out
    assert main(["trends", str(path), "--by", "year", "--topic", str(names["sea"])]) == 0


def test_nothing_moves_within_one_year(tmp_path, capsys):
    corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]] * 5, dates=[1990] * 10)
    topoi.LDA(2, n_iter=5, random_state=0).fit(corpus).save(tmp_path / "m.topoi", "m")
    assert main(["trends", str(tmp_path / "m.topoi"), "-n", "2"]) == 0
    assert "no topic clearly rises or falls" in capsys.readouterr().out
    assert client_of(tmp_path / "m.topoi").get("/m/m/trends.json").json()["hottest"] == []
