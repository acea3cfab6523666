"""``topoi fit``: what it saves, what it prints, what it refuses."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

import topoi as library
from topoi.cli import fit_options
from topoi.cli.fit import default_output, stop_word_list
from topoi.errors import CorpusError, StoreError

from .conftest import COURT, FIELD, FIT, SEA


def must_not_read(*arguments, **settings):
    pytest.fail("read the corpus although the output cannot be written")


def test_saves_a_model_that_found_the_subjects(model_file: Path) -> None:
    model = library.load(model_file)
    found = {frozenset(rows["word"]) for _, rows in model.top_words(10).groupby("topic")}
    assert found == {frozenset(SEA), frozenset(FIELD), frozenset(COURT)}


def test_prints_report_topics_and_next_step(topoi, papers: Path, tmp_path: Path) -> None:
    run = topoi("fit", papers, "-o", tmp_path / "m.topoi", *FIT[:-1])
    assert run.code == 0
    assert "48 documents" in run.err
    assert f"saved {tmp_path / 'm.topoi'}" in run.err.replace("\n", "")
    assert "next: topoi topics" in run.err
    assert any(word in run.out for word in FIELD) and "Tull, J" in run.out


def test_more_topics_than_documents_are_remarked_on(topoi, papers: Path, tmp_path: Path) -> None:
    run = topoi("fit", papers, "-o", tmp_path / "m.topoi", "--topics", "49", "-i", "2")
    assert run.code == 0 and "49 topics for 48 documents: most will stay empty" in run.err


def test_quiet_prints_nothing(topoi, papers: Path, tmp_path: Path) -> None:
    run = topoi("fit", papers, "-o", tmp_path / "m.topoi", *FIT)
    assert (run.code, run.out, run.err) == (0, "", "")


def test_json_is_all_that_is_on_standard_output(topoi, papers: Path, tmp_path: Path) -> None:
    run = topoi("fit", papers, "-o", tmp_path / "m.topoi", *FIT[:-1], "--json")
    assert sorted(row["topic"] for row in json.loads(run.out)) == [0, 1, 2]


def test_same_seed_same_topics_on_any_number_of_threads(topoi, papers: Path, tmp_path: Path) -> None:
    def fitted(name: str, *options: object) -> str:
        return topoi(
            "fit", papers, "-o", tmp_path / name, "-k", 3, "-i", 20, "-q", "--csv", "--shards", 2, *options
        ).out

    one = fitted("a.topoi", "--jobs", 1, "--seed", 3)
    assert one == fitted("b.topoi", "--jobs", 2, "--seed", 3)
    assert one != fitted("c.topoi", "--jobs", 1, "--seed", 4)


def test_refuses_to_overwrite_before_any_work(topoi, papers: Path, model_file: Path, monkeypatch) -> None:
    monkeypatch.setattr(library, "read_corpus", must_not_read)
    run = topoi("fit", papers, "-o", model_file)
    assert run.code == 1
    assert "--force" in run.err and "--name" in run.err


def test_force_replaces(topoi, papers: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.topoi"
    path.write_text("something else")
    assert topoi("fit", papers, "-o", path, *FIT, "--force").code == 0
    assert library.load(path).n_topics == 3
    assert list(tmp_path.iterdir()) == [path]


def test_a_second_model_goes_beside_the_first(topoi, papers: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.topoi"
    assert topoi("fit", papers, "-o", path, *FIT, "--name", "three").code == 0
    run = topoi("fit", papers, "-o", path, *FIT[2:-1], "-k", 2, "-m", "lda", "--name", "two", "--json")
    assert run.code == 0
    assert f"saved 'two' in {path}" in run.err and sorted(row["topic"] for row in json.loads(run.out)) == [0, 1]
    assert library.open_store(path).models()["name"].tolist() == ["three", "two"]
    assert library.load(path, "three").n_topics == 3


def test_aspects_are_fitted_and_asked(topoi, papers: Path, tmp_path: Path) -> None:
    path = tmp_path / "aspects.topoi"
    given = "--aspects", 3, "--inference", "vb", "--learning", "bound", "--chains", 2, "-i", 15, "--min-df", 1
    run = topoi("fit", papers, "-o", path, "--model", "aspect", *given, "--json")
    assert run.code == 0, run.err
    assert "EM steps" in run.err and "lower bound" in run.err
    assert sorted(row["topic"] for row in json.loads(run.out)) == [0, 1, 2]
    assert topoi("topics", path, "--json").code == 0


def test_pachinko_is_fitted_and_asked(topoi, papers: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.topoi"
    given = "--super", 2, "--sub", 3, "--iterations", 20, "--min-df", 1, "--max-df", "1.0"
    run = topoi("fit", papers, "-o", path, "--model", "pachinko", *given, "--json")
    assert run.code == 0, run.err
    assert sorted(row["topic"] for row in json.loads(run.out)) == [0, 1, 2]
    model = library.load(path)
    assert (model.n_super, model.n_sub, model.learn_alpha) == (2, 3, "moments")
    word = str(model.vocabulary_.words[0])
    for verb in (["topics"], ["trends"], ["documents", "--topic", 1], ["words", word], ["models"], ["align", path]):
        run = topoi(verb[0], path, *verb[1:], "--json")
        assert run.code == 0, (verb, run.err)
        assert json.loads(run.out)
    run = topoi("label", path, word)
    assert run.code == 0 and word in run.out


def test_a_model_is_replaced_only_by_force(topoi, papers: Path, tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "m.topoi"
    for name in ("first", "second"):
        assert topoi("fit", papers, "-o", path, *FIT, "--name", name).code == 0
    assert topoi("fit", papers, "-o", path, *FIT, "-k", 2, "--name", "first", "--force").code == 0
    assert library.open_store(path).models()[["name", "n_topics"]].values.tolist() == [["second", 3], ["first", 2]]
    monkeypatch.setattr(library, "read_corpus", must_not_read)
    run = topoi("fit", papers, "-o", path, *FIT, "--name", "first")
    assert (run.code, run.err.count("\n")) == (1, 1)
    assert "has a model 'first' already" in run.err and "--force" in run.err


def test_another_collection_is_refused_before_sampling(topoi, papers: Path, tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "m.topoi"
    assert topoi("fit", papers, "-o", path, *FIT, "--name", "first").code == 0
    before = path.read_bytes()
    monkeypatch.setattr(library.AuthorTopicModel, "fit", lambda *_: pytest.fail("sampled in vain"))
    for options in (["--max-words", 5], ["--max-words", 5, "--force"]):
        run = topoi("fit", papers, "-o", path, *FIT, *options, "--name", "second")
        assert (run.code, run.err.count("\n")) == (1, 1)
        assert "holds another corpus (48 documents, 1,440 words of text" in run.err
    assert path.read_bytes() == before


def test_a_model_is_not_added_to_what_is_no_store(topoi, papers: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(library, "read_corpus", must_not_read)
    path = tmp_path / "letter.topoi"
    path.write_text("Dear reader,\n" * 100)
    for options in ([], ["--force"]):
        run = topoi("fit", papers, "-o", path, "--name", "first", *options)
        assert run.code == 1 and "not a topoi store" in run.err
    assert topoi("fit", papers, "-o", tmp_path, "--name", "first").code == 1
    assert topoi("fit", papers, "-o", tmp_path / "absent" / "m.topoi", "--name", "first").code == 1


@pytest.mark.parametrize("name", ["", " ", "two\nlines", "n" * 201])
def test_a_name_that_cannot_be_saved_is_wrong_usage(topoi, papers: Path, tmp_path: Path, monkeypatch, name) -> None:
    monkeypatch.setattr(library, "read_corpus", must_not_read)
    assert topoi("fit", papers, "-o", tmp_path / "m.topoi", "--name", name).code == 2


def test_the_longest_name_is_that_of_the_store(tmp_path: Path) -> None:
    model = library.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]])
    model.save(tmp_path / "m.topoi", name="n" * 200)
    with pytest.raises(StoreError, match="printable characters"):
        model.save(tmp_path / "m.topoi", name="n" * 201)


def test_refuses_a_folder_that_does_not_exist(topoi, papers: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(library, "read_corpus", must_not_read)
    run = topoi("fit", papers, "-o", tmp_path / "absent" / "m.topoi")
    assert run.code == 1
    assert "no folder" in run.err


def test_interrupted_fit_is_saved_and_exits_130(topoi, papers: Path, tmp_path: Path, monkeypatch) -> None:
    complete = library.AuthorTopicModel.fit

    def interrupted(self, corpus):
        complete(self, corpus).fit_info_["interrupted"] = True
        return self

    monkeypatch.setattr(library.AuthorTopicModel, "fit", interrupted)
    run = topoi("fit", papers, "-o", tmp_path / "m.topoi", *FIT[:-1])
    assert run.code == 130
    assert "interrupted" in run.err
    assert library.load(tmp_path / "m.topoi").n_topics == 3


def test_missing_source(topoi, tmp_path: Path) -> None:
    run = topoi("fit", tmp_path / "absent.jsonl", "-o", tmp_path / "m.topoi")
    assert run.code == 1
    assert run.err == f"topoi: no such file: {tmp_path / 'absent.jsonl'}\n"


def test_bad_line_is_named_or_skipped(topoi, papers: Path, tmp_path: Path) -> None:
    source = tmp_path / "broken.jsonl"
    source.write_text(papers.read_text() + "{broken\n")
    run = topoi("fit", source, "-o", tmp_path / "m.topoi", *FIT)
    assert run.code == 1
    assert "line 49" in run.err and run.err.count("\n") == 1
    assert topoi("fit", source, "-o", tmp_path / "m.topoi", *FIT, "--on-error", "skip").code == 0


@pytest.mark.parametrize(
    "options",
    [
        ["--model", "lda", "--fictitious-authors"],
        ["--model", "author", "--fictitious-authors"],
        ["--sparse"],
        ["--model", "author", "--sparse"],
        ["--model", "aspect", "--sparse"],
        ["--model", "author", "--topics", "5"],
        ["--model", "author", "--alpha", "0.1"],
        ["--model", "author", "--learn-alpha"],
        ["--model", "author", "--learn-beta"],
        ["--model", "lda", "--aspects", "5"],
        ["--model", "author-topic", "--inference", "vb"],
        ["--model", "aspect", "--topics", "5"],
        ["--model", "pachinko", "--topics", "5"],
        ["--model", "pachinko", "--learn-alpha"],
        ["--model", "pachinko", "--learn-beta"],
        ["--model", "pachinko", "--fictitious-authors"],
        ["--model", "lda", "--super", "5"],
        ["--model", "author", "--sub", "5"],
        ["--sub", "5"],
        ["--model", "nonsense"],
        ["--shards", "many"],
        ["--min-df", "some"],
        ["--max-df", "1.5"],
        ["--json", "--csv"],
    ],
)
def test_options_that_do_not_apply_are_wrong_usage(topoi, papers: Path, tmp_path: Path, options: list[str]) -> None:
    run = topoi("fit", papers, "-o", tmp_path / "m.topoi", *options)
    assert run.code == 2
    assert not (tmp_path / "m.topoi").exists()


@pytest.mark.parametrize("family", [["lda", "-k", 3], ["pachinko", "--super", 2, "--sub", 3]])
def test_sparse(topoi, papers: Path, tmp_path: Path, family: list[Any]) -> None:
    path = tmp_path / "m.topoi"
    assert topoi("fit", papers, "--model", *family, "-i", 6, "--sparse", "-o", path).code == 0
    model = library.load(path)
    assert model.sparse is True and model.fit_info_["exact"] is False


def test_author_model(topoi, papers: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.topoi"
    run = topoi("fit", papers, "--model", "author", "-i", 5, "-o", path)
    assert run.code == 0
    assert "Tull, J  12 documents, 360 words" in run.out and f"next: topoi authors {path}" in run.err
    assert set(library.load(path).authors_) == {"Drake, F", "Cook, J", "Tull, J", "Coke, E"}


def test_documents_without_authors_are_noted_in_one_line(topoi, papers: Path, tmp_path: Path) -> None:
    source = tmp_path / "some.jsonl"
    source.write_text(papers.read_text() + json.dumps({"text": "ship harbor sail"}) + "\n")
    run = topoi("fit", source, "-o", tmp_path / "m.topoi", *FIT)
    assert run.code == 0
    assert run.err.startswith("topoi: note: 1 of 49 documents have no authors") and run.err.count("\n") == 1


def test_every_option_reaches_the_library(topoi, papers: Path, tmp_path: Path) -> None:
    table = tmp_path / "papers.csv"
    with table.open("w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(["key", "name", "abstract", "writer", "venue", "published"])
        for line in papers.read_text().splitlines():
            paper = json.loads(line)
            row = [paper["id"], paper["title"], paper["text"], paper["authors"][0], "Annals", paper["year"]]
            writer.writerow(row)
    stop = tmp_path / "stop.txt"
    stop.write_text("wheat\nbarn seed\n")
    run = topoi(
        "fit", table, "-o", tmp_path / "m.topoi", "-q", "--csv", "-k", 2, "-i", 5, "--chains", 2, "-j", 1,
        "--shards", 2, "--alpha", 0.5, "--beta", 0.1, "--learn-alpha", "--learn-beta", "--fictitious-authors",
        "--seed", 7, "--checkpoint", tmp_path / "m.checkpoint", "--text", "name,abstract", "--authors", "writer,venue",
        "--date", "published", "--title", "name", "--id", "key", "--min-df", 1, "--max-df", 0.9, "--max-words", 20,
        "--stop-words", stop, "--phrases",
    )  # fmt: skip
    assert run.code == 0, run.err
    assert len(list(csv.DictReader(io.StringIO(run.out)))) == 2
    model = library.load(tmp_path / "m.topoi")
    assert (model.n_topics, model.n_iter, model.n_chains, model.random_state) == (2, 5, 2, 7)
    assert "venue: Annals" in set(model.authors_)
    assert len(model.vocabulary_) <= 20
    assert {"wheat", "barn", "seed"}.isdisjoint(model.vocabulary_)


@pytest.mark.parametrize(
    "family", [["lda", "-k", 3], ["aspect", "--aspects", 3], ["kernel", "-k", 3, "--features", "year", "--warmup", 3]]
)
def test_checkpoint_is_continued(topoi, papers: Path, tmp_path: Path, family: list[Any]) -> None:
    kept = ["--checkpoint", tmp_path / "c"]
    for name, n_iter, more in (("half", 5, kept), ("grown", 9, kept), ("whole", 9, [])):
        run = topoi("fit", papers, "-m", *family, "-i", n_iter, "-j", 1, *more, "-o", tmp_path / f"{name}.topoi")
        assert run.code == 0, run.err
    half, grown, whole = (library.load(tmp_path / f"{name}.topoi").topic_word_ for name in ("half", "grown", "whole"))
    assert (grown == whole).all() and not (half == whole).all()
    assert topoi("fit", papers, "-m", *family, "-i", 3, *kept, "-o", tmp_path / "less.topoi").code == 1


def test_stop_words(tmp_path: Path) -> None:
    assert stop_word_list("english") == "english"
    assert stop_word_list("none") is None
    with pytest.raises(CorpusError, match="no such file; give a file, english or none"):
        stop_word_list(str(tmp_path / "absent.txt"))


def test_numbers_on_the_command_line() -> None:
    assert fit_options.count_or_share("1") == 1 and isinstance(fit_options.count_or_share("1"), int)
    assert isinstance(fit_options.count_or_share("1.0"), float)


def test_default_output_is_here() -> None:
    assert default_output(Path("/data/papers.jsonl.gz")) == Path("papers.topoi")
    assert default_output(Path("/data/letters/")) == Path("letters.topoi")


def test_function_words_are_kept_for_authors_unless_there_is_a_stop_list(topoi, tmp_path: Path) -> None:
    lines = [
        {"text": f"The {noun} and the sea, upon a ship", "authors": ["Ann"]} for noun in ("whale", "whale", "gull")
    ]
    source = tmp_path / "few.jsonl"
    source.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")

    def words(*options: str) -> set[str]:
        run = topoi("fit", source, "-o", tmp_path / "few.topoi", "--force", "-i", 2, "-q", *options)
        assert run.code == 0, run.err
        return set(library.load(tmp_path / "few.topoi").vocabulary_.words)

    assert {"the", "a", "upon"} <= words("--model", "author")
    assert "the" not in words("--model", "author", "--stop-words", "english", "--max-df", "1.0")
    assert "the" not in words("--model", "author", "--no-function-words", "--max-df", "1.0")
    assert {"the", "a"} <= words("--model", "lda", "-k", "2", "--function-words")
    run = topoi("fit", source, "--function-words", "--stop-words", "english", "-o", tmp_path / "no.topoi")
    assert run.code == 2 and "--function-words" in run.err


def test_settings_of_the_aspect_model(topoi, papers: Path, tmp_path: Path) -> None:
    given = ["fit", papers, "--model", "aspect", "--aspects", 3, "--min-df", 1, "-o"]
    assert topoi(*given, tmp_path / "a.topoi").code == 0
    assert topoi(*given, tmp_path / "b.topoi", "--learn-alpha", "--alpha", 1, "--beta", 0).code == 0
    first, paper = (library.load(tmp_path / f"{name}.topoi") for name in "ab")
    assert (first.alpha, first.learn_alpha, first.smoothing, first.n_iter, first.tol) == (None, False, 0.05, 1000, 1e-3)
    assert (paper.alpha, paper.learn_alpha, paper.smoothing) == (1.0, True, 0.0)


def test_fits_with_seeds_bans_and_labels(topoi, papers: Path, tmp_path: Path) -> None:
    seeds, ban = tmp_path / "seeds.json", tmp_path / "ban.json"
    seeds.write_text(json.dumps({"ships": SEA[:2]}))
    ban.write_text(json.dumps({"1": SEA[:1]}))
    out = tmp_path / "m.topoi"
    run = topoi("fit", papers, "-o", out, *FIT, "--seeds", seeds, "--seed-strength", 5, "--ban", ban)
    assert run.code == 0, run.err
    model = library.load(out)
    assert model.topic_labels()[0] == "ships"
    assert set(model.top_words(3, topic=0)["word"]) <= set(SEA)
    assert model.topic_word_[1, model.vocabulary_.index(SEA[0])] == 0


def test_pachinko_takes_labels_of_documents(topoi, tmp_path: Path) -> None:
    lines = [{"id": f"d{d}", "text": "ship sail tide " * 4, "kind": ["sea", "land"][d % 2]} for d in range(10)]
    source, out = tmp_path / "a.jsonl", tmp_path / "m.topoi"
    source.write_text("\n".join(map(json.dumps, lines)))
    given = ["--model", "pachinko", "--super", 2, "--sub", 3, "--doc-labels", "kind", "--iterations", 5, "--quiet"]
    run = topoi("fit", source, "-o", out, *given, "--min-df", 1, "--max-df", 1.0)
    assert run.code == 0, run.err
    found = library.load(out)
    assert found.topic_labels()[:2] == ["sea", "land"]
    assert not found.doc_topic_[::2, 1].any() and not found.doc_topic_[1::2, 0].any()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "no mapping"),
        ("{", "seeds.json: it is not JSON"),
        ("[]", "seeds.json: it has no mapping"),
        ('{"x": ["sea"], "x": ["ship"]}', "seeds.json: 'x' is there twice"),
        ('{"x": ["nosuchword"]}', "none of the seeds"),
        (None, "cannot be read"),
    ],
)
def test_bad_seeds_are_said_in_one_line(topoi, papers: Path, tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "seeds.json"
    if text is not None:
        path.write_text(text)
    run = topoi("fit", papers, "-o", tmp_path / "m.topoi", *FIT, "--seeds", path)
    assert run.code != 0 and message in " ".join(run.err.split()) and "Traceback" not in run.err
    assert not (tmp_path / "m.topoi").exists()
