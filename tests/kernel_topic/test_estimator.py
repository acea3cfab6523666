"""Kernel topic models as people use them."""

from __future__ import annotations

import signal

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from threadpoolctl import threadpool_info, threadpool_limits

import topoi
from kernel_topic.planted import N_TOPICS, curves, matched, planted, softmax
from topoi.errors import ModelError

CORPUS, SHARES = planted(150, seed=0)
SMALL = dict(n_iter=40, n_warmup=25, random_state=0, features=["year"])


def small(**settings) -> topoi.KernelTopicModel:
    return topoi.KernelTopicModel(N_TOPICS, **(SMALL | settings))


@pytest.fixture(scope="module")
def model() -> topoi.KernelTopicModel:
    return topoi.KernelTopicModel(N_TOPICS, features=["year"], n_iter=100, n_warmup=60, random_state=0).fit(CORPUS)


@pytest.fixture(scope="module")
def plain() -> topoi.KernelTopicModel:
    return small(features=["year", "authors"]).fit(CORPUS)


def test_planted_topics_and_shares_are_recovered(model) -> None:
    at = matched(model)
    assert sorted(at) == list(range(N_TOPICS))
    assert np.abs(model.doc_topic_[:, at] - SHARES).mean() < 0.045
    assert model.doc_topic_.sum(axis=1) == pytest.approx(1.0)
    assert model.topic_word_.sum(axis=1) == pytest.approx(1.0)


def test_smooth_curves_are_recovered(model) -> None:
    years = np.arange(1902, 1998, 4)
    found = model.predict({"year": years}, noise=False)
    mean = found["mean"].to_numpy().reshape(len(years), N_TOPICS)[:, matched(model)]
    assert np.abs(mean - softmax(curves(years))).mean() < 0.035


def test_bands_of_new_documents_are_honest(model) -> None:
    test, shares = planted(400, seed=1)
    found = model.predict(test, level=0.8)
    lower, upper = (found[name].to_numpy().reshape(400, N_TOPICS)[:, matched(model)] for name in ("lower", "upper"))
    inside = ((shares >= lower) & (shares <= upper)).mean()
    assert 0.7 < inside < 0.9


def test_bands_of_the_curve_are_narrower_and_widen_far_away(model) -> None:
    def width(year: float, noise: bool) -> float:
        found = model.predict({"year": [year]}, noise=noise)
        return float((found["upper"] - found["lower"]).mean())

    assert width(1950, False) < 0.6 * width(1950, True)
    assert width(2300, False) > 2 * width(1950, False)
    narrow = model.predict({"year": [1950]}, level=0.3)
    wide = model.predict({"year": [1950]}, level=0.95)
    assert (narrow["lower"] > wide["lower"]).all() and (narrow["upper"] < wide["upper"]).all()
    assert (narrow["mean"] == wide["mean"]).all()


def test_metadata_predict_better_than_nothing_and_words_better_still(model) -> None:
    test, _ = planted(100, seed=2)
    size = np.bincount(CORPUS.tokens, minlength=CORPUS.n_words) + 0.01
    unigram = np.exp(-np.log((size / size.sum())[test.tokens]).mean())
    from_metadata, from_words = model.perplexity(test, given="metadata"), model.perplexity(test, given=100)
    assert from_metadata < 0.95 * unigram
    assert from_words < from_metadata
    assert model.perplexity(test, given=0) == from_metadata
    assert model.perplexity(test, given="words") < from_words
    each = model.perplexity(test, per_document=True)
    assert each == pytest.approx(np.exp(-model.log_likelihood(test) / test.doc_lengths))
    assert model.score(test) == pytest.approx(-np.log(model.perplexity(test)))


def test_given_metadata_it_is_that_of_the_predicted_mixture(model) -> None:
    test, _ = planted(3, seed=3)
    mean = model.predict(test)["mean"].to_numpy().reshape(3, N_TOPICS)
    log_p = np.log(mean @ model.topic_word_)
    by_hand = [log_p[d, test.tokens[test.doc_start[d] : test.doc_start[d + 1]]].sum() for d in range(3)]
    assert model.log_likelihood(test, given="metadata") == pytest.approx(by_hand)


def test_completion_scores_what_is_not_seen(model) -> None:
    test, _ = planted(5, seed=4)
    place = np.arange(test.n_tokens) - np.repeat(test.doc_start[:-1], test.doc_lengths)
    assert model.log_completion(test, place < 50) == pytest.approx(model.log_likelihood(test, given=50))


def test_a_document_of_which_nothing_is_seen_is_predicted_from_its_metadata(model) -> None:
    test, _ = planted(3, seed=4)
    seen = np.arange(test.n_tokens) < 5
    found = model.log_completion(test, seen)
    blind = model.log_likelihood(test, given="metadata")
    assert found[1:] == pytest.approx(blind[1:], rel=1e-12)
    assert found[0] != pytest.approx(blind[0])


def test_transform_follows_words_and_metadata(model) -> None:
    test, shares = planted(50, seed=5)
    found = model.transform(test)[:, matched(model)]
    assert found.sum(axis=1) == pytest.approx(1.0)
    assert np.abs(found - shares).mean() < 0.04
    empty = topoi.Corpus.from_tokens([["w0"], []], dates=[1950, 1950]).subset([1])
    years = {"year": [1950]}
    nothing = model.transform(empty, metadata=years)
    assert nothing[0] == pytest.approx(model.predict(years)["mean"].to_numpy(), abs=0.03)
    long = ["w0 " * 200]
    assert model.transform(long, metadata=years)[0, matched(model)[0]] > 0.8


def test_predict_answers_row_by_row(plain) -> None:
    frame = pd.DataFrame({"year": [1920, 1990], "authors": [["Ann"], ["Nobody"]]})
    found = plain.predict(frame)
    assert list(found.columns) == ["row", "year", "authors", "topic", "mean", "lower", "upper"]
    assert found["year"].tolist() == [1920] * N_TOPICS + [1990] * N_TOPICS
    assert found.groupby("row")["mean"].sum().tolist() == pytest.approx([1.0, 1.0])
    assert ((found["lower"] <= found["mean"]) & (found["mean"] <= found["upper"])).all()
    alone = plain.predict(frame.iloc[1:])
    assert alone["mean"].to_numpy() == pytest.approx(found["mean"].to_numpy()[N_TOPICS:], rel=1e-12)


@pytest.mark.parametrize("inference", ["laplace", "bridge"])
def test_threads_do_not_change_a_bit(inference: str) -> None:
    one, three = (
        small(inference=inference, n_jobs=n, n_iter=30, learn_every=3).fit(CORPUS.subset(range(60))) for n in (1, 3)
    )
    assert (one.topic_word_ == three.topic_word_).all() and (one.doc_topic_ == three.doc_topic_).all()
    years = {"year": [1933, 1987]}
    assert one.predict(years).equals(three.predict(years))
    assert (one.transform(CORPUS.subset(range(5))) == three.transform(CORPUS.subset(range(5)))).all()


@pytest.mark.parametrize("inference", ["laplace", "bridge"])
def test_saved_and_loaded_it_is_the_same(inference: str, tmp_path) -> None:
    corpus = CORPUS.subset(range(60))
    kernel = topoi.Proximity("year") * topoi.On("authors", RBF(1.0))
    before = small(inference=inference, features=["year", "authors"], kernel=kernel).fit(corpus)
    before.save(tmp_path / "k.topoi")
    after = topoi.load(tmp_path / "k.topoi")
    new = {"year": [1933, None], "authors": [["Ann"], ["Zoe"]]}
    assert after.predict(new).equals(before.predict(new))
    assert (after.doc_topic_ == before.doc_topic_).all() and (after.alpha_ == before.alpha_).all()
    assert after.perplexity(corpus, given=10) == before.perplexity(corpus, given=10)
    assert after.fit_info_ == before.fit_info_ and after.trace_.equals(before.trace_)
    assert after.kernel_.theta.tolist() == before.kernel_.theta.tolist()
    assert after.get_params()["features"] == ["year", "authors"] and after.kernel == before.kernel
    after.save(tmp_path / "again.topoi")
    assert topoi.load(tmp_path / "again.topoi").predict(new).equals(before.predict(new))
    again = clone(after).fit(corpus)
    assert (again.doc_topic_ == before.doc_topic_).all()


def test_without_metadata_in_the_file_it_still_predicts(plain, tmp_path) -> None:
    plain.save(tmp_path / "k.topoi", corpus=False)
    new = {"year": [1933], "authors": [["Ann"]]}
    assert topoi.load(tmp_path / "k.topoi").predict(new).equals(plain.predict(new))


def test_a_store_answers_for_it(plain, tmp_path) -> None:
    plain.save(tmp_path / "k.topoi")
    view = topoi.view(tmp_path / "k.topoi")
    assert view.topic_sizes()["n_words"].sum() == CORPUS.n_tokens
    assert view.top_words(1)["word"].tolist() == plain.top_words(1)["word"].tolist()
    assert len(topoi.topic_trends(plain, CORPUS)) > 0
    assert topoi.label_words(plain, "w0 w1 w20").shape[0] == 3


def test_a_matrix_is_a_kernel(tmp_path) -> None:
    years = CORPUS.documents["year"].to_numpy(float)[:, None]
    matrix = RBF(20.0)(years[:100])
    fitted = topoi.KernelTopicModel(N_TOPICS, kernel=matrix, n_iter=40, n_warmup=25, random_state=0)
    fitted.fit(CORPUS.subset(range(100)))
    same = small(kernel=RBF(20.0, "fixed")).fit(CORPUS.subset(range(100)))
    cross = RBF(20.0)(years[100:], years[:100])
    assert fitted.predict(cross)["mean"].to_numpy() == pytest.approx(
        same.predict({"year": years[100:, 0]})["mean"].to_numpy(), abs=1e-6
    )
    rest = CORPUS.subset(range(100, 150))
    assert fitted.perplexity(rest, metadata=cross) == pytest.approx(same.perplexity(rest), rel=1e-6)
    fitted.save(tmp_path / "m.topoi")
    assert topoi.load(tmp_path / "m.topoi").predict(cross).equals(fitted.predict(cross))
    with pytest.raises(ModelError, match="new × training"):
        fitted.predict({"year": [1950]})
    with pytest.raises(ModelError, match="metadata="):
        fitted.transform(rest)


def test_links_are_features() -> None:
    """Two groups that link only within themselves and write about different things; links alone tell them apart."""
    rng = np.random.default_rng(0)
    n = 60
    group = np.arange(n) % 2
    links = [[f"d{j}" for j in rng.choice(np.flatnonzero(group == g), 4)] for g in group]
    words = [[f"{'ab'[g]}{w}" for w in rng.integers(0, 9, 40)] for g in group]
    corpus = topoi.Corpus.from_tokens(words, ids=[f"d{i}" for i in range(n)], metadata={"links": links})
    fitted = topoi.KernelTopicModel(2, features=["links"], n_iter=40, n_warmup=25, random_state=0).fit(corpus)
    found = fitted.predict({"links": [["d0", "d2"], ["d1", "d3"]]})["mean"].to_numpy().reshape(2, 2)
    assert found.max(axis=1).min() > 0.8 and found[0].argmax() != found[1].argmax()


def test_what_was_missing_is_counted() -> None:
    dates = [1950 + i if i % 5 else None for i in range(20)]
    corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]] * 10, dates=dates)
    fitted = topoi.KernelTopicModel(2, features=["year"], n_iter=4, n_warmup=2, random_state=0).fit(corpus)
    assert fitted.fit_info_["missing"] == {"year": 4}
    assert fitted.predict({"year": [None]})["mean"].sum() == pytest.approx(1.0)


def test_empty_documents_are_no_obstacle() -> None:
    whole = topoi.Corpus.from_tokens([["a", "b"], [], ["c", "d"]] * 5, dates=list(range(1990, 2005)))
    for inference in ("laplace", "bridge"):
        fitted = topoi.KernelTopicModel(
            2, features=["year"], inference=inference, n_iter=8, n_warmup=4, random_state=0
        ).fit(whole)
        assert np.isfinite(fitted.doc_topic_).all()
        assert np.isfinite(fitted.perplexity(whole))


def test_a_callback_ends_the_fit() -> None:
    seen = []
    fitted = small().fit(CORPUS, callback=lambda info: seen.append(info.sweep) or info.sweep == 30)
    assert seen == list(range(1, 31)) and fitted.n_iter_ == 30 and not fitted.fit_info_["interrupted"]


def test_small_matrices_are_not_spread_over_threads() -> None:
    seen = []

    def look(info) -> None:
        seen.extend(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas")

    with threadpool_limits(limits=2, user_api="blas"):
        small(n_iter=2, n_warmup=1).fit(CORPUS, callback=look)
    assert seen and set(seen) == {1}


def test_an_interrupted_fit_is_usable() -> None:
    def press(info) -> None:
        if info.sweep == 28:
            signal.raise_signal(signal.SIGINT)

    fitted = small().fit(CORPUS, callback=press)
    assert fitted.n_iter_ == 28 and fitted.fit_info_["interrupted"]
    assert np.isfinite(fitted.perplexity(CORPUS))


def test_fixed_hyper_parameters_stay() -> None:
    fitted = small(learn_kernel=False, noise=[0.1, 0.2, 0.3, 0.4], kernel=RBF(11.0)).fit(CORPUS)
    assert fitted.noise_.tolist() == [0.1, 0.2, 0.3, 0.4]
    assert fitted.amplitude_.tolist() == [1.0] * 4 and fitted.kernel_.length_scale == pytest.approx(11.0)
    assert fitted.fit_info_["evidence_evaluations"] == 0


def test_a_shared_amplitude_is_shared() -> None:
    fitted = small(amplitude="shared").fit(CORPUS)
    assert len(set(fitted.amplitude_)) == 1 and fitted.amplitude_[0] != 1.0
    assert len(set(fitted.noise_)) == N_TOPICS


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(features=None), "features is not given"),
        (dict(features=["colour"]), "no column 'colour'"),
        (dict(inference="mcmc"), "inference"),
        (dict(amplitude="each"), "amplitude"),
        (dict(noise=-1.0), "noise"),
        (dict(noise=[1.0, 2.0]), "n_topics"),
        (dict(beta=0.0), "beta"),
        (dict(damping=0.0), "damping"),
        (dict(n_iter=-1), "n_iter"),
        (dict(process_every=0), "process_every"),
        (dict(learn_kernel="yes"), "learn_kernel"),
        (dict(kernel="rbf"), "pass a kernel"),
        (dict(kernel=np.eye(3)), "needs no features"),
        (dict(kernel=np.eye(3), features=None), "documents × documents"),
        (dict(kernel=-np.eye(150), features=None), "negative eigenvalues"),
        (dict(kernel=np.triu(np.ones((150, 150))), features=None), "not symmetric"),
    ],
)
def test_bad_settings_are_refused(settings, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        small(**settings).fit(CORPUS)


def test_bad_documents_are_refused(plain) -> None:
    with pytest.raises(ModelError, match="at least 2"):
        topoi.KernelTopicModel(1, features=["year"]).fit(CORPUS)
    with pytest.raises(ModelError, match="was given list of numbers"):
        small().fit([[1, 2]])
    with pytest.raises(ModelError, match="nothing to fit"):
        small().fit(CORPUS.subset([0]))
    with pytest.raises(ModelError, match="5,001 documents"):
        small(solver="exact").fit(CORPUS.subset(np.zeros(5001, int)))
    with pytest.raises(ModelError, match="no column 'authors'"):
        plain.predict({"year": [1950]})
    with pytest.raises(ModelError, match="level"):
        plain.predict({"year": [1950], "authors": ["Ann"]}, level=80)
    with pytest.raises(ModelError, match="given is"):
        plain.perplexity(CORPUS, given="nothing")
    with pytest.raises(ModelError, match="1 rows for 2 documents"):
        plain.transform(["w0", "w1"], metadata={"year": [1950], "authors": ["Ann"]})


def test_a_damaged_file_is_refused(plain, tmp_path) -> None:
    meta, arrays = plain.to_bundle()
    for name in ("topic_word", "y", "coordinates", "noise", "doc_counts"):
        with pytest.raises((ModelError, topoi.StoreError)):
            clone(plain).restore_bundle(CORPUS, meta, arrays | {name: arrays[name][:-1]})


def test_what_is_simulated_is_found_again() -> None:
    """Topics, curves and the length scale of a corpus drawn from the model itself."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"year": rng.integers(1900, 2000, 120), "authors": [["Ann"], ["Bob"]] * 60})
    story = topoi.KernelTopicModel(3, features=["year"], kernel=RBF(15.0), noise=0.1)
    corpus = story.simulate(frame, doc_length=300, random_state=1)
    assert corpus.author_lists()[1] == ["Bob"] and corpus.truth.y.shape == (120, 3)
    fitted = topoi.KernelTopicModel(3, features=["year"], kernel=RBF(40.0), random_state=0).fit(corpus)
    overlap = corpus.truth.topic_word @ fitted.topic_word_.T
    at = overlap.argmax(axis=1)
    assert sorted(at) == [0, 1, 2]
    assert np.abs(fitted.doc_topic_[:, at] - corpus.truth.doc_topic).mean() < 0.09
    assert 8.0 < fitted.kernel_.length_scale < 30.0
    assert 0.02 < fitted.noise_.mean() < 0.4
    again = fitted.simulate(frame, doc_length=50, random_state=2)
    assert again.words.tolist() == corpus.words.tolist() and again.n_docs == 120
    assert np.abs(again.truth.doc_topic - fitted.doc_topic_).mean() < 0.15
    with pytest.raises(ModelError, match="doc_length"):
        story.simulate(frame, doc_length=-1)


def test_draws_are_what_predict_sums_up(model) -> None:
    years = {"year": [1930, 1980]}
    draws, found = model.draw_shares(years), model.predict(years, level=0.8)
    assert draws.sum(axis=2) == pytest.approx(1.0)
    assert draws.mean(axis=0).ravel() == pytest.approx(found["mean"].to_numpy())
    assert np.quantile(draws, 0.9, axis=0).ravel() == pytest.approx(found["upper"].to_numpy())
    assert model.draw_shares(years, noise=False).std(axis=0).mean() < draws.std(axis=0).mean()
    with pytest.raises(ModelError, match="n_draws"):
        model.draw_shares(years, 1)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_kernel_with_an_amplitude_of_its_own_is_learned(seed: int) -> None:
    """Long documents, two amplitudes for one: far away the evidence is rounding alone, and large."""
    corpus, _ = planted(80, seed=0, length=4000)
    kernel = ConstantKernel(1.0) * topoi.Proximity("year") + topoi.Proximity("authors")
    settings = dict(features=["year", "authors"], kernel=kernel, n_iter=26, random_state=seed)
    fitted = small(**settings).fit(corpus)
    assert fitted.amplitude_.max() < 20 and 1e-2 < fitted.kernel_.k1.k1.constant_value < 1e2
    assert 1e-2 < fitted.noise_.min() and fitted.noise_.max() < 5


def test_bands_hold_where_words_do_not_tell_topics() -> None:
    """Short documents of topics that share words: learned at the mode, the noise is too small, and bands too narrow."""
    kernel = topoi.Proximity(["year", "authors"], length_scale=[15.0, 1.0])
    held: dict[str, list[float]] = {"drawn": [], "expected": []}
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        people = [[f"author {i}"] for i in rng.integers(10, size=250)]
        metadata = {"year": rng.integers(1900, 2000, 250).tolist(), "authors": people}
        story = topoi.KernelTopicModel(6, features=["year", "authors"], kernel=kernel, noise=0.3)
        whole = story.simulate(metadata, doc_length=60, random_state=seed)
        is_test = np.arange(250) >= 150
        for way, found in held.items():
            model = topoi.KernelTopicModel(6, features=["year", "authors"], learn_from=way, random_state=seed)
            model.fit(whole.subset(~is_test))
            _, match = linear_sum_assignment(-np.sqrt(model.topic_word_) @ np.sqrt(whole.truth.topic_word).T)
            truth = whole.truth.doc_topic[is_test][:, match]
            found.append(topoi.evaluation.coverage(model.draw_shares(whole.subset(is_test)), truth))
    assert 0.75 < np.mean(held["drawn"]) < 0.87  # of 80 % bands
    assert np.mean(held["expected"]) < np.mean(held["drawn"]) - 0.05
