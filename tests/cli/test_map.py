"""``topoi map``: places of documents, computed once."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from topoi.store.view import view


@pytest.fixture
def unplaced(lda_file: Path, tmp_path: Path) -> Path:
    path = Path(shutil.copy(lda_file, tmp_path / "copy.topoi"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM document_place")
        connection.commit()
    return path


def test_places_are_computed_and_kept(topoi, unplaced: Path, lda_file: Path) -> None:
    run = topoi("map", unplaced)
    assert (run.code, run.err) == (0, "") and run.out.startswith("48 documents on the map")
    found = view(unplaced).document_places()
    assert found is not None and found.tolist() == view(lda_file).document_places().tolist()
    rows = list(csv.DictReader(io.StringIO(topoi("map", unplaced, "--csv").out)))
    assert len(rows) == 48 and rows[3]["id"] == "p3" and float(rows[3]["x"]) == pytest.approx(found[3, 0])
    assert json.loads(topoi("map", unplaced, "--json", "--jobs", "1").out)[0]["title"] == "Paper 0"


def test_places_that_are_there_stay_unless_asked(topoi, unplaced: Path) -> None:
    topoi("map", unplaced)
    with closing(sqlite3.connect(unplaced)) as connection:
        connection.execute("UPDATE document_place SET x = 0.125 WHERE document_id = 0")
        connection.commit()
    topoi("map", unplaced)
    assert view(unplaced).document_places()[0, 0] == 0.125
    topoi("map", unplaced, "--anew", "-q")
    assert view(unplaced).document_places()[0, 0] != 0.125


def test_a_model_without_topics_has_no_map(topoi, author_file: Path) -> None:
    run = topoi("map", author_file)
    assert run.code == 1 and "topics" in run.err
