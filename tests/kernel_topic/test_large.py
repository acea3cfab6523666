"""Kernel topic models solved by iterations, as people use them: the same answers as the exact solver's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import topoi
from kernel_topic.planted import N_TOPICS, planted
from topoi.errors import ModelError
from topoi.models.kernel_topic import solvers

CORPUS, _ = planted(160, seed=0)
FEW = CORPUS.subset(range(60))
NEW = {"year": [1933, None, 2050], "authors": [["Ann"], ["Zoe", "Bob"], []]}
SETTINGS = dict(features=["year", "authors"], n_iter=30, n_warmup=20, random_state=0, learn_from="expected")


def fitted(corpus: topoi.Corpus, solver: str = "iterative", **settings) -> topoi.KernelTopicModel:
    return topoi.KernelTopicModel(N_TOPICS, solver=solver, **(SETTINGS | settings)).fit(corpus)


@pytest.fixture(scope="module")
def large() -> topoi.KernelTopicModel:
    return fitted(CORPUS)


def shares(model: topoi.KernelTopicModel, **how) -> np.ndarray:
    return model.predict(NEW, **how)[["mean", "lower", "upper"]].to_numpy()


@pytest.mark.parametrize(
    "settings", [{}, dict(features=["year"], kernel=RBF(20.0)), dict(features=["authors"]), dict(learn_from="drawn")]
)
def test_of_few_documents_both_solvers_say_the_same(settings) -> None:
    """So few that one block, and the documents most like any, are all of them: nothing is approximate."""
    one, other = (fitted(FEW, solver, **settings) for solver in ("exact", "iterative"))
    assert other.noise_ == pytest.approx(one.noise_, rel=1e-2)
    assert other._posterior.y == pytest.approx(one._posterior.y, abs=5e-3)
    assert other.doc_topic_ == pytest.approx(one.doc_topic_, abs=1e-3)
    for noise in (False, True):
        assert shares(other, noise=noise) == pytest.approx(shares(one, noise=noise), abs=3e-3)
    test, _ = planted(20, seed=3)
    for given in ("metadata", 10, "words"):
        assert other.perplexity(test, given=given) == pytest.approx(one.perplexity(test, given=given), rel=1e-3)
    assert other.transform(test) == pytest.approx(one.transform(test), abs=1e-3)


def test_with_more_documents_bands_hardly_widen() -> None:
    one, other = (fitted(CORPUS, solver, learn_kernel=False) for solver in ("exact", "iterative"))
    assert other._posterior.y == pytest.approx(one._posterior.y, abs=1e-5)
    assert other._posterior.a == pytest.approx(one._posterior.solution.a, abs=1e-3)
    exact, near = (model._posterior.training()[1] for model in (one, other))
    wider = np.trace(near, axis1=1, axis2=2) / np.trace(exact, axis1=1, axis2=2)
    assert wider.min() > 0.999 and wider.mean() < 1.1
    assert shares(other)[:, 0] == pytest.approx(shares(one)[:, 0], abs=0.01)
    assert shares(other) == pytest.approx(shares(one), abs=0.03)


def test_threads_do_not_change_a_bit(large) -> None:
    three = fitted(CORPUS, n_jobs=3)
    assert (three.topic_word_ == large.topic_word_).all() and (three.doc_topic_ == large.doc_topic_).all()
    assert three.predict(NEW).equals(large.predict(NEW))


def test_saved_and_loaded_it_is_the_same(large, tmp_path) -> None:
    large.save(tmp_path / "k.topoi")
    after = topoi.load(tmp_path / "k.topoi")
    assert after.predict(NEW).equals(large.predict(NEW))
    assert (after.doc_topic_ == large.doc_topic_).all() and after.fit_info_ == large.fit_info_
    assert after.perplexity(CORPUS, given=10) == large.perplexity(CORPUS, given=10)
    again = after.save(tmp_path / "again.topoi") or topoi.load(tmp_path / "again.topoi")
    assert again.predict(NEW).equals(large.predict(NEW))


def test_files_that_do_not_fit_are_refused(large) -> None:
    progress, arrays = large._state()
    meta = {"progress": progress, "fit_info": large.fit_info_}
    for name in ("coordinates", "coordinates_index", "coordinates_start", "a", "doc_topic", "y"):
        with pytest.raises((ModelError, topoi.StoreError)):
            topoi.KernelTopicModel(N_TOPICS, **SETTINGS).restore_bundle(
                CORPUS, meta, arrays | {name: arrays[name][:-1]}
            )
    beyond = arrays["coordinates_index"] + 100
    with pytest.raises(ModelError, match="do not fit their columns"):
        topoi.KernelTopicModel(N_TOPICS, **SETTINGS).restore_bundle(
            CORPUS, meta, arrays | {"coordinates_index": beyond}
        )


def test_it_says_what_it_did(large) -> None:
    info = large.fit_info_
    assert info["solver"] == "iterative" and info["structured"] and info["distinct_values"] <= 100
    assert info["solver_iterations"] > info["newton_steps"] > 0 and info["newton_unfinished"] == 0
    assert fitted(FEW, "exact").fit_info_["solver"] == "exact"


def test_above_a_number_of_documents_it_takes_over_aloud(monkeypatch) -> None:
    monkeypatch.setattr(solvers, "MOST_BY_ITSELF", 50)
    with pytest.warns(UserWarning, match="60 documents: the process is solved by iterations"):
        model = fitted(FEW, "auto", n_iter=4, n_warmup=2)
    assert model.fit_info_["solver"] == "iterative"
    assert fitted(FEW.subset(range(50)), "auto", n_iter=4, n_warmup=2).fit_info_["solver"] == "exact"


def test_a_matrix_and_a_function_are_held_whole(tmp_path) -> None:
    years = FEW.documents["year"].to_numpy(float)[:, None]
    matrix = RBF(20.0)(years)
    by_matrix = fitted(FEW, kernel=matrix, features=None)
    by_function = fitted(FEW, kernel=lambda a, b: RBF(20.0)(a, b), features=["year"])
    assert not by_matrix.fit_info_["structured"]
    cross = RBF(20.0)(np.array([[1933.0], [1950.0]]), years)
    found = by_function.predict({"year": [1933.0, 1950.0]})["mean"].to_numpy()
    assert by_matrix.predict(cross)["mean"].to_numpy() == pytest.approx(found, abs=1e-6)
    by_matrix.save(tmp_path / "m.topoi")
    assert topoi.load(tmp_path / "m.topoi").predict(cross).equals(by_matrix.predict(cross))


def test_what_is_simulated_has_the_fitted_shares(large) -> None:
    again = large.simulate(CORPUS, doc_length=50, random_state=1)
    assert again.n_docs == CORPUS.n_docs and np.abs(again.truth.doc_topic - large.doc_topic_).mean() < 0.2


def test_what_is_too_large_is_refused_before_any_work(monkeypatch) -> None:
    monkeypatch.setattr(solvers, "MOST_EXACT", 50)
    with pytest.raises(ModelError, match='leave solver at "auto"'):
        fitted(FEW, "exact")
    with pytest.raises(ModelError, match="at most 50 documents"):
        fitted(FEW, "auto", inference="bridge")
    with pytest.raises(ModelError, match="solver is 'iterative'"):
        fitted(FEW, "iterative", inference="bridge")
    monkeypatch.setattr(solvers, "MOST_DENSE", 50)
    with pytest.raises(ModelError, match="whole matrix between them"):
        fitted(FEW, kernel=RBF(20.0))
    with pytest.raises(ModelError, match="whole matrix between them"):
        fitted(FEW, kernel=np.eye(60), features=None)
    monkeypatch.setattr(solvers, "MOST_DENSE", 100)
    monkeypatch.setattr(solvers, "_MOST_NUMBERS", 100)
    with pytest.raises(ModelError, match="all 6 coordinates of 60 documents"):
        fitted(FEW, kernel=RBF(20.0))
    with pytest.raises(ModelError, match="solver"):
        fitted(FEW, "quick")
    with pytest.raises(ModelError, match="learn_from"):
        fitted(FEW, learn_from="words")
