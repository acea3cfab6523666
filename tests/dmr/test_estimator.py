"""Whole fits: recovery, fixed bits, files, predictions and what they say of uncertainty."""

import sqlite3
import warnings
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

import topoi
from dmr.planted import PLANTED, matching, planted_corpus
from topoi.engine.executors import SerialExecutor
from topoi.engine.gibbs import sweep_chains
from topoi.errors import ModelError, StoreError
from topoi.evaluation import empirical_likelihood, left_to_right
from topoi.models.dmr.likelihood import objective
from topoi.models.dmr.refitting import frozen_topics
from topoi.models.features.columns import SOMEBODY

FEATURES = ["venue", "size"]


def make(**settings):
    options = {"features": FEATURES, "n_iter": 120, "n_warmup": 20, "random_state": 0, "beta": 0.05}
    return topoi.DirichletMultinomialRegression(3, **(options | settings))


@pytest.fixture(scope="module")
def planted():
    return planted_corpus()


@pytest.fixture(scope="module")
def fitted(planted):
    return make().fit(planted[0])


def contrasts(coefficients):
    """What the prior does not decide: differences between venues, and the slope."""
    return np.column_stack(
        [coefficients[:, 1] - coefficients[:, 2], coefficients[:, 2] - coefficients[:, 3], coefficients[:, 4]]
    )


def test_planted_coefficients_are_recovered(fitted, planted):
    order = matching(fitted)
    assert sorted(order) == [0, 1, 2]
    assert fitted.design_.labels == ["intercept", "venue=A", "venue=B", "venue=C", "size"]
    found, truth = contrasts(fitted.coefficients_[order]), contrasts(PLANTED)
    assert np.abs(found - truth).max() < 0.45
    assert np.corrcoef(found.ravel(), truth.ravel())[0, 1] > 0.98
    frame = fitted.coefficients()
    assert frame.shape == (15, 5)
    np.testing.assert_allclose(frame["z"], frame["coefficient"] / frame["standard_error"])
    slope = frame[frame["feature"] == "size"].set_index("topic")
    assert np.abs((slope["coefficient"][order].to_numpy() - PLANTED[:, 4]) / slope["standard_error"][order]).max() < 4


def test_predictions_are_the_dirichlets_means(fitted, planted):
    _, alpha, _ = planted
    frame = fitted.predict(planted[0])
    mean = frame["mean"].to_numpy().reshape(-1, 3)[:, matching(fitted)]
    error = np.abs(mean - alpha / alpha.sum(axis=1, keepdims=True))
    assert error.mean() < 0.03 and error.max() < 0.2
    curve = fitted.predict({"venue": ["A", "Z"], "size": [5.0, None]}, noise=False)
    wide = fitted.predict({"venue": ["A", "Z"], "size": [5.0, None]})
    assert list(curve.columns) == ["row", "venue", "size", "topic", "mean", "lower", "upper"]
    assert (curve["lower"] < curve["mean"]).all() and (curve["mean"] < curve["upper"]).all()
    assert ((wide["upper"] - wide["lower"]) > (curve["upper"] - curve["lower"])).all()
    assert np.allclose(wide.groupby("row")["mean"].sum(), 1.0)
    with pytest.raises(topoi.ModelError, match="level"):
        fitted.predict({"venue": ["A"], "size": [1.0]}, level=2)


@pytest.mark.filterwarnings("ignore:.*an extrapolation")
def test_bands_hold_new_documents(fitted, planted):
    """80 % bands hold about 80 % of new documents' true shares, after a fit and after a refit."""
    new, _, shares = planted_corpus(300, 5, seed=9)
    refit = make().fit(planted[0]).refit(20)
    assert refit.fit_info_["refitted"] and not fitted.fit_info_["refitted"]
    assert np.array_equal(refit.topic_word_, fitted.topic_word_)
    for model in (fitted, refit):
        frame = model.predict(new)
        lower, upper = (frame[name].to_numpy().reshape(-1, 3)[:, matching(model)] for name in ("lower", "upper"))
        cover = ((shares >= lower) & (shares <= upper)).mean()
        assert 0.74 < cover < 0.87


@pytest.mark.slow
def test_intervals_cover_the_coefficients():
    """What the prior does not decide, over 20 corpora: 90 % intervals hold about as many of the planted values."""
    weights = np.array([[0, 1, -1, 0, 0], [0, 0, 1, -1, 0], [0, 0, 0, 0, 1]])
    inside = {"drawn": [], "refitted": []}
    for seed in range(20):
        model = make(variance=2.0, n_iter=150, learn_every=5).fit(planted_corpus(seed=seed)[0])
        for kind in inside:
            if kind == "refitted":
                model.refit(30)
            spread = np.diagonal(model._spread().of_logs(csr_matrix(weights)), axis1=1, axis2=2)
            for k, at in enumerate(matching(model)):
                gap = weights @ (model.coefficients_[at] - PLANTED[k])
                inside[kind] += (np.abs(gap) < 1.645 * np.sqrt(spread[:, at])).tolist()
    assert 0.84 < np.mean(inside["drawn"]) < 0.95
    assert 0.84 < np.mean(inside["refitted"]) < 0.95


def test_metadata_help_and_words_help_more(fitted, planted):
    new, _, _ = planted_corpus(100, 30, seed=5)
    lda = topoi.LDA(3, alpha=0.3, beta=0.05, n_iter=100, random_state=0).fit(planted[0])
    rows = [fitted.perplexity(new, given=given) for given in ("metadata", 10, "words")]
    blind = np.exp(-np.log(lda.topic_word_.T @ lda.doc_topic_.mean(axis=0))[new_tokens(lda, new)].mean())
    assert rows[2] < rows[1] < rows[0] < blind
    shares = fitted.transform(new)
    assert shares.shape == (100, 3) and np.allclose(shares.sum(axis=1), 1.0)
    texts = fitted.transform(["w1 w2 w3"], metadata={"venue": ["A"], "size": [5.0]})
    assert texts[0, matching(fitted)[0]] > 0.8
    seen = np.arange(new.n_tokens) % 2 == 0
    assert fitted.log_completion(new, seen).shape == (100,)
    assert fitted.score(new) == pytest.approx(-np.log(fitted.perplexity(new)), rel=1e-9)


def new_tokens(model, corpus):
    place = {w: i for i, w in enumerate(model.vocabulary_.words)}
    return np.array([place[w] for w in corpus.words[corpus.tokens]])


def test_metadata_perplexity_is_the_definition(fitted):
    new, _, _ = planted_corpus(7, 20, seed=6)
    mean = fitted.predict(new)["mean"].to_numpy().reshape(-1, 3)
    tokens = new_tokens(fitted, new)
    p = (mean[np.repeat(np.arange(7), 20)] * fitted.topic_word_[:, tokens].T).sum(axis=1)
    assert fitted.perplexity(new, given="metadata") == pytest.approx(np.exp(-np.log(p).mean()), rel=1e-9)


def test_likelihoods_know_each_documents_prior(fitted):
    """A word of the venue's own topic is likelier; both estimators agree with the exact value for one word."""
    new = topoi.Corpus.from_tokens([["w1"], ["w1"], ["w25"]], metadata={"venue": ["A", "C", "C"], "size": [5.0] * 3})
    mean = fitted.predict(new)["mean"].to_numpy().reshape(-1, 3)
    exact = np.log((mean * fitted.topic_word_[:, new_tokens(fitted, new)].T).sum(axis=1))
    np.testing.assert_allclose(left_to_right(fitted, new), exact, rtol=1e-5)
    np.testing.assert_allclose(empirical_likelihood(fitted, new, 4000), exact, atol=0.1)
    assert exact[0] > exact[1] + 0.5 and exact[2] > exact[1] + 0.5


def test_threads_shards_and_chains_keep_the_bits(planted):
    small = planted[0].subset(np.arange(80))
    options = {"n_iter": 40, "n_warmup": 10, "n_chains": 2, "n_shards": 3}
    alone, together = make(n_jobs=1, **options).fit(small), make(n_jobs=3, **options).fit(small)
    for a, b in zip(alone.chains_, together.chains_, strict=True):
        assert np.array_equal(a.assignments.topic, b.assignments.topic)
        assert np.array_equal(a.coefficients, b.coefficients)
    assert not np.array_equal(alone.chains_[0].coefficients, alone.chains_[1].coefficients)
    assert np.array_equal(alone.perplexity(small, per_document=True), together.perplexity(small, per_document=True))
    assert not alone.fit_info_["exact"]


def test_resume_checkpoint_and_files_keep_the_bits(planted, tmp_path):
    small = planted[0].subset(np.arange(80))
    whole = make(n_iter=45).fit(small)
    half = make(n_iter=25).fit(small)
    half.save(tmp_path / "half.topoi", corpus=False)
    loaded = topoi.load(tmp_path / "half.topoi")
    assert loaded.coefficients().equals(half.coefficients())
    assert loaded.fit_info_ == half.fit_info_ and loaded.get_params()["features"] == FEATURES
    make(n_iter=25, checkpoint=tmp_path / "c").fit(small)
    for model in (loaded.resume(20), half.resume(20), make(n_iter=45, checkpoint=tmp_path / "c").fit(small)):
        assert np.array_equal(model.chains_[0].assignments.topic, whole.chains_[0].assignments.topic)
        assert np.array_equal(model.coefficients_, whole.coefficients_)
    frame = {"venue": ["B"], "size": [3.0]}
    pd.testing.assert_frame_equal(loaded.predict(frame), whole.predict(frame))


def test_a_refit_survives_a_file_and_ends_with_more_sweeps(planted, tmp_path):
    model = make(n_iter=30, n_chains=2).fit(planted[0].subset(np.arange(80))).refit(5)
    model.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    assert again.coefficients().equals(model.coefficients()) and again.fit_info_["refitted"]
    assert not again.resume(10).fit_info_["refitted"]
    view = topoi.view(tmp_path / "m.topoi")
    pd.testing.assert_frame_equal(view.top_words(3), model.top_words(3), check_dtype=False)
    label = topoi.label_words(model, "w1 w2")
    assert len(label) == 2


def test_bands_of_the_mean_are_those_of_the_delta_method(fitted):
    frame = {"venue": ["A", "B", "C"], "size": [5.0, 3.0, 6.0]}
    found = fitted.predict(frame, noise=False)
    spread = fitted._spread().of_logs(fitted.design_.matrix(frame))
    mean = found["mean"].to_numpy().reshape(3, 3)
    slopes = [np.diag(row) - np.outer(row, row) for row in mean]
    error = np.array([np.sqrt(np.diagonal(j @ s @ j)) for j, s in zip(slopes, spread, strict=True)])
    width = (found["upper"] - found["lower"]).to_numpy().reshape(3, 3)
    np.testing.assert_allclose(width, 2 * 1.2816 * error, rtol=0.15)


def test_refitted_coefficients_are_the_mode_for_the_frozen_counts(planted):
    model = make(n_iter=40).fit(planted[0].subset(np.arange(150)))
    joint = model.chains_[0].assignments.topic.copy()
    model.refit(10)
    chain, sampler = model._chains[0], model._sampler
    prior = sampler.plan.prior(chain.priors.variance)
    for topic, settled in ((chain.priors.frozen, True), (joint, False)):
        value, slope = objective(sampler.design, sampler.cells(topic), model.coefficients_, prior)
        assert (np.abs(slope).max() < 0.1) == settled, np.abs(slope).max()


def test_metadata_do_not_shape_the_topics_of_a_refit():
    """Words that say nothing, and coefficients that say all: topics follow metadata in a chain, not when frozen."""
    corpus = topoi.Corpus.from_tokens([["word"] * 20] * 80, metadata={"venue": ["A", "B"] * 40})
    model = make(features=["venue"], n_iter=1).fit(corpus)
    chain, sampler = model._chains[0], model._sampler
    strong = np.array([[0.0, 3.0, -3.0], [0.0, -3.0, 3.0], [-5.0, 0.0, 0.0]])
    chain.priors = sampler.priors(strong, chain.priors.beta.astype(float), 1.0)
    start = topics_of(chain, sampler)
    for sweep in range(2, 12):
        sweep_chains(sampler, [chain], sweep, 0, SerialExecutor())
    assert gap_between_venues(topics_of(chain, sampler)) > 0.8
    chain.shards[0].assignments.topic[:] = start
    sampler.recount(chain)
    frozen = frozen_topics(sampler, corpus, chain, range(12, 22), 0, SerialExecutor())
    assert gap_between_venues(frozen) < 0.25


def topics_of(chain, sampler):
    return sampler.whole(chain)[1].topic.copy()


def gap_between_venues(topic):
    """How much more of the first topic the documents of one venue have than those of the other."""
    shares = (topic.reshape(80, 20) == 0).mean(axis=1)
    return abs(shares[::2].mean() - shares[1::2].mean())


def test_the_variance_is_chosen_once_and_kept(planted):
    small = planted[0].subset(np.arange(150))
    model = make(n_iter=40, variance="cv").fit(small)
    chosen = model.fit_info_["variance"]
    assert chosen in (0.1, 0.3, 1.0, 3.0)
    assert model.resume(10).fit_info_["variance"] == chosen
    early = make(n_iter=10, variance="cv").fit(small)
    assert early.fit_info_["variance"] is None
    for asked in (early.coefficients, lambda: early.predict(small)):
        with pytest.raises(topoi.ModelError, match="after 20 sweeps of warm-up, and 10 were run"):
            asked()
    assert early.refit(5).fit_info_["variance"] is not None and len(early.coefficients()) == 15
    frame = model.cross_validate([1e-4, 0.5], n_iter=5)
    assert frame["variance"].tolist() == [0.5, 1e-4]


def test_widths_are_compared():
    years = np.tile(np.arange(1900, 2000), 2)
    words = [["war"] * 15 if year // 25 % 2 else ["trade"] * 15 for year in years]
    corpus = topoi.Corpus.from_tokens(words, dates=years.tolist())
    model = topoi.DirichletMultinomialRegression(2, features=["year"], n_iter=40, n_warmup=10, random_state=0).fit(
        corpus
    )
    frame = model.cross_validate([1.0], widths=[10.0, 200.0], n_iter=5)
    assert frame["width"].tolist() == [10.0, 200.0]


def waves(period):
    """A century in which two subjects take turns, each for half a period."""
    rng = np.random.default_rng(0)
    years = np.arange(1900, 2000)
    p = 0.5 + 0.48 * np.sin(2 * np.pi * (years - 1900) / period)
    words = [[("war" if rng.random() < each else "trade") + str(rng.integers(5)) for _ in range(30)] for each in p]
    return topoi.Corpus.from_tokens(words, dates=years.tolist())


def wave_model(**settings):
    options = {"features": ["year"], "width": "cv", "n_iter": 30, "n_warmup": 20, "variance": 1.0, "random_state": 0}
    return topoi.DirichletMultinomialRegression(2, **(options | settings))


def test_the_width_is_chosen_by_how_fast_things_change():
    fast, slow = wave_model().fit(waves(15)), wave_model().fit(waves(200))
    assert fast.fit_info_["widths"]["year"] < 8 < slow.fit_info_["widths"]["year"]
    assert fast.design_.terms[0].width == fast.fit_info_["widths"]["year"]


def test_the_chosen_width_depends_on_the_corpus_alone(tmp_path):
    """No seed, chain, checkpoint or file changes it."""
    corpus, place = waves(15), tmp_path / "c"
    whole = wave_model(n_chains=2, n_iter=32).fit(corpus)
    assert wave_model(random_state=7, variance="cv").fit(corpus).fit_info_["widths"] == whole.fit_info_["widths"]
    wave_model(n_chains=2, n_iter=25, checkpoint=place).fit(corpus)
    again = wave_model(n_chains=2, n_iter=32, checkpoint=place).fit(corpus)
    assert np.array_equal(again.coefficients_, whole.coefficients_)
    whole.save(tmp_path / "m.topoi", corpus=False)
    loaded = topoi.load(tmp_path / "m.topoi")
    assert loaded.width == "cv" and loaded.design_ == whole.design_
    assert np.array_equal(loaded.resume(10).coefficients_, whole.resume(10).coefficients_)


def test_bands_widen_beyond_the_range_and_for_new_names():
    """Far from all documents a curve is as uncertain as the prior has it, and readers are told."""
    years = np.arange(1900, 2000)
    words = [["war"] * 15 if year % 20 < 10 else ["trade"] * 15 for year in years]
    authors = [["Ann"] if year % 2 else ["Bob"] for year in years]
    corpus = topoi.Corpus.from_tokens(words, authors=authors, dates=years.tolist())
    model = wave_model(features=["year", "authors"], width=10.0).fit(corpus)

    def width(year, author="Ann", noise=False):
        frame = model.predict({"year": [year], "authors": [[author]]}, noise=noise)
        return (frame["upper"] - frame["lower"]).to_numpy()[0]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        inside = max(width(1900), width(1950), width(1999))
        someone = width(1950, SOMEBODY)
    with pytest.warns(UserWarning, match=r"year 2030 is outside the documents' range, 1900 to 1999: an extrapolation"):
        near, far = width(2005), width(2030)
    with pytest.warns(UserWarning, match=r"year 3000 and 1 more are outside"):
        model.predict({"year": [1990, 2030, 3000], "authors": [["Ann"]] * 3})
    with pytest.warns(UserWarning):
        farthest = width(3000)
    assert inside < near < far <= farthest
    # Two topics: log alpha differs by N(·, 2 (√π + error of the rest)); the band of a share near one half.
    spread = np.sqrt(2 * 1.0 * np.sqrt(np.pi))
    assert farthest > 0.95 * (2 / (1 + np.exp(-1.2816 * spread)) - 1) * 0.9
    with pytest.warns(UserWarning, match="taken as new"):
        stranger = width(1950, "Zoe")
    assert stranger > someone + 0.1


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"features": None}, "features is not given"),
        ({"variance": "best"}, "variance is 'best'"),
        ({"variance": 0}, "variance is 0"),
        ({"learn_every": 0}, "learn_every is 0"),
        ({"learning": "guess"}, "learning is 'guess'"),
        ({"alpha": -1}, "alpha has the value"),
        ({"features": ["nothing"]}, "no column"),
    ],
)
def test_mistakes_are_told(planted, settings, words):
    with pytest.raises(topoi.ModelError, match=words):
        make(**settings).fit(planted[0])


def test_documents_need_their_metadata(fitted):
    with pytest.raises(topoi.ModelError, match="venue"):
        fitted.transform(["w1 w2"])
    with pytest.raises(topoi.ModelError, match="metadata has 2 rows for 1 documents"):
        fitted.transform(["w1"], metadata={"venue": ["A", "B"], "size": [1.0, 2.0]})
    with pytest.raises(topoi.ModelError, match=r"was given list of numbers; make Corpus\.from_texts"):
        make().fit([[1, 2]])


@pytest.mark.parametrize(
    ("variances", "widths", "message"),
    [
        ([], [None], "variances is empty"),
        (5, [None], "variances is 5"),
        ([1.0], [], "widths is empty"),
        ([1.0], 5, "widths is 5"),
    ],
)
def test_settings_to_compare_are_lists(variances, widths, message: str) -> None:
    corpus = topoi.Corpus.from_tokens([["a"], ["b"]] * 6, dates=list(range(1990, 2002)))
    model = topoi.DirichletMultinomialRegression(2, features=["year"], n_iter=2, random_state=0).fit(corpus)
    with pytest.raises(ModelError, match=message):
        model.cross_validate(variances, widths, n_iter=2)


def test_words_of_a_saved_document_have_the_conditionals_of_its_own_alpha(tmp_path):
    corpus = topoi.Corpus.from_tokens(
        [["a", "b", "b", "c"], ["c", "c", "d", "a"]] * 20, metadata={"venue": ["A", "B"] * 20}
    )
    model = topoi.DirichletMultinomialRegression(
        3, features=["venue"], beta=0.1, n_iter=80, average=False, random_state=1, progress=False
    ).fit(corpus)
    model.save(tmp_path / "model.topoi")
    view = topoi.view(tmp_path / "model.topoi")
    chain = model.chains_[0]
    topic = np.array(chain.assignments.topic, int)
    alphas = chain.priors.rows[:, :3].astype(float)
    assert np.abs(np.log(alphas[0] / alphas[1])).max() > 0.5  # the two differ
    words = np.zeros((3, corpus.n_words))
    np.add.at(words, (topic, corpus.tokens), 1)
    for d in (0, 1):
        labels = view.label_stored(view.chains_[0].document(d), 0, 1, 1).topic
        here = slice(corpus.doc_start[d], corpus.doc_start[d + 1])
        own = np.bincount(topic[here], minlength=3)
        for i, (w, k) in enumerate(zip(corpus.tokens[here], topic[here], strict=True)):
            less = np.eye(3)[k]
            p = (
                (own - less + alphas[d])
                * (words[:, w] - less + 0.1)
                / (words.sum(axis=1) - less + 0.1 * corpus.n_words)
            )
            np.testing.assert_allclose(labels[i], p / p.sum(), rtol=1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("DELETE FROM array WHERE name = 'design_point'", "load the model and save it again"),
        ("UPDATE array SET shape = '[2, 1]' WHERE name = 'design_point'", "load the model and save it again"),
        ("UPDATE array SET shape = '[99]' WHERE name = 'design_column'", "shape"),
    ],
)
def test_a_stored_design_that_is_damaged_is_said_to_be(tmp_path, change, message):
    corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "a"]] * 6, dates=[1990, 1991] * 6)
    path = tmp_path / "model.topoi"
    topoi.DirichletMultinomialRegression(3, features=["year"], n_iter=3, random_state=0, progress=False).fit(
        corpus
    ).save(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(change)
        connection.commit()
    with pytest.raises(StoreError, match=message):
        topoi.label_document(topoi.view(path), 0)
