"""Models with features: fitted, asked and scored from the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pandas as pd
import pytest

import topoi as library
from topoi.cli.feature_values import grid
from topoi.cli.main import main
from topoi.models.features import typed
from topoi.models.features.columns import KINDS, Names, Number

from .conftest import PEOPLE, write_papers

SETTINGS = {
    "dmr": ["--iterations", "30", "--warmup", "10", "--width", "20", "--jobs", "1", "--quiet"],
    "kernel": ["--iterations", "25", "--warmup", "15", "--jobs", "1", "--quiet"],
}
FAMILIES = {"dmr": "DirichletMultinomialRegression", "kernel": "KernelTopicModel"}


@pytest.fixture(scope="module")
def files(papers: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("features")
    found = {}
    for family, more in SETTINGS.items():
        found[family] = folder / f"{family}.topoi"
        base = ["fit", str(papers), "-o", str(found[family]), "--model", family, "--features", "year,authors"]
        assert main([*base, "--topics", "3", *more]) == 0
    return found


@pytest.fixture(scope="module")
def held_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = write_papers(tmp_path_factory.mktemp("new") / "new.jsonl", n_docs=8)
    record = {"id": "odd", "text": "ship judge wheat zeppelin", "authors": ["Nobody, X"], "year": 1850}
    path.write_text(path.read_text() + json.dumps(record) + "\n")
    return path


def answer(topoi, *arguments: object) -> list[dict]:
    run = topoi(*arguments, "--json")
    assert run.code == 0, run.err
    return json.loads(run.out)


def test_kinds_are_those_of_the_library() -> None:
    assert typed.KINDS == KINDS


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_saved_is_what_was_asked_for(files, family: str) -> None:
    model = library.load(files[family])
    assert type(model).__name__ == FAMILIES[family]
    assert model.features == ["year", "authors"] and model.n_topics == 3 and model.random_state == 0
    assert [column.name for column in model.feature_columns_] == ["year", "authors"]
    assert model.n_warmup == int(SETTINGS[family][3])


def test_settings_of_a_regression(topoi, papers: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.topoi"
    given = ["--features", "year:number,authors:names", "--width", "year=none", "--variance", "cv", "--chains", 2]
    more = ["-k", 2, "-i", 30, "--alpha", 0.3, "--beta", 0.02, "--refit", "-q"]
    assert topoi("fit", papers, "-o", path, "-m", "dmr", *given, *more).code == 0
    model = library.load(path)
    assert model.features == {"year": "number", "authors": "names"} and model.width == {"year": None}
    assert (model.variance, model.alpha, model.beta, model.n_chains, model.n_warmup) == ("cv", 0.3, 0.02, 2, 10)
    assert model.fit_info_["refitted"] and "year" in model.design_.labels
    assert topoi("fit", papers, "-o", path, "-m", "dmr", *given[:2], "--width", "none", *more[:4], "--force").code == 0
    assert library.load(path).width is None


def test_what_was_chosen_is_told(topoi, papers: Path, tmp_path: Path) -> None:
    given = ["-m", "dmr", "--features", "year", "-k", 2, "-i", 24, "--width", "cv", "--variance", "cv"]
    run = topoi("fit", papers, "-o", tmp_path / "m.topoi", *given)
    info = library.load(tmp_path / "m.topoi").fit_info_
    expected = (
        f"chosen by cross-validation: year in bumps of width {info['widths']['year']:g}, variance {info['variance']:g}"
    )
    assert run.code == 0 and expected in run.err


def test_a_checkpoint_is_continued(topoi, papers: Path, tmp_path: Path) -> None:
    def fitted(name: str, n: int, *more: object) -> list[dict]:
        options = ["-m", "dmr", "--features", "year", "-k", 3, "-i", n, "--warmup", 5, "-q", *more]
        return answer(topoi, "fit", papers, "-o", tmp_path / name, *options)

    fitted("half.topoi", 12, "--checkpoint", tmp_path / "c")
    assert fitted("b.topoi", 24, "--checkpoint", tmp_path / "c") == fitted("a.topoi", 24)


def test_defaults_of_the_kernel_family(monkeypatch) -> None:
    from topoi.cli.model_options import new_model
    from topoi.models.registry import model_named

    given = {"--features": "year", "--beta": 0.01}
    model = new_model(model_named("kernel"), given)
    assert (model.n_topics, model.n_iter, model.n_warmup, model.inference) == (10, 1000, 100, "laplace")
    assert new_model(model_named("kernel"), given | {"--iterations": 30}).n_warmup == 20
    regression = new_model(model_named("dmr"), given)
    assert (regression.n_topics, regression.n_iter, regression.n_warmup, regression.alpha) == (100, 500, 50, 0.1)


@pytest.mark.parametrize(
    "options, words",
    [
        (["-m", "kernel"], "needs --features"),
        (["-m", "dmr"], "needs --features"),
        (["-m", "lda", "--features", "year"], "--features does not apply to --model lda"),
        (["-m", "kernel", "--features", "year", "--width", "5"], "--width does not apply"),
        (["-m", "kernel", "--features", "year", "--variance", "5"], "--variance does not apply"),
        (["-m", "kernel", "--features", "year", "--alpha", "1"], "--alpha does not apply"),
        (["-m", "kernel", "--features", "year", "--chains", "2"], "--chains does not apply"),
        (["-m", "kernel", "--features", "year", "--shards", "2"], "--shards does not apply"),
        (["-m", "kernel", "--features", "year", "--refit"], "--refit does not apply"),
        (["-m", "kernel", "--features", "year", "--inference", "ep"], "it has laplace and bridge"),
        (["-m", "aspect", "--inference", "bridge"], "it has ep and vb"),
        (["-m", "aspect", "--warmup", "5"], "--warmup does not apply"),
        (["-m", "dmr", "--features", "year", "--inference", "laplace"], "--inference does not apply"),
        (["-m", "dmr", "--features", "year", "--learn-alpha"], "--learn-alpha does not apply"),
        (["-m", "dmr", "--features", "year:dat"], "kinds are number, date, category, names, links"),
        (["-m", "dmr", "--features", "year,,authors"], "has no name"),
        (["-m", "dmr", "--features", "year,year"], "there twice"),
        (["-m", "dmr", "--features", "year", "--width", "wide"], "give a positive number, auto, cv or none"),
        (["-m", "dmr", "--features", "year", "--width", "-3"], "give a positive number"),
        (["-m", "dmr", "--features", "year", "--variance", "nan"], "give a positive number, cv"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_read(topoi, tmp_path: Path, options, words: str) -> None:
    run = topoi("fit", tmp_path / "nothing.jsonl", "-o", tmp_path / "m.topoi", *options)
    assert run.code == 2
    assert words in " ".join(run.err.split())


@pytest.mark.parametrize("family", FAMILIES)
def test_an_unknown_column_is_answered_with_those_there_are(topoi, papers: Path, tmp_path: Path, family: str) -> None:
    run = topoi("fit", papers, "-o", tmp_path / "m.topoi", "-m", family, "--features", "venue", "-q")
    assert run.code == 1 and run.err.count("\n") == 1
    assert "no column 'venue'; there are: authors, id, title, date, year" in run.err
    run = topoi("fit", papers, "-o", tmp_path / "m.topoi", "-m", family, "--features", "title:number", "-q")
    assert run.code == 1 and "feature 'title' has values that are not a number" in run.err


def test_a_table_of_text_has_numbers_dates_and_names(topoi, tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    rows = "".join(
        f'"{" ".join(PEOPLE[d % 4][1])}",{d}.5,2001-02-0{1 + d % 9},"Ann; Cy{d % 2}",{"" if d % 3 else "X"}\n'
        for d in range(24)
    )
    source.write_text("text,pages,seen,crew,venue\n" + rows)
    given = "pages,seen,crew:names,venue"
    options = ["-m", "dmr", "--features", given, "-k", 3, "-i", 6, "-q", "-o", tmp_path / "m.topoi"]
    assert topoi("fit", source, *options).code == 0
    pages, seen, crew, venue = library.load(tmp_path / "m.topoi").feature_columns_
    assert (pages.low, pages.high, pages.date, seen.date, venue.levels) == (0.5, 23.5, False, True, ["X"])
    assert crew.levels == ["Ann", "Cy0", "Cy1"]
    rows = answer(topoi, "predict", tmp_path / "m.topoi", "seen=2001-02-03", "crew=Ann; Cy1", "venue=X", "pages=3")
    assert rows[0]["seen"] == "2001-02-03" and rows[0]["crew"] == ["Ann", "Cy1"] and len(rows) == 3


@pytest.mark.parametrize("family", FAMILIES)
def test_predictions_are_the_librarys(topoi, files, family: str) -> None:
    model = library.load(files[family])
    rows = answer(topoi, "predict", files[family], "year=1801", "authors=Drake, F")
    frame = model.predict({"year": [1801], "authors": [["Drake, F"]]})
    assert list(rows[0]) == list(frame.columns) == ["row", "year", "authors", "topic", "mean", "lower", "upper"]
    assert [row["mean"] for row in rows] == pytest.approx(frame["mean"].tolist(), rel=1e-12)
    assert max(rows, key=lambda row: row["mean"])["mean"] > 0.5
    narrow = answer(topoi, "predict", files[family], "year=1801", "authors=Drake, F", "--curve", "--level", 0.5)
    expected = model.predict({"year": [1801], "authors": [["Drake, F"]]}, level=0.5, noise=False)
    assert [row["upper"] for row in narrow] == pytest.approx(expected["upper"].tolist(), rel=1e-12)
    only = answer(topoi, "predict", files[family], "year=1801", "authors=Drake, F", "--topic", 1)
    assert [row["topic"] for row in only] == [1]


def test_values_are_all_combined(topoi, files) -> None:
    rows = answer(
        topoi, "predict", files["dmr"], "year=1800:1820:10,1890", "authors=Cook, J", "authors=Tull, J; Coke, E"
    )
    frame = pd.DataFrame(rows).drop_duplicates("row")
    assert frame["year"].tolist() == [1800, 1800, 1810, 1810, 1820, 1820, 1890, 1890]
    assert frame["authors"].tolist()[:2] == [["Cook, J"], ["Tull, J", "Coke, E"]]
    table = list(csv.DictReader(io.StringIO(topoi("predict", files["dmr"], "year=1850", "--csv").out)))
    assert len(table) == 3 and table[0]["year"] == "1850"


def test_ranges() -> None:
    year, size = Number("year", False, 0, 1, 0, 1), Number("size", True, 0, 1, 0, 1)
    assert grid(["year=0:1:0.25"], [year])["year"].tolist() == [0, 0.25, 0.5, 0.75, 1.0]
    assert grid(["year=3:1:-1"], [year])["year"].tolist() == [3, 2, 1]
    assert grid(["year=3:3"], [year])["year"].tolist() == [3]
    assert grid(["size=2004-07-08T12:00"], [size])["size"].tolist() == ["2004-07-08T12:00"]
    venue = Names("venue", ["A=B, C"], True)
    assert grid(["venue=A=B, C"], [venue])["venue"].tolist() == ["A=B, C"]


def test_a_table_of_features(topoi, files, tmp_path: Path) -> None:
    comma = tmp_path / "f.csv"
    comma.write_text('year,other,authors\n1801,x,"Drake, F"\n,y,\n1850.5,z,"Tull, J; Coke, E"\n')
    lines = tmp_path / "f.jsonl"
    records = [(1801, ["Drake, F"]), (None, []), (1850.5, ["Tull, J", "Coke, E"])]
    lines.write_text("".join(json.dumps({"year": y, "authors": a}) + "\n" for y, a in records))
    rows = answer(topoi, "predict", files["kernel"], "--from", comma)
    again = answer(topoi, "predict", files["kernel"], "--from", lines)
    assert [row["mean"] for row in rows] == [row["mean"] for row in again] and len(rows) == 9
    assert rows[0]["year"] == 1801 and rows[6]["authors"] == ["Tull, J", "Coke, E"]


def test_people_see_shares_or_curves(topoi, files) -> None:
    run = topoi("predict", files["dmr"], "year=1801", "authors=Drake, F")
    lines = run.out.splitlines()
    assert lines[0] == "year 1801 · authors Drake, F" and "–" in lines[1] and lines[-1].startswith("bands: 80 %")
    assert max(map(len, lines)) <= 80 and "\x1b" not in run.out and run.err == ""
    run = topoi("predict", files["kernel"], "year=1800:1890:5", "-n", 2)
    lines = run.out.splitlines()
    assert lines[0].startswith("topic  1800") and len(lines) == 4 and max(map(len, lines)) <= 80
    assert "authors is not given" in run.err


def test_readers_are_told_what_is_new(topoi, files) -> None:
    run = topoi("predict", files["dmr"], "year=2100", "authors=Drake, G", "--csv")
    assert run.code == 0
    assert "year 2100 is outside the documents' range" in run.err
    assert "no document has authors 'Drake, G': taken as new; did you mean 'Drake, F'?" in run.err


@pytest.mark.parametrize(
    "arguments, words, code",
    [
        ([], "give values of features", 2),
        (["1893"], "write FEATURE=VALUE; the model's features are year, authors", 2),
        (["venue=X"], "the model has no feature 'venue'; there are year, authors", 2),
        (["year="], "no value", 2),
        (["year=soon"], "'soon' is no number", 2),
        (["year=1:9:-1"], "a range is FIRST:LAST", 2),
        (["year=1:9:0"], "a range is FIRST:LAST", 2),
        (["year=0:1:0.00001"], "use a larger step", 2),
        (["year=1:9999", "authors=A", "authors=B"], "more than 10,000 combinations", 2),
        (["year=1", "--level", "1.5"], "between 0 and 1", 2),
        (["year=1", "--topic", "9"], "there is no topic 9", 1),
        (["--from", "absent.csv"], "no such file: absent.csv", 1),
        (["year=1", "--from", "absent.csv"], "give values of features", 2),
    ],
)
def test_bad_questions(topoi, files, arguments, words: str, code: int) -> None:
    run = topoi("predict", files["dmr"], *arguments)
    assert run.code == code and words in " ".join(run.err.split()) and run.out == ""


def test_bad_tables(topoi, files, tmp_path: Path) -> None:
    for name, text, words in [
        ("a.csv", "yr,authors\n1,A\n", "has no column 'year'; it has yr, authors"),
        ("b.csv", "", "is no table of features"),
        ("c.csv", "year,authors\n", "has no rows"),
        ("d.csv", "year,authors\nsoon,A\n", "values that are not a number"),
        ("e.jsonl", "{broken\n", "is no table of features"),
        ("f.txt", "year\n", "give a .csv, .tsv, .jsonl or .parquet file"),
    ]:
        (tmp_path / name).write_text(text)
        run = topoi("predict", files["dmr"], "--from", tmp_path / name)
        assert run.code == 1 and words in run.err and run.err.count("\n") == 1, name


def test_other_families_have_no_features(topoi, lda_file: Path) -> None:
    run = topoi("predict", lda_file, "year=1893")
    assert run.code == 1 and "has no features to predict from; fit one with --model kernel or --model dmr" in run.err


@pytest.mark.parametrize("family", FAMILIES)
def test_held_out_documents_are_scored_given_their_metadata(topoi, files, held_out: Path, family: str) -> None:
    model = library.load(files[family])
    corpus = library.read_corpus(held_out, like=model.corpus_, new_authors="add")
    for given in ("metadata", 4, "words"):
        (row,) = answer(topoi, "evaluate", files[family], held_out, "--given", given)
        assert row["perplexity_tokens"] == pytest.approx(model.perplexity(corpus, given=given), rel=1e-9)
    assert row["estimator"] == "metadata and all words"
    (row,) = answer(topoi, "evaluate", files[family], held_out)
    assert row["estimator"] == "filter" and row["n_words"] == corpus.n_tokens
    assert row["perplexity_tokens"] == pytest.approx(model.perplexity(corpus), rel=1e-9)
    (row,) = answer(topoi, "evaluate", files[family], held_out, "--estimator", "empirical")
    expected = library.evaluation.empirical_likelihood(model, corpus).sum()
    assert row["log_likelihood"] == pytest.approx(expected, rel=1e-9)
    rows = answer(topoi, "evaluate", files[family], held_out, "--documents", "--given", 3)
    assert rows[-1]["n_words"] == 0 and rows[-1]["perplexity"] is None and rows[0]["n_words"] == 27
    assert "perplexity" in topoi("evaluate", files[family], held_out).out


def test_ways_of_scoring_that_do_not_fit(topoi, files, lda_file: Path, held_out: Path) -> None:
    assert answer(topoi, "evaluate", files["dmr"], held_out, "--estimator", "left-to-right")[0]["n_docs"] == 9
    for file, options, words in [
        (files["dmr"], ["--given", 3, "--particles", 5], "nothing in that score is drawn"),
        (files["dmr"], ["--given", "some"], "metadata, words, or a number of words"),
        (files["dmr"], ["--given", 3, "--estimator", "empirical"], "leave one out"),
        (lda_file, ["--given", 3], "the LDA has none"),
    ]:
        run = topoi("evaluate", file, held_out, *options)
        assert run.code == 2 and words in " ".join(run.err.split())
    run = topoi("evaluate", files["kernel"], held_out, "--estimator", "left-to-right")
    assert run.code == 1 and "KernelTopicModel does not have this estimator" in " ".join(run.err.split())


@pytest.mark.parametrize("given", ["1000", "9" * 30])
def test_nothing_left_to_predict_is_told(topoi, files, held_out: Path, given: str) -> None:
    run = topoi("evaluate", files["dmr"], held_out, "--given", given)
    assert run.code == 1 and "has a word left to predict" in " ".join(run.err.split())


def test_a_name_may_have_a_semicolon_in_it(topoi, tmp_path: Path) -> None:
    corpus = library.Corpus.from_tokens([["a"] * 5, ["b"] * 5] * 4, authors=[["Bob; C"], ["Ann"]] * 4)
    path, table = tmp_path / "s.topoi", tmp_path / "f.csv"
    model = library.DirichletMultinomialRegression(2, features=["authors"], n_iter=5, random_state=0).fit(corpus)
    model.save(path)
    table.write_text("authors\nBob; C\nAnn; Bob\n")
    assert answer(topoi, "predict", path, "authors=Bob; C")[0]["authors"] == ["Bob; C"]
    assert [row["authors"] for row in answer(topoi, "predict", path, "--from", table)][::2] == [
        ["Bob; C"],
        ["Ann", "Bob"],
    ]


@pytest.mark.parametrize("family", FAMILIES)
def test_questions_about_topics_are_answered(topoi, files, family: str) -> None:
    file = files[family]
    questions = [
        ["topics"], ["topics", "--topic", 1], ["trends"], ["trends", "--by", "decade"], ["documents", "--topic", 0],
        ["documents", "p3"], ["documents", "p3", "--similar"], ["words", "ship"], ["label", "ship and wheat"],
        ["models"],
    ]  # fmt: skip
    for verb, *more in questions:
        run = topoi(verb, file, *more)
        assert run.code == 0 and run.out, (verb, run.err)
    for verb, *more in [["authors"], ["similar", "Cook, J"], ["structure"]]:
        run = topoi(verb, file, *more)
        assert run.code == 1 and run.err.count("\n") == 1 and "fit" in run.err


def test_coefficients_are_the_librarys(topoi, files) -> None:
    frame = library.load(files["dmr"]).coefficients()
    rows = answer(topoi, "coefficients", files["dmr"])
    assert list(rows[0]) == ["topic", "feature", "coefficient", "standard_error", "z"] and len(rows) == len(frame)
    assert [row["z"] for row in rows] == pytest.approx(frame["z"].tolist(), rel=1e-12)
    only = answer(topoi, "coefficients", files["dmr"], "--topic", 1, "--feature", "authors")
    assert [row["feature"] for row in only] == [f"authors={name}" for name in sorted(p[0] for p in PEOPLE)]
    (one,) = answer(topoi, "coefficients", files["dmr"], "--topic", 1, "--feature", "authors=Cook, J")
    assert one in only
    assert len(answer(topoi, "coefficients", files["dmr"], "--feature", "intercept")) == 3


def test_people_see_the_surest_effects_first(topoi, files) -> None:
    run = topoi("coefficients", files["dmr"], "-n", 2)
    lines = run.out.splitlines()
    assert run.code == 0 and len(lines) == 3 * 3 + 1 and "too small where topics overlap" in lines[-1]
    assert "±" in lines[1] and max(map(len, lines[:-1])) <= 80


def test_coefficients_that_are_not_there(topoi, files) -> None:
    run = topoi("coefficients", files["kernel"])
    assert run.code == 1 and "has no coefficients; fit one with --model dmr" in run.err
    run = topoi("coefficients", files["dmr"], "--feature", "authors=Cok, J")
    assert run.code == 1 and "there are intercept, year, authors; did you mean 'authors=Cook, J'" in run.err
    assert topoi("coefficients", files["dmr"], "--topic", 9).code == 1
