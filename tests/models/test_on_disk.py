"""Fits to a corpus on disk: the bits of those in memory, with every array of the corpus's size in a file."""

from __future__ import annotations

import numpy as np
import pytest

import topoi
from topoi.corpus.mapped import is_mapped
from topoi.engine.checkpoint import read_bundle


def records(n: int = 120) -> list[dict]:
    """Documents of two subjects with one to three authors, some with none, and a year."""
    rng = np.random.default_rng(0)
    found = []
    for d in range(n):
        words = [f"w{w}" for w in rng.integers(0, 40, int(rng.integers(1, 60))) // (1 + d % 2)]
        names = [f"author {a}" for a in rng.choice(12, d % 4, replace=False)]
        found.append({"text": " ".join(words), "authors": names, "year": 1990 + d % 20, "venue": "xyz"[d % 3]})
    return found


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> tuple[topoi.Corpus, topoi.Corpus]:
    """The same documents on disk and in memory."""
    folder = tmp_path_factory.mktemp("disk") / "it.corpus"
    return topoi.read_corpus(records(), on_disk=folder), topoi.read_corpus(records())


common = {"n_iter": 24, "n_shards": 3, "random_state": 7, "evaluate_every": 3, "n_chains": 2, "progress": False}
MODELS = {
    "lda": lambda: topoi.LDA(6, learn_alpha=True, learn_beta=True, **common),
    "author-topic": lambda: topoi.AuthorTopicModel(6, learn_alpha=True, fictitious_authors=True, **common),
    "authors, many topics": lambda: topoi.AuthorTopicModel(150, fictitious_authors=True, **common),
    "dmr": lambda: topoi.DirichletMultinomialRegression(4, features=["venue"], n_warmup=5, **common),
    "pachinko": lambda: topoi.PachinkoAllocation(3, 5, **common),
    "sparse": lambda: topoi.LDA(6, sparse=True, **common),
}


def arrays_of(model: object) -> list[np.ndarray]:
    """Every array with a number for each token that a fitted model keeps."""
    found = []
    for chain, frozen in zip(model._chains, model.chains_, strict=True):
        samples = [*chain.samples.values(), *frozen.averaged.samples, frozen.assignments._asdict()]
        found += [values for sample in samples for values in sample.values()]
    return found


@pytest.mark.parametrize("name", MODELS)
def test_same_bits(both, tmp_path, name):
    """Traces, counts, samples, mixtures, checkpoints, resumed and saved models."""
    models = []
    for number, corpus in enumerate(both):
        model = MODELS[name]()
        model.set_params(checkpoint=tmp_path / f"{number}.checkpoint", checkpoint_every=10)
        model.fit(corpus).resume(6)
        models.append(model)
    stored, expected = models
    assert stored.trace_.equals(expected.trace_)
    np.testing.assert_array_equal(stored.topic_word_, expected.topic_word_)
    np.testing.assert_array_equal(stored.doc_topic_, expected.doc_topic_)
    for one, other in zip(arrays_of(stored), arrays_of(expected), strict=True):
        np.testing.assert_array_equal(one, other)
    assert all(map(is_mapped, arrays_of(stored))) and not any(map(is_mapped, arrays_of(expected)))
    written = [read_bundle(tmp_path / f"{number}.checkpoint", "checkpoint").arrays for number in range(2)]
    assert written[0].keys() == written[1].keys()
    for array in written[0]:
        np.testing.assert_array_equal(written[0][array], written[1][array], err_msg=array)
    again = MODELS[name]().set_params(checkpoint=tmp_path / "1.checkpoint").fit(both[0])
    np.testing.assert_array_equal(again.resume(6).topic_word_, expected.topic_word_)
    stored.save(tmp_path / "stored.topoi")
    loaded = topoi.load(tmp_path / "stored.topoi")
    np.testing.assert_array_equal(loaded.topic_word_, expected.topic_word_)
    assert loaded.corpus_.fingerprint() == both[1].fingerprint()
    assert sorted(each.suffix for each in tmp_path.iterdir()) == [".checkpoint", ".checkpoint", ".topoi"]


def test_a_part_is_fitted_alike(both):
    """A split of a corpus on disk is on disk, and is fitted as that of one in memory."""
    train = [corpus.split(0.2, random_state=1)[0] for corpus in both]
    models = [topoi.LDA(4, n_iter=6, n_shards=2, random_state=0, progress=False).fit(corpus) for corpus in train]
    np.testing.assert_array_equal(models[0].topic_word_, models[1].topic_word_)
    assert all(map(is_mapped, arrays_of(models[0])))
