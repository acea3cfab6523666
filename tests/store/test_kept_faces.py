"""Hues and places of topics after an edit: as before, but for what is new."""

from __future__ import annotations

import numpy as np
import pytest

import topoi
from topoi.store.faces import with_faces_of
from topoi.store.save import model_entry

FACES = "SELECT topic, hue, x, y FROM topic WHERE model_id = ? ORDER BY topic"


@pytest.fixture
def store(tmp_path):
    chance = np.random.default_rng(0)
    words = [f"{letter}{i}" for letter in "abcdef" for i in range(8)]
    documents = [[words[8 * (d % 6) + i] for i in chance.integers(0, 8, 30)] for d in range(60)]
    path = tmp_path / "small.topoi"
    topoi.LDA(6, n_iter=30, alpha=0.1, random_state=0).fit(documents).save(path, name="six")
    return topoi.open_store(path)


@pytest.mark.parametrize("kind", ["merge", "split"])
def test_hues_and_places_stay(store, kind):
    editor = topoi.edit(topoi.load(store))
    model = (editor.merge(0, 1) if kind == "merge" else editor.split(0)).commit(n_iter=2)
    with store.connection() as connection:
        (model_id,) = connection.execute("SELECT model_id FROM model").fetchone()
        before = connection.execute(FACES, (model_id,)).fetchall()
        bare = model_entry(model, "six", texts=True)
        entry = with_faces_of(connection, model_id, bare)
    topics = entry.tables["topic"]
    assert topics["hue"][:6].tolist() == [row[1] for row in before]
    assert len(set(topics["hue"][:6].tolist()) & set(topics["hue"][6:].tolist())) == 0
    places = np.array([topics["x"], topics["y"]]).T
    then = np.array([row[2:] for row in before])
    assert places.shape == (model.n_topics, 2) and places.min() >= 0 and places.max() <= 1
    # Circles that have grown push others aside a little.
    assert np.linalg.norm(places[2:6] - then[2:6], axis=1).max() < 0.1
    assert topics["words"] == bare.tables["topic"]["words"]


def test_a_model_without_rows_before_is_left_alone(store):
    with store.connection() as connection:
        entry = model_entry(topoi.load(store), "six", texts=True)
        assert with_faces_of(connection, 99, entry) is entry
