"""Seeds, bans, pins and labels in Dirichlet-multinomial regressions, against the model's definition."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.special import gammaln

import topoi
from guided_states import (
    BETA,
    TOLD,
    WORDS,
    all_states,
    check_view,
    largest_error,
    log_topics,
    log_words,
    prior_and_mask,
    small_corpus,
)
from topoi.engine.executors import SerialExecutor
from topoi.engine.gibbs import sweep_chains
from topoi.errors import ModelError
from topoi.kernels.counts import Priors
from topoi.kernels.folding import SamplingPlan
from topoi.models.author_topic.kernels import lane_weights
from topoi.models.dmr import likelihood
from topoi.models.dmr.grouping import grouped, same_rows
from topoi.models.dmr.likelihood import (
    Gaussian,
    GroupedCells,
    Limits,
    TopicCells,
    alpha_rows,
    covariance,
    curvature,
    log_counts,
    objective,
)
from topoi.models.dmr.refitting import _learned_alpha
from topoi.models.dmr.selection import held_out, some_cells
from topoi.models.dmr.state import Plan, RegressionSampler
from topoi.models.guidance.settings import resolve_guidance

ALPHAS = np.array([[0.7, 0.3, 1.1], [0.1, 2.0, 0.4]])


def make_sampler(told, n_shards=1):
    """Two documents with alphas of their own."""
    corpus = small_corpus()
    guidance = resolve_guidance(corpus, 3, **told)
    design = csr_matrix(np.array([[1.0, 0.0], [1.0, 1.0]]))
    mean = np.column_stack([np.log(ALPHAS[0]), np.log(ALPHAS[1]) - np.log(ALPHAS[0])])
    plan = Plan(mean, 1.0, 10.0, 10**6, 1)
    return corpus, RegressionSampler(corpus, design, plan, np.array(BETA), n_shards, guidance)


def log_joint(corpus, topic, prior, mask):
    return log_words(corpus.tokens, topic, prior) + log_topics(corpus, np.asarray(topic), ALPHAS * mask)


@pytest.mark.parametrize("name", TOLD)
def test_the_sampler_draws_from_the_guided_posterior(name):
    corpus, sampler = make_sampler(TOLD[name])
    prior, mask = prior_and_mask(TOLD[name])
    states, exact = all_states(6, range(3), lambda state: log_joint(corpus, state, prior, mask))
    error, forbidden = largest_error(sampler, states, exact, lambda c: tuple(sampler.whole(c)[1].topic.tolist()))
    assert error < 5 and forbidden == 0


@pytest.mark.parametrize("name", TOLD)
def test_weights_log_joint_and_counts(name):
    corpus, sampler = make_sampler(TOLD[name], 2)
    prior, mask = prior_and_mask(TOLD[name])
    chain = sampler.start(3, 0)
    for sweep in range(1, 6):
        sweep_chains(sampler, [chain], sweep, 0, SerialExecutor())
        word_topic, total = chain.counts.word_topic.copy(), chain.counts.topic.copy()
        sampler.recount(chain)
        assert np.array_equal(word_topic, chain.counts.word_topic) and np.array_equal(total, chain.counts.topic)
        documents, assignments = sampler.whole(chain)
        topic = assignments.topic.astype(int)
        assert sampler.log_joint(chain) == pytest.approx(log_joint(corpus, topic, prior, mask), rel=1e-6)
        for i in range(6):
            d = int(i >= 3)
            logs = []
            for k in range(3):
                other = topic.copy()
                other[i] = k
                logs.append(log_joint(corpus, other, prior, mask))
            exact = np.exp(np.array(logs) - max(logs))
            row = chain.priors.rows[d]
            priors = Priors(row, float(row.sum()), chain.priors.beta, chain.priors.beta_sum)
            fast = lane_weights(documents, assignments, chain.counts, priors, d, i)
            np.testing.assert_allclose(fast / fast.sum(), exact / exact.sum(), atol=1e-5)
            assert (fast[exact == 0] == 0).all()


def test_lists_of_words_are_used_with_seeds_alone():
    rng = np.random.default_rng(0)
    corpus = topoi.Corpus.from_tokens([[f"w{w}" for w in rng.integers(0, 30, 20)] for _ in range(10)])
    same = csr_matrix(np.ones((10, 1)))
    for told, listed in (
        ({"seeds": {"x": ["w1"]}}, True),
        ({"ban": {0: ["w1"]}}, False),
        ({"doc_ban": {0: [1]}}, False),
    ):
        plan = Plan(np.zeros((80, 1)), 1.0, 10.0, 10**6, 1)
        guidance = resolve_guidance(corpus, 80, **told)
        sampler = RegressionSampler(corpus, same, plan, np.full(30, 0.1), 1, guidance)
        assert (sampler.start(0, 0).shards[0].word_times is not None) == listed


# The coefficients, where documents may not have all topics.


@pytest.fixture
def problem():
    """Counts of documents with one of two sets of topics, some of them with the same features."""
    rng = np.random.default_rng(1)
    design = csr_matrix(np.array([[1.0, 0.0, 0.3], [1.0, 1.0, -0.4], [1.0, 1.0, 0.3]])[rng.integers(0, 3, 40)])
    limits = Limits(np.array([[True] * 4, [True, False, True, False]]), rng.integers(0, 2, 40))
    counts = rng.poisson(1.5, (40, 4)) * limits.sets[limits.row]
    counts[3] = 0
    prior = Gaussian(rng.standard_normal((4, 3)) * 0.1, np.array([10.0, 0.5, 0.7]))
    d, k = np.nonzero(counts)
    start = np.searchsorted(d, np.arange(41)).astype(np.int64)
    cells = TopicCells(start, k.astype(np.int64), counts[d, k] * 1.0, counts.sum(axis=1) * 1.0, limits)
    return design, counts, cells, prior, rng.standard_normal((4, 3)) * 0.7


def by_definition(design, counts, cells, prior, x):
    value = -((x - prior.mean) ** 2 / (2 * prior.variance)).sum()
    for alpha, row, allowed in zip(np.exp(design @ x.T), counts, cells.limits.sets[cells.limits.row], strict=True):
        a, n = alpha[allowed], row[allowed]
        value += gammaln(a.sum()) - gammaln(a.sum() + n.sum()) + (gammaln(a + n) - gammaln(a)).sum()
    return value


def differences(function, x, step=1e-5):
    found = np.zeros((*x.shape, *np.shape(function(x))))
    for place in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[place] += step
        down[place] -= step
        found[place] = (np.asarray(function(up)) - np.asarray(function(down))) / (2 * step)
    return found


@pytest.mark.parametrize("cells_in_block", [5000, 5])
def test_value_gradient_and_curvature_are_of_the_allowed_topics_alone(problem, cells_in_block, monkeypatch):
    monkeypatch.setattr(likelihood, "_CELLS_IN_BLOCK", cells_in_block)
    design, counts, cells, prior, x = problem
    value, gradient = objective(design, cells, x, prior)
    assert value == pytest.approx(by_definition(*problem), rel=1e-10)
    numeric = differences(lambda at: by_definition(design, counts, cells, prior, at), x)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-5, atol=1e-6)
    bends = differences(lambda at: objective(design, cells, at, prior)[1], x).reshape(12, 12)
    found = np.linalg.inv(covariance(design, cells, x, prior).reshape(12, 12))
    np.testing.assert_allclose(found, -bends, rtol=1e-4, atol=1e-4)


def test_groups_have_the_same_features_and_the_same_topics(problem):
    design, counts, cells, prior, x = problem
    groups = same_rows(design, cells.limits)
    assert groups.design.shape[0] == 6 and same_rows(design).design.shape[0] == 3
    together, few = grouped(groups, design, cells)
    assert isinstance(few, GroupedCells)
    alone, found = objective(design, cells, x, prior), objective(together, few, x, prior)
    assert found[0] == pytest.approx(alone[0], rel=1e-10)
    np.testing.assert_allclose(found[1], alone[1], rtol=1e-8, atol=1e-10)
    own, shared = curvature(few, alpha_rows(together, x, few.limits))
    each = curvature(cells, alpha_rows(design, x, cells.limits))
    np.testing.assert_allclose(shared, np.bincount(groups.group, each[1]), rtol=1e-8)
    assert np.isfinite(own).all()


def test_documents_left_out_are_scored_with_their_own_topics(problem):
    design, counts, cells, prior, x = problem
    two = np.array([np.flatnonzero(cells.limits.row == 1)[3], 2])
    few = some_cells(cells, two)
    rows = alpha_rows(design[two], x, few.limits)
    assert np.array_equal(rows > 0, cells.limits.sets[[1, 0]])
    free = held_out(design, cells._replace(limits=None), [prior])[0]
    assert held_out(design, cells, [prior])[0] > free + 0.05
    assert log_counts(few, rows) > log_counts(few, alpha_rows(design[two], x))


@pytest.fixture(scope="module")
def labelled():
    """Documents of one of two labels and of shared words, every word pinned to its topic, so that topics are known."""
    rng = np.random.default_rng(0)
    labels, docs = [["x"] if d % 2 else ["y"] for d in range(2000)], []
    for own in labels:
        alpha = TRUTH * ([1, 0, 1] if own == ["x"] else [0, 1, 1])
        share = np.zeros(3)
        share[alpha > 0] = rng.dirichlet(alpha[alpha > 0])
        docs.append([WORDS[k] for k in rng.choice(3, 20, p=share)])
    corpus = topoi.Corpus.from_tokens(docs)
    pin = {"x": ["a"], "y": ["b"], 2: ["c"]}
    guidance = resolve_guidance(corpus, 3, seeds={"x": [], "y": []}, doc_labels=labels, pin=pin)
    plan = Plan(np.zeros((3, 1)), 1.0, 100.0, 0, 1)
    sampler = RegressionSampler(corpus, csr_matrix(np.ones((2000, 1))), plan, np.full(3, 0.1), 1, guidance)
    return sampler, sampler.start(0, 0)


TRUTH = np.array([0.5, 1.0, 2.0])


def test_one_alpha_for_all_is_learned_from_documents_own_topics(labelled):
    np.testing.assert_allclose(_learned_alpha(*labelled, np.ones(3)), TRUTH, rtol=0.12)


@pytest.mark.parametrize("alike", [True, False])
def test_coefficients_are_learned_from_documents_own_topics(labelled, alike):
    given = labelled[0]
    # Features that no two documents share, and that hardly count.
    other = np.zeros(2000) if alike else np.random.default_rng(1).standard_normal(2000)
    design, plan = csr_matrix(np.column_stack([np.ones(2000), other])), Plan(np.zeros((3, 2)), 1e-4, 100.0, 0, 1)
    sampler = RegressionSampler(given._corpus, design, plan, np.full(3, 0.1), 1, given.guidance)
    assert (sampler._groups is not None) == alike
    chain = sampler.start(0, 0)
    sampler.learn(chain, 1)
    np.testing.assert_allclose(np.exp(chain.priors.coefficients[:, 0]), TRUTH, rtol=0.12)


# Fits.


def planted(n_docs=60):
    rng = np.random.default_rng(2)
    groups = [["war", "army", "peace", "law"], ["trade", "tariff", "peace", "law"], ["gene", "cell", "law", "peace"]]
    docs = [rng.choice(groups[d % 3], 14).tolist() for d in range(n_docs)]
    labels = [["war"] if d % 3 == 0 else None if d % 2 else [] for d in range(n_docs)]
    return topoi.Corpus.from_tokens(docs, metadata={"venue": ["A", "B", "C"] * (n_docs // 3), "kind": labels})


EVERYTHING = {
    "seeds": {"war": ["army"], "trade": {"tariff": 30}},
    "ban": {2: ["peace"]},
    "pin": {"war": ["war"]},
    "doc_labels": "kind",
    "doc_ban": {1: [3]},
}


def model_of(**settings):
    kw = {"features": ["venue"], "beta": 0.1, "n_warmup": 4, "learn_every": 2, "n_iter": 20, "random_state": 0}
    return topoi.DirichletMultinomialRegression(4, **kw | EVERYTHING | settings)


def check_guided(model):
    words = list(model.vocabulary_.words)
    assert (model.topic_word_[2, words.index("peace")], model.topic_word_[0, words.index("war")] > 0) == (0, True)
    assert (np.delete(model.topic_word_, 0, axis=0)[:, words.index("war")] == 0).all()
    np.testing.assert_allclose(model.topic_word_.sum(axis=1), 1, rtol=1e-6)
    shut = np.array([labels is not None and "war" not in labels for labels in model.corpus_.documents["kind"]])
    assert (model.doc_topic_[shut, 0] == 0).all() and (model.doc_topic_[~shut, 0] > 0).all()
    assert model.doc_topic_[3, 1] == 0
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize("learning", ["sample", "optimise"])
def test_fits_resume_threads_checkpoints_and_files(learning, tmp_path):
    corpus = planted()
    model = model_of(learning=learning, n_shards=2).fit(corpus)
    check_guided(model)
    assert model.topic_labels()[:2] == ["war", "trade"]
    assert model.guidance_report()["name"].tolist() == ["war", "trade"]
    others = [
        model_of(learning=learning, n_shards=2, n_jobs=2).fit(corpus),
        model_of(learning=learning, n_shards=2, n_iter=11).fit(corpus).resume(9),
    ]
    path = tmp_path / "run.topoi"
    model_of(learning=learning, n_shards=2, n_iter=9, checkpoint=path, checkpoint_every=3).fit(corpus)
    others.append(model_of(learning=learning, n_shards=2, checkpoint=path).fit(corpus))
    model.save(tmp_path / "m.topoi")
    others.append(topoi.load(tmp_path / "m.topoi"))
    for other in others:
        assert np.array_equal(other.topic_word_, model.topic_word_)
        assert np.array_equal(other.coefficients_, model.coefficients_)
        assert np.array_equal(other.doc_topic_, model.doc_topic_)
        assert other.perplexity(corpus) == model.perplexity(corpus)
        assert np.array_equal(other.transform(corpus), model.transform(corpus))
    check_view(topoi.view(tmp_path / "m.topoi"), model, 2e-3)


def test_refits_cross_validation_and_updates_keep_what_was_said():
    model = model_of(width="cv", variance="cv").fit(planted())
    check_guided(model)
    frame = model.cross_validate([0.1, 1.0], n_iter=5)
    assert np.isfinite(frame["log_likelihood"]).all()
    model.refit(5)
    check_guided(model)
    assert np.isfinite(model.coefficients()["standard_error"]).all()
    more = topoi.Corpus.from_tokens(
        [["war", "army", "peace"], ["gene", "cell"]], metadata={"venue": ["A", "C"], "kind": [["war"], []]}
    )
    model.update(more, n_iter=3)
    check_guided(model)
    assert model.doc_topic_[-1, 0] == 0 < model.doc_topic_[-2, 0]


def test_new_documents_have_no_banned_words_either():
    model = model_of().fit(planted())
    new = topoi.Corpus.from_tokens([["war"] * 40], metadata={"venue": ["B"]})
    # All forty words are of the only topic that may have them, whatever the prior.
    assert model.transform(new)[0, 0] > 0.8
    assert np.isfinite(model.log_likelihood(new)).all()
    _, documents, chains = model.documents_and_chains(new)
    shares = chains[0].sample_documents(documents, SamplingPlan(1, 1, 1, 0, 0))[0][0]
    alpha = chains[0].alphas(documents)[0]
    np.testing.assert_allclose(shares[1:], (alpha / (40 + alpha.sum()))[1:], rtol=1e-4)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"seeds": {str(k) + "x": ["war"] for k in range(5)}, "pin": None, "doc_labels": None}, "name 5 topics"),
        ({"doc_labels": "nothing"}, "no column"),
        ({"ban": {9: ["war"]}}, "numbered 0 to 3"),
        ({"ban": {"war": ["army"]}}, "is a seed of topic 'war' and banned there"),
        ({"seed_strength": 0}, "seed_strength"),
    ],
)
def test_bad_guidance_is_refused(told, message):
    with pytest.raises(ModelError, match=message):
        model_of(**told).fit(planted())
