"""The author model against sums over every state, and what it tells of authors and documents."""

from itertools import product
from math import lgamma, log

import numpy as np
import pytest

import topoi
from topoi.engine.executors import SerialExecutor
from topoi.engine.gibbs import sweep_chains

BETA = np.array([0.5, 0.2, 0.9])
ROWS, AUTHORS = [["a", "b", "a"], ["c", "b"], ["c"]], ["Ann; Bob; Cy", "Bob; Ann", "Ann"]


def small_corpus(rows=ROWS, authors=AUTHORS):
    return topoi.Corpus.from_tokens(rows, authors=authors, words=["a", "b", "c"])


def choices(corpus):
    """For every token the authors it may have, a document without authors having one of its own."""
    lists = np.split(corpus.doc_author, corpus.doc_author_start[1:-1])
    lists = [row.tolist() or [("own", d)] for d, row in enumerate(lists)]
    return [row for row, n in zip(lists, corpus.doc_lengths, strict=True) for _ in range(n)]


def log_joint(corpus, who):
    """log P(words, authors) from the definition: each author's words a Pólya sequence, authors chosen evenly."""
    table = {}
    for author, w in zip(who, corpus.tokens, strict=True):
        table.setdefault(author, np.zeros(3))[w] += 1
    result = -sum(log(len(row)) for row in choices(corpus))
    for row in table.values():
        result += lgamma(BETA.sum()) - lgamma(BETA.sum() + row.sum())
        result += sum(lgamma(n + b) - lgamma(b) for n, b in zip(row, BETA, strict=True))
    return result


def test_sampler_matches_enumeration():
    corpus = small_corpus()
    states = list(product(*choices(corpus)))
    exact = np.exp([log_joint(corpus, who) for who in states])
    exact /= exact.sum()
    number = {who: i for i, who in enumerate(states)}
    model = topoi.AuthorModel(beta=BETA, n_iter=1, random_state=0).fit(corpus)
    sampler, chain = model._sampler, model._chains[0]
    own = np.repeat(corpus.doc_author_start[:-1], corpus.doc_lengths)
    frequencies, sweep = [], 1
    for _ in range(20):
        visits = np.zeros(len(states))
        for _ in range(1000):
            sweep += 1
            sweep_chains(sampler, [chain], sweep, 0, SerialExecutor())
            visits[number[tuple(corpus.doc_author[own + chain.shards[0]].tolist())]] += 1
        frequencies.append(visits / visits.sum())
    error = np.std(frequencies, axis=0, ddof=1) / np.sqrt(len(frequencies))
    assert (np.abs(np.mean(frequencies, axis=0) - exact) / np.maximum(error, 1e-9)).max() < 4.5
    uniform = np.full(len(exact), 1 / len(exact))
    assert np.abs(uniform - exact).max() > 20 * error.max()  # the test would notice a sampler that ignores words


@pytest.mark.filterwarnings("ignore:.*no authors")
@pytest.mark.parametrize("authors", [AUTHORS, ["Ann; Bob", None, "Bob"]])
def test_log_joint_is_the_definition(authors):
    corpus = small_corpus(authors=authors)
    model = topoi.AuthorModel(beta=BETA, n_iter=7, random_state=2).fit(corpus)
    slots = model._chains[0].shards[0]
    who = [row[q] for row, q in zip(choices(corpus), slots, strict=True)]
    assert model.trace_["log_joint"].iloc[-1] == pytest.approx(log_joint(corpus, who), rel=1e-12)


@pytest.mark.filterwarnings("ignore:.*no authors")
@pytest.mark.parametrize("n_shards", [1, 3])
def test_counts_equal_a_recount_after_sweeps_merges_and_resume(n_shards):
    corpus = topoi.AuthorModel().simulate(30, 20, authors=[["Ann", "Bob"], ["Bob"], [], ["Cy", "Ann"], []] * 6)
    model = topoi.AuthorModel(n_iter=8, n_shards=n_shards, n_jobs=2, n_chains=2, random_state=0).fit(corpus).resume(3)
    rows = choices(corpus)
    for chain in model._chains:
        table = {}
        for row, q, w in zip(rows, np.concatenate(chain.shards), corpus.tokens, strict=True):
            table[row[q], w] = table.get((row[q], w), 0) + 1
        own = model._sampler.n_rows - corpus.n_docs
        for key, number in zip(model._sampler.keys, chain.counts.pair, strict=True):
            a, w = divmod(int(key), corpus.n_words)
            assert table.pop((a if a < own else ("own", a - own), w), 0) == number
        assert not table
        assert chain.counts.author.sum() == chain.counts.pair.sum() == corpus.n_tokens


def test_author_words_are_smoothed_counts_most_probable_first():
    corpus = small_corpus([["a", "a", "b"], ["c"]], ["Ann", "Bob"])
    model = topoi.AuthorModel(beta=BETA, n_iter=2, random_state=0).fit(corpus)
    np.testing.assert_allclose(model.author_word("Ann"), (np.array([2, 1, 0]) + BETA) / (3 + BETA.sum()))
    frame = model.author_words("ann", 2)
    assert frame.columns.tolist() == ["author", "rank", "word", "probability"]
    assert frame[["author", "rank", "word"]].values.tolist() == [["Ann", 1, "a"], ["Ann", 2, "b"]]
    with pytest.raises(topoi.NotFoundError, match="did you mean 'Ann'"):
        model.author_word("Anne")


@pytest.mark.filterwarnings("ignore:.*no authors")
def test_likelihood_mixes_known_authors_and_integrates_new_ones():
    train = small_corpus([["a", "a", "b"], ["c", "b"]], ["Ann", "Bob"])
    model = topoi.AuthorModel(beta=BETA, n_iter=2, random_state=0).fit(train)
    test = small_corpus([["a", "c"], ["a", "c", "a"]], ["Ann; Bob", None])
    mixed = (model.author_word("Ann") + model.author_word("Bob")) / 2
    total = BETA.sum()
    new = BETA[0] / total * BETA[2] / (total + 1) * (BETA[0] + 1) / (total + 2)
    found = model.log_likelihood(test)
    np.testing.assert_allclose(found, [np.log(mixed[[0, 2]]).sum(), np.log(new)], rtol=1e-9)
    assert model.score(test) == pytest.approx(found.sum() / 5)
    assert model.perplexity(test, average="tokens") == pytest.approx(np.exp(-found.sum() / 5))


def test_completion_equals_enumeration():
    """Observed words change the authors' counts; the prediction is averaged over who wrote them."""
    train = small_corpus([["a", "a", "b"], ["c", "b", "c"]], ["Ann", "Bob"])
    model = topoi.AuthorModel(beta=BETA, n_iter=2, random_state=0).fit(train)
    test = small_corpus([["a", "c", "b"]], ["Ann; Bob"])
    base = np.array([[2, 1, 0], [0, 1, 2]]) + BETA
    top = bottom = 0.0
    for who in product((0, 1), repeat=2):
        counts, p = base.copy(), 1.0
        for a, w in zip(who, (0, 2), strict=True):
            p *= counts[a, w] / counts[a].sum()
            counts[a, w] += 1
        bottom += p
        top += p * (counts[:, 1] / counts.sum(axis=1)).mean()
    observed = np.array([True, True, False])
    found = model.log_completion(test, observed, burn_in=20, n_samples=40_000, lag=2)[0]
    assert np.exp(found) == pytest.approx(top / bottom, rel=2e-3)
    fixed = model.log_completion(test, observed, learn_topics=False)[0]
    assert np.exp(fixed) == pytest.approx((base[:, 1] / base.sum(axis=1)).mean(), rel=1e-6)


def test_completion_uses_burn_in_and_lag():
    corpus = topoi.AuthorModel(beta=0.1).simulate(20, 20, authors=5, random_state=0)
    model = topoi.AuthorModel(n_iter=3, random_state=0).fit(corpus)
    observed = np.arange(corpus.n_tokens) % 2 == 0
    results = [model.log_completion(corpus, observed, b, 2, lag) for b, lag in ((5, 1), (5, 3), (6, 1))]
    assert len({tuple(r) for r in results}) == 3
