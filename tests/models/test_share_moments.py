"""Uncertainty of single shares, against enumeration, quadrature, draws and resampling."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betainc
from scipy.stats import beta

import topoi
from topoi.errors import ModelError
from topoi.models.graph import climb, make_graph, slot_nodes
from topoi.models.pachinko.equations import Paths
from topoi.models.pachinko.node_moments import graph_deviations, squared_shares
from topoi.models.resampling import Groups, one_draw, share_bands
from topoi.models.share_moments import (
    Moments,
    between_samples,
    dirichlet_moments,
    group_moments,
    sampled_moments,
    sums_of,
)
from topoi.models.simulation import dirichlet_rows
from topoi.models.smoothed_counts import SmoothedCounts


def test_intervals_are_those_of_the_beta_with_these_moments():
    a, b = np.array([3.0, 40.0, 700.0]), np.array([20.0, 10.0, 900.0])
    lower, upper = Moments(a / (a + b), beta(a, b).std()).interval(0.8)
    np.testing.assert_allclose(lower, beta(a, b).ppf(0.1), rtol=1e-9)
    np.testing.assert_allclose(upper, beta(a, b).ppf(0.9), rtol=1e-9)


def test_ends_of_the_range():
    moments = Moments(np.array([0.0, 1.0, 0.3, 0.01, 0.99]), np.array([0.0, 0.0, 0.0, 0.03, 0.03]))
    lower, upper = moments.interval()
    assert lower[:4].tolist() == [0.0, 1.0, 0.3, 0.0] and upper[:3].tolist() == [0.0, 1.0, 0.3] and upper[4] == 1.0
    assert 0.03 < upper[3] < 0.1 and 0.9 < lower[4] < 0.97


def test_intervals_include_the_share_that_is_shown_and_may_be_unknown():
    lower, upper = Moments(np.array([0.5, 0.5]), np.array([0.01, 0.01])).interval(share=np.array([0.2, 0.6]))
    assert lower[0] == 0.2 and upper[0] < 0.55 and upper[1] == 0.6 and lower[1] > 0.45
    assert np.isnan(Moments(np.array([0.5]), None).interval()).all()
    with pytest.raises(ModelError, match="level is 2"):
        Moments(np.array([0.5]), None).interval(2)


def test_intervals_hold_the_mixture_of_betas():
    """The posterior over samples is a mixture of Betas, of which intervals must hold 0.9."""
    rng = np.random.default_rng(0)
    for n_words, alpha in ((15, 0.5), (60, 0.1), (500, 2.0), (5000, 0.1)):
        theta = rng.dirichlet(np.full(10, 0.5))
        counts = np.stack([rng.multinomial(n_words, rng.dirichlet(200 * theta + 1e-3)) for _ in range(11)])
        moments = sampled_moments(counts, np.full(10, alpha))
        lower, upper = moments.interval(0.9)
        weight = counts + alpha
        rest = weight.sum(axis=1, keepdims=True) - weight
        mass = (betainc(weight, rest, upper) - betainc(weight, rest, lower)).mean(axis=0)
        large = moments.mean >= 0.05
        # More than 0.9 where intervals begin at 0.
        assert ((mass[large] > 0.85) & (mass[large] < 0.97)).all(), (n_words, alpha, mass[large])
        assert abs(mass[large].mean() - 0.9) < 0.04


def test_moments_are_those_of_draws_from_the_posterior():
    rng = np.random.default_rng(1)
    counts, alpha = rng.poisson(5, (4, 3)).astype(float), np.array([0.5, 1.0, 2.0])
    draws = np.concatenate([rng.dirichlet(each + alpha, 100_000) for each in counts])
    found = sampled_moments(counts, alpha)
    np.testing.assert_allclose(found.mean, draws.mean(axis=0), atol=2e-3)
    shares = (counts + alpha) / (counts + alpha).sum(axis=1, keepdims=True)
    extra = between_samples(shares) ** 2 - shares.var(axis=0)  # few samples say less than all
    np.testing.assert_allclose(found.deviation**2 - extra, draws.var(axis=0), rtol=2e-2)
    assert (extra > 0).all() and not between_samples(shares[:1]).any()


def test_groups_are_as_by_resampling():
    rng = np.random.default_rng(2)
    lengths = rng.poisson(60, 520) + 1
    counts = np.stack(
        [rng.multinomial(n, theta) for n, theta in zip(lengths, rng.dirichlet(np.full(6, 0.4), 520), strict=True)]
    )
    documents = SmoothedCounts.from_counts(counts, np.ones(6))
    for size in (1, 3, 20):
        of = np.r_[np.zeros(size, np.int64), np.ones(520 - size, np.int64)]
        shares = np.stack([counts[of == g].sum(axis=0) / lengths[of == g].sum() for g in (0, 1)])
        ends = share_bands(Groups(of, lengths.astype(float), 2), one_draw(counts), shares, n_replicates=2000)
        own = group_moments(sums_of(documents, np.arange(size)), sums_of(documents)).interval(share=shares[0])
        width, wanted = (own[1] - own[0]).mean(), (ends[1] - ends[0])[0].mean()
        assert abs(width / wanted - 1) < 0.15, (size, width, wanted)
    all_of_them = group_moments(sums_of(documents))
    assert np.allclose(all_of_them.mean, counts.sum(axis=0) / lengths.sum())
    several = sums_of(documents, np.arange(520))
    assert all(np.allclose(mine, theirs) for mine, theirs in zip(sums_of(documents), several, strict=True))


def test_paths_through_a_graph_have_the_variance_of_draws():
    edges = [
        ("root", "a"),
        ("root", "b"),
        ("a", "x"),
        ("a", "y"),
        ("b", "y"),
        ("b", "z"),
        ("b", topoi.WORDS),
        ("root", "x"),
    ]
    graph = make_graph(topoi.Dag.from_edges(edges))
    rng = np.random.default_rng(3)
    child, n_nodes = slot_nodes(graph), len(graph.n_paths)
    weights = rng.uniform(0.3, 3.0, int(graph.slot_start[-1]))
    reach = np.zeros((200_000, n_nodes))
    reach[:, 0] = 1.0
    through = np.ones(n_nodes)
    for u in range(n_nodes):
        slots = np.arange(graph.slot_start[u], graph.slot_start[u + 1])
        if len(slots):
            through[u] = (reach[:, u] ** 2).mean()
            shares = reach[:, u, None] * dirichlet_rows(rng, weights[slots], len(reach))
            reach[:, u] = 0.0
            for slot, share in zip(slots, shares.T, strict=True):
                reach[:, child[slot] if child[slot] >= 0 else u] += share
    drawn = (reach**2).mean(axis=0)
    leaves = np.diff(graph.slot_start) == 0
    found = squared_shares(graph, np.stack((weights, np.ones(len(weights)))))
    np.testing.assert_allclose(found.drawn[0, graph.topic_node], drawn[graph.topic_node], rtol=0.02)
    np.testing.assert_allclose(found.through[0], np.where(leaves, drawn, through), rtol=0.02)
    np.testing.assert_array_equal(found.drawn[1], squared_shares(graph, np.ones((1, len(weights)))).drawn[0])


def test_shares_of_nodes_have_the_deviations_of_resampled_documents():
    """A graph with an inner node that draws words; parts of a child's words by each way, and words through nodes."""
    edges = [("root", "a"), ("root", "b"), ("a", "x"), ("a", "b"), ("b", "x"), ("b", "y"), ("b", topoi.WORDS)]
    dag = topoi.Dag.from_edges(edges)
    graph, rng = make_graph(dag), np.random.default_rng(5)
    lengths = rng.integers(0, 40, 900)
    doc = np.repeat(np.arange(len(lengths)), lengths)
    topic = rng.choice(len(dag.topics), len(doc), p=[0.5, 0.2, 0.3])
    # Documents prefer some ways to others, so that their words are not independent.
    path = (rng.random(len(doc)) * (1 + rng.random(len(lengths))[doc])).astype(np.int64)
    path = np.minimum(path, graph.n_paths[graph.topic_node[topic]] - 1)
    halves = 450, int(lengths[:450].sum())
    words = [(lengths[:450], slice(halves[1])), (lengths[450:], slice(halves[1], None))]
    blocks = [(own, [Paths(topic[at], path[at])]) for own, at in words]
    found = graph_deviations(graph, blocks, 1)
    weight = rng.exponential(size=(4000, len(lengths)))
    n_slots = int(graph.slot_start[-1])
    counts = np.zeros((len(lengths), n_slots))
    for at, _, slot in climb(graph, topic, path):
        np.add.at(counts, (doc[at], slot), 1.0)
    slots, child = weight @ counts, slot_nodes(graph)
    for v in range(1, len(dag.nodes)):
        own = slice(graph.slot_start[v], graph.slot_start[v + 1])
        share = slots[:, own].sum(axis=1) / (weight @ lengths)
        np.testing.assert_allclose(found.node[v], share.std(), rtol=0.06)
        above = np.flatnonzero(child == v)
        part = slots[:, above] / slots[:, above].sum(axis=1, keepdims=True)
        np.testing.assert_allclose(found.slot[above], part.std(axis=0), rtol=0.06, atol=1e-12)
    assert found.node[0] == 0 and found.slot[child < 0].tolist() == [0.0]


def test_samples_that_disagree_widen_shares_of_nodes():
    graph = make_graph(topoi.Dag.from_levels(2, 2))
    topic, lengths = np.repeat([0, 1], 6), np.full(4, 3)
    one, other = Paths(topic, np.zeros(12, np.int64)), Paths(topic, np.ones(12, np.int64))
    same, unlike = (graph_deviations(graph, [(lengths, each)], 2) for each in ([one, one], [one, other]))
    assert same.node.max() == 0 and same.slot.max() == 0
    # Shares 1 and 0 of two samples: their deviation, for a mean of both.
    wanted = np.std([0, 1], ddof=1) * np.sqrt(1.5)
    np.testing.assert_allclose(unlike.node[1:3], wanted)
    np.testing.assert_allclose(unlike.slot[2:], wanted)


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(4)
    topics = rng.dirichlet(np.full(60, 0.1), 4)
    rows = [[f"w{w}" for w in rng.choice(60, 5 + d % 40, p=rng.dirichlet(np.ones(4)) @ topics)] for d in range(60)]
    names = [[f"A{a}" for a in rng.choice(9, 1 + d % 3, replace=False)] for d in range(60)]
    return topoi.Corpus.from_tokens(rows, authors=names)


def test_authors_have_the_moments_of_their_samples(corpus, tmp_path):
    """Where documents have private authors, too, they are those of documents: ``test_written.py``."""
    model = topoi.AuthorTopicModel(4, alpha=0.3, n_iter=40, random_state=0, fictitious_authors=False).fit(corpus)
    chain, n_authors = model.chains_[0], np.diff(corpus.doc_author_start)
    doc = np.repeat(np.arange(corpus.n_docs), np.diff(corpus.doc_start))
    counts = np.zeros((chain.n_samples, len(model.authors_), 4))
    for s, sample in enumerate(chain.averaged.samples):
        named = sample["slot"] < n_authors[doc]
        author = corpus.doc_author[(corpus.doc_author_start[doc] + sample["slot"])[named]]
        np.add.at(counts[s], (author, sample["topic"][named]), 1)
    wanted = np.stack([sampled_moments(counts[:, a], chain.alpha).deviation for a in range(len(model.authors_))])
    found = chain.author_moments(np.arange(len(model.authors_)))
    np.testing.assert_allclose(found.deviation, wanted, rtol=0.02)
    assert (found.deviation > dirichlet_moments(counts.mean(axis=0) + chain.alpha).deviation * 1.02).mean() > 0.5
    model.save(tmp_path / "a.topoi")
    view = topoi.view(tmp_path / "a.topoi")
    columns = ["probability", "lower", "upper"]
    np.testing.assert_allclose(view.author_topics()[columns], model.author_topics()[columns], rtol=1e-12)
    narrow = view.author_topics("A3", level=0.5).set_index("topic")
    wide = view.author_topics("A3", level=0.99).set_index("topic")
    assert ((wide["upper"] - wide["lower"]) > (narrow["upper"] - narrow["lower"])).all()
    assert "lower" not in view.author_topics("A3", level=None)


@pytest.mark.parametrize("fictitious", [False, True])
def test_who_wrote_the_words_is_what_samples_say(corpus, fictitious, tmp_path):
    """In memory and in a store: means and spread of the shares that each sample gives a document's authors."""
    model = topoi.AuthorTopicModel(3, fictitious_authors=fictitious, n_iter=80, random_state=0).fit(corpus)
    model.save(tmp_path / "m.topoi")
    view, several = topoi.view(tmp_path / "m.topoi"), 0
    for d in range(0, corpus.n_docs, 5):
        here = slice(corpus.doc_start[d], corpus.doc_start[d + 1])
        n = int(np.diff(corpus.doc_author_start)[d]) + 1
        slots = [sample["slot"][here] for sample in model.chains_[0].averaged.samples]
        shares = np.array([[(slot == q).mean() for q in range(n)] for slot in slots])
        for chain in (model.chains_[0], view.chains_[0]):
            found = chain.writer_moments(d)
            np.testing.assert_allclose(found.mean, shares.mean(axis=0), atol=1e-12)
            spread = shares.std(axis=0, ddof=1) * np.sqrt(1 + 1 / len(slots))
            np.testing.assert_allclose(found.deviation, spread, atol=1e-12)
        assert bool(found.mean[-1]) <= fictitious or n == 1
        several += bool((found.deviation > 0).any())
    assert several
    last = topoi.AuthorTopicModel(3, n_iter=5, average=False, random_state=0).fit(corpus).chains_[0].writer_moments(0)
    assert last.deviation is None and last.mean.sum() == 1.0


def test_sizes_know_samples_and_documents(corpus):
    model = topoi.LDA(4, alpha=0.3, n_iter=40, random_state=0).fit(corpus)
    chain, total = model.chains_[0], corpus.n_tokens
    sizes = np.stack([np.bincount(sample["topic"], minlength=4) for sample in chain.averaged.samples]) / total
    counts = chain.documents.counts(np.arange(60))
    lengths, share = counts.sum(axis=1), counts.sum(axis=0) / total
    documents = ((counts - share * lengths[:, None]) ** 2).sum(axis=0) / total**2 * 60 / 59
    wanted = np.sqrt(documents + sizes.var(axis=0, ddof=1) * (1 + 1 / len(sizes)))
    np.testing.assert_allclose(chain.size_moments.deviation, wanted)


def test_a_correlated_document_has_the_spread_of_its_posterior(corpus, monkeypatch):
    chain = topoi.CorrelatedTopicModel(4, n_iter=40, random_state=0).fit(corpus).chains_[0]
    counts = np.array([12.0, 3.0, 8.0, 2.0])
    rng = np.random.default_rng(5)
    eta = rng.multivariate_normal(chain.mean, chain.covariance, 400_000)
    shares = np.exp(eta - eta.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    weight = np.exp((logs := np.log(shares) @ counts) - logs.max())
    weight /= weight.sum()
    mean = weight @ shares
    monkeypatch.setattr(chain, "_sample_counts", lambda first, last: counts[None, None])
    monkeypatch.setattr(chain, "document_shares", lambda document: mean)
    found = chain.document_moments(0).deviation
    np.testing.assert_allclose(found, np.sqrt(weight @ (shares - mean) ** 2), rtol=0.2)


def test_a_model_without_a_posterior_of_mixtures_gives_no_interval(corpus):
    model = topoi.PLSI(3, random_state=0, progress=False).fit(corpus)
    assert topoi.document_topics(model, 0)[["lower", "upper"]].isna().all(axis=None)
    assert model.topic_sizes()["lower"].notna().all()  # by resampled documents


def test_families_with_mixtures_of_their_own_know_their_posteriors(corpus):
    rows = [
        list(corpus.words[corpus.tokens[a:b]]) for a, b in zip(corpus.doc_start, corpus.doc_start[1:], strict=False)
    ]
    dated = topoi.Corpus.from_tokens(rows, dates=[1940 + d for d in range(60)])
    regression = (
        topoi.DirichletMultinomialRegression(3, features=["year"], n_iter=20, random_state=0).fit(dated).chains_[0]
    )
    topics = [sample["topic"][: dated.doc_start[1]] for sample in regression.averaged.samples]
    counts = np.stack([np.bincount(each, minlength=3) for each in topics])
    wanted = sampled_moments(counts, regression.priors.rows[0, :3].astype(np.float64))
    np.testing.assert_allclose(regression.document_moments(0).deviation, wanted.deviation)
    np.testing.assert_allclose(regression.document_moments(0).mean, wanted.mean, rtol=1e-6)
    aspect = topoi.AspectModel(3, random_state=0, n_iter=20, progress=False).fit(dated)
    draws = np.random.default_rng(0).dirichlet(aspect.posterior_[5], 50_000)
    np.testing.assert_allclose(aspect.chains_[0].document_moments(5).deviation, draws.std(axis=0), rtol=0.03)
    kernel = topoi.KernelTopicModel(3, features=["year"], n_iter=20, n_warmup=10, random_state=0).fit(dated)
    mean, covariance = kernel._posterior.training()
    y = np.random.default_rng(0).multivariate_normal(mean[5], covariance[5], 50_000)
    shares = np.exp(y) / np.exp(y).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(kernel.chains_[0].document_moments(5).deviation, shares.std(axis=0), rtol=0.05)


@pytest.fixture(scope="module")
def pachinko(corpus):
    return topoi.PachinkoAllocation(3, 4, n_iter=30, random_state=0, progress=False).fit(corpus)


def test_a_documents_super_topics_have_the_moments_of_their_dirichlet(pachinko):
    chain = pachinko.chains_[0]
    samples = list(chain.paths(7, 8))
    counts = np.stack([np.bincount(paths.path, minlength=3) for paths in samples])  # the super-topic that it came by
    wanted, found = sampled_moments(counts, chain.edge_alpha[:3]), chain.document_node_moments(7)
    np.testing.assert_allclose(found.mean[1:4], wanted.mean, rtol=1e-6)
    np.testing.assert_allclose(found.deviation[1:4], wanted.deviation, rtol=1e-5)
    topics = chain.document_moments(7)
    np.testing.assert_allclose(found.deviation[4:], topics.deviation, rtol=1e-6)
    assert found.mean[0] == 1 and found.deviation[0] == 0


def test_frames_of_a_graph_have_intervals_in_memory_and_in_a_store(pachinko, tmp_path):
    pachinko.save(tmp_path / "p.topoi")
    view, columns = topoi.view(tmp_path / "p.topoi"), ["share", "lower", "upper"]
    for ask in (
        lambda model, **level: model.node_sizes(**level),
        lambda model, **level: topoi.node_documents(model, "super 1", 5, **level),
        lambda model, **level: topoi.node_documents(model, "sub 2", 5, **level),
        lambda model, **level: topoi.document_nodes(model, 3, **level),
    ):
        ours, theirs, narrow = ask(pachinko), ask(view), ask(view, level=0.5)
        np.testing.assert_allclose(theirs[columns], ours[columns], rtol=1e-6, atol=1e-9)
        assert (ours["lower"] <= ours["share"]).all() and (ours["share"] <= ours["upper"]).all()
        assert (narrow["lower"] >= theirs["lower"]).all() and (narrow["upper"] <= theirs["upper"]).all()
        assert "lower" not in ask(view, level=None)
    sizes, topics = pachinko.node_sizes(), pachinko.topic_sizes()
    assert sizes["node"].tolist() == list(pachinko.dag_.nodes[1:]) and (sizes["upper"] > sizes["lower"]).all()
    np.testing.assert_allclose(sizes[columns].iloc[3:], topics[columns], rtol=1e-9)
    edges = pachinko.edges()
    assert sizes["n_words"].tolist()[:3] == edges["n_words"].tolist()[:3]
