"""``topoi import`` and the formats of ``topoi export``."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import topoi as package
from cli.conftest import Run

MALLET = Path(__file__).parents[1] / "exchange" / "mallet"
STATE, NAMES = MALLET / "state.gz", MALLET / "doc-topics.txt"


@pytest.fixture
def imported(topoi: Callable[..., Run], tmp_path: Path) -> Path:
    path = tmp_path / "papers.topoi"
    told = topoi("import", STATE, "--doc-topics", NAMES, "-o", path, "-q")
    assert (told.code, told.out, told.err) == (0, "", "")
    return path


def test_imported_state_is_summed_up_and_answers(topoi: Callable[..., Run], tmp_path: Path) -> None:
    path = tmp_path / "papers.topoi"
    told = topoi("import", STATE, "--doc-topics", NAMES, "-o", path)
    assert told.code == 0 and told.out == ""
    assert "60 documents, 1,313 tokens of 30 words" in told.err and "log joint -3.11936 per token" in told.err
    assert "next: topoi browse" in told.err
    topics = json.loads(topoi("topics", path, "--json").out)
    assert {"wheat", "barn"} <= set(next(row for row in topics if row["topic"] == 0)["words"][:3])
    shares = {row["topic"]: row["share"] for row in json.loads(topoi("documents", path, "paper-7", "--json").out)}
    expected = package.exchange.read_mallet_doc_topics(NAMES).loc["paper-7"]
    assert [shares[k] for k in range(4)] == pytest.approx(expected.tolist(), rel=1e-6)


def test_import_is_named_after_the_state(
    topoi: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert topoi("import", STATE).code == 0 and (tmp_path / "state.topoi").exists()
    again = topoi("import", STATE)
    assert again.code == 1 and "state.topoi exists" in again.err
    assert topoi("import", STATE, "--force").code == 0


def test_import_adds_a_model_under_its_name(topoi: Callable[..., Run], imported: Path) -> None:
    assert topoi("import", STATE, "--doc-topics", NAMES, "-o", imported, "--name", "again", "-q").code == 0
    assert package.open_store(imported).models()["name"].tolist() == ["LDA", "again"]
    refused = topoi("import", STATE, "--doc-topics", NAMES, "-o", imported, "--name", "again")
    assert refused.code == 1 and "has a model 'again' already" in refused.err


def test_wrong_state_is_one_line_with_its_place(topoi: Callable[..., Run], tmp_path: Path) -> None:
    lines = gzip.decompress(STATE.read_bytes()).decode().splitlines()
    lines[9] = lines[9][:-1] + "9"
    (tmp_path / "state").write_text("\n".join(lines), encoding="utf-8")
    told = topoi("import", tmp_path / "state", "-o", tmp_path / "x.topoi")
    assert told.code == 1 and "state, line 10: topic '9' is not one of 0 to 3" in told.err
    assert topoi("import", tmp_path / "none", "-o", tmp_path / "x.topoi").code == 1
    assert not (tmp_path / "x.topoi").exists()


def test_mallet_comes_out_as_it_went_in(topoi: Callable[..., Run], tmp_path: Path) -> None:
    topoi("import", STATE, "-o", tmp_path / "papers.topoi", "-q")
    told = topoi("export", tmp_path / "papers.topoi", "--format", "mallet", "-o", tmp_path / "out")
    assert told.code == 0 and "wrote 3 files" in told.err
    assert gzip.decompress((tmp_path / "out" / "state.gz").read_bytes()) == gzip.decompress(STATE.read_bytes())
    shares = package.exchange.read_mallet_doc_topics(tmp_path / "out" / "doc-topics.txt")
    np.testing.assert_allclose(shares, package.exchange.read_mallet_doc_topics(NAMES), rtol=1e-6)
    assert len(package.exchange.read_mallet_keys(tmp_path / "out" / "keys.txt")) == 4


@pytest.mark.parametrize("form", ["mallet", "gensim", "parquet"])
def test_folders_are_replaced_only_by_force(form: str, topoi: Callable[..., Run], imported: Path) -> None:
    target = imported.parent / "out"
    told = topoi("export", imported, target, "--format", form, "-q")
    assert (told.code, told.out, told.err) == (0, "", "")
    before = {path.name: path.read_bytes() for path in target.iterdir()}
    again = topoi("export", imported, target, "--format", form)
    assert again.code == 1 and "holds an earlier export" in again.err
    assert topoi("export", imported, target, "--format", form, "--force", "-q").code == 0
    assert {path.name: path.read_bytes() for path in target.iterdir()}.keys() == before.keys()
    (target / "mine.txt").write_text("mine")
    assert topoi("export", imported, target, "--format", form, "--force").code == 1
    assert (target / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("ending", [".json", ".npz"])
@pytest.mark.parametrize("form", ["pyldavis", "octis"])
def test_matrices_are_written_as_json_and_as_arrays(
    form: str, ending: str, topoi: Callable[..., Run], imported: Path
) -> None:
    target = imported.with_name(f"out{ending}")
    assert topoi("export", imported, "--format", form, "-o", target, "-q").code == 0
    found = json.loads(target.read_text(encoding="utf-8")) if ending == ".json" else dict(np.load(target))
    view = package.view(imported)
    expected = package.exchange.to_pyldavis(view) if form == "pyldavis" else package.exchange.to_octis(view)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if name == "topics":
            assert [[word for word in row if word] for row in found[name]] == value
        elif name == "vocab":
            assert list(found[name]) == value
        else:
            np.testing.assert_array_equal(np.asarray(found[name]), np.asarray(value))
    assert topoi("export", imported, "--format", form, "-o", target).code == 1
    assert topoi("export", imported, "--format", form, "-o", target, "--force").code == 0
    wrong = topoi("export", imported, "--format", form, "-o", imported.with_name("out.txt"))
    assert wrong.code == 1 and "neither .json nor .npz" in wrong.err


def test_parquet_has_all_models_and_others_the_one_that_is_named(
    topoi: Callable[..., Run], lda_file: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copy(lda_file, tmp_path / "two.topoi"))
    package.load(path).save(path, name="second")
    assert topoi("export", path, "--format", "parquet", "-o", tmp_path / "tables", "-q").code == 0
    assert pd.read_parquet(tmp_path / "tables" / "model.parquet")["name"].tolist() == ["LDA", "second"]
    assert topoi("export", path, "--format", "mallet", "--name", "second", "-o", tmp_path / "one", "-q").code == 0
    missing = topoi("export", path, "--format", "mallet", "--name", "third", "-o", tmp_path / "none")
    assert missing.code == 1 and "no model 'third'" in missing.err


def test_options_that_do_not_go_together_are_wrong_usage(topoi: Callable[..., Run], lda_file: Path) -> None:
    for options, message in [
        ([], "name the folder or file"),
        (["here", "-o", "there"], "not both"),
        (["here", "--format", "octis", "--documents", "3"], "--documents is about pages"),
        (["here", "--format", "octis", "--gzip"], "--gzip is about pages"),
        (["here", "--format", "parquet", "--name", "LDA"], "leave out --name"),
        (["here", "--format", "gensim", "--name", "a", "--name", "b"], "give one --name"),
        (["here", "--format", "excel"], "excel"),
    ]:
        told = topoi("export", lda_file, *options)
        assert told.code == 2 and message in " ".join(told.err.split()), (options, told.err)


def test_models_without_topics_have_words_but_no_state(
    topoi: Callable[..., Run], author_file: Path, tmp_path: Path
) -> None:
    assert topoi("export", author_file, "--format", "gensim", "-o", tmp_path / "words", "-q").code == 0
    told = topoi("export", author_file, "--format", "mallet", "-o", tmp_path / "state")
    assert told.code == 1 and "has no topics" in told.err and not (tmp_path / "state").exists()


def test_models_whose_words_have_no_topics_get_tables_only(
    topoi: Callable[..., Run], papers: Path, tmp_path: Path
) -> None:
    path = tmp_path / "aspects.topoi"
    assert topoi("fit", papers, "--model", "plsi", "-k", "3", "-i", "3", "-q", "-o", path).code == 0
    assert topoi("export", path, "--format", "mallet", "-o", tmp_path / "out").code == 0
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == ["doc-topics.txt", "keys.txt"]


def test_pages_are_what_is_written_without_a_format(topoi: Callable[..., Run], lda_file: Path, tmp_path: Path) -> None:
    few = ["--authors", "1", "--documents", "1", "-q"]
    assert topoi("export", lda_file, tmp_path / "a", *few).code == 0
    assert topoi("export", lda_file, "-o", tmp_path / "b", "--format", "html", *few).code == 0
    names = [sorted(p.relative_to(folder) for p in folder.rglob("*")) for folder in (tmp_path / "a", tmp_path / "b")]
    assert names[0] == names[1] and (tmp_path / "a" / "index.html").exists()
