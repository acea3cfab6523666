"""Counts at the border of what float32 counts exactly, 2**24: every family of Gibbs samplers, shards, means, store."""

import numpy as np
import pytest

import topoi
from topoi.corpus.vocabulary import Vocabulary
from topoi.engine.executors import SerialExecutor
from topoi.engine.gibbs import sweep_chains
from topoi.engine.shards import Merger
from topoi.errors import ModelError
from topoi.kernels.counts import Counts
from topoi.models import inputs
from topoi.models.averages import Averaged, frozen, mean_counts, mean_lists
from topoi.models.hdp import kernels
from topoi.models.inputs import EXACT_IN_FLOAT32, MOST_TOKENS, WeightedAuthors

BORDER = [2**24 - 1, 2**24, 2**24 + 1]
ODD = topoi.Dag.from_dict({"root": {"a": ["x", "y", topoi.WORDS], "b": ["m"], "z": None}, "m": ["y", "z", "v"]})
MODELS = {
    "LDA": lambda **kw: topoi.LDA(5, **kw),
    "many topics": lambda **kw: topoi.LDA(270, alpha=0.01, **kw),
    "LDA, lists": lambda **kw: topoi.LDA(5, sparse="counts", **kw),
    "LDA, pruned": lambda **kw: topoi.LDA(5, sparse="pruned", **kw),
    "LDA, growing": lambda **kw: topoi.LDA(5, sparse=True, **kw),
    "author-topic": lambda **kw: topoi.AuthorTopicModel(5, **kw),
    "private beside named": lambda **kw: topoi.AuthorTopicModel(5, fictitious_authors=True, **kw),
    "DMR": lambda **kw: topoi.DirichletMultinomialRegression(5, features=["year"], **kw),
    "four levels": lambda **kw: topoi.PachinkoAllocation(2, 5, learn_alpha=False, **kw),
    "four levels, lists": lambda **kw: topoi.PachinkoAllocation(2, 5, sparse="counts", learn_alpha=False, **kw),
    "any graph": lambda **kw: topoi.PachinkoAllocation(dag=ODD, learn_alpha=False, **kw),
    "any graph, lists": lambda **kw: topoi.PachinkoAllocation(dag=ODD, sparse="counts", learn_alpha=False, **kw),
    "any graph, pruned": lambda **kw: topoi.PachinkoAllocation(dag=ODD, sparse="pruned", learn_alpha=False, **kw),
    "HDP": lambda **kw: topoi.HierarchicalDirichletProcess(**kw),
    "CTM": lambda **kw: topoi.CorrelatedTopicModel(5, **kw),
}
# Each takes seconds to compile where nothing is cached.
QUICK = ("many topics", "author-topic")
SOME = [each if each in QUICK else pytest.param(each, marks=pytest.mark.slow) for each in MODELS]
DENSE = ["LDA", "many topics", "author-topic", "private beside named", "DMR", "four levels", "any graph", "CTM"]


@pytest.fixture(scope="module")
def corpus():
    found = topoi.AuthorTopicModel(3, alpha=0.2, beta=0.05).simulate(40, 10, authors=4, random_state=0)
    rows = [
        found.words[found.tokens[a:b]].tolist()[:14]
        for a, b in zip(found.doc_start[:-1], found.doc_start[1:], strict=True)
    ]
    rows = [[*row, "often"] for row in rows]
    return topoi.Corpus.from_tokens(
        rows, authors=[["Ann", "Bob", "Cay"][d % 3 :] for d in range(40)], dates=range(1980, 2020)
    )


def fitted(name, corpus, **options):
    shards = {} if name == "HDP" else {"n_shards": 3}
    return MODELS[name](
        **shards | {"n_iter": 6, "random_state": 0, "progress": False, "evaluate_every": 1} | options
    ).fit(corpus)


@pytest.mark.parametrize("name", SOME)
def test_wider_counts_change_no_draw(name, corpus, monkeypatch, tmp_path):
    narrow = fitted(name, corpus)
    monkeypatch.setattr(inputs, "EXACT_IN_FLOAT32", 16)  # "often" has 40 tokens, Cay nearly all
    wide = fitted(name, corpus)
    kinds = {each.dtype for each in wide._chains[0].counts}
    assert np.dtype(np.int32) in kinds
    assert narrow.trace_.equals(wide.trace_)
    assert np.array_equal(narrow.topic_word_.argsort(), wide.topic_word_.argsort())
    np.testing.assert_allclose(narrow.topic_word_, wide.topic_word_, rtol=1e-6)
    np.testing.assert_allclose(narrow.transform(corpus), wide.transform(corpus), rtol=0.02, atol=0.02)
    wide.save(tmp_path / "wide.topoi")
    narrow.save(tmp_path / "narrow.topoi")
    frames = [topoi.view(tmp_path / f"{each}.topoi").top_words(5) for each in ("wide", "narrow")]
    assert frames[0]["word"].tolist() == frames[1]["word"].tolist()
    assert topoi.load(tmp_path / "wide.topoi").resume(2).trace_.equals(narrow.resume(2).trace_)


@pytest.mark.parametrize("name", DENSE)
@pytest.mark.parametrize("border", BORDER)
def test_no_token_is_lost_at_the_border(name, border, corpus, monkeypatch):
    """Counts as if other documents had filled every cell to the border: shards and their sum move tokens exactly."""
    kind = inputs.count_type(border + corpus.n_tokens, "", "")
    monkeypatch.setattr(inputs, "count_type", lambda most, what, remedy: kind)
    model = fitted(name, corpus, n_iter=1)
    sampler, chain = model._sampler, model._chains[0]
    chain.merger = None
    names = ("word_topic", "author_topic") if "author" in name or "named" in name else ("word_topic",)
    for each in names:
        getattr(chain.counts, each)[:] += border
    for sweep in range(2, 5):
        sweep_chains(sampler, [chain], sweep, 0, SerialExecutor())
    after = {each: getattr(chain.counts, each).astype(np.int64) - border for each in names}
    sampler.recount(chain)
    for each in names:
        rows = slice(None, -1) if each == "author_topic" else slice(None)  # the last author is each document's own
        found, expected = after[each][rows], getattr(chain.counts, each)[rows].astype(np.int64)
        assert np.array_equal(found[:, : sampler.n_topics], expected[:, : sampler.n_topics])


def test_no_token_is_lost_at_the_border_by_a_process_of_unknown_topics(corpus, monkeypatch):
    monkeypatch.setattr(inputs, "count_type", lambda most, what, remedy: np.int32)
    model = fitted("HDP", corpus, n_iter=2)
    chain, n_topics = model._chains[0], model._chains[0].priors.n_topics
    chain.counts.word_topic[:, :n_topics] += 2**24 + 1
    order = np.arange(n_topics)[::-1].copy()
    before = chain.counts.word_topic.copy()
    kernels.reorder(chain.counts, order, n_topics)
    assert np.array_equal(chain.counts.word_topic[:, :n_topics], before[:, order])


@pytest.mark.parametrize("n", BORDER)
def test_lists_are_expanded_exactly_at_the_border(n, corpus, monkeypatch):
    kind = inputs.count_type(n + corpus.n_tokens, "", "")
    monkeypatch.setattr(inputs, "count_type", lambda most, what, remedy: kind)
    for name in ("LDA, lists", "four levels, lists", "any graph, lists"):
        model = fitted(name, corpus, n_iter=1, n_shards=1)
        chain = model._chains[0]
        chain.counts.entry_number[:] += n * (chain.counts.entry_number > 0)
        before = int(chain.counts.entry_number.sum())
        sweep_chains(model._sampler, [chain], 2, 0, SerialExecutor())
        # Topics that a word newly has count from zero, so only their sum is comparable.
        assert int(chain.counts.entry_number.sum()) == before


@pytest.mark.parametrize("n", BORDER)
def test_means_of_samples_are_exact_at_the_border(n):
    tokens = np.zeros(n, np.int32)
    sample = {"topic": np.zeros(n, np.uint8)}
    for samples in ([sample], [sample, {"topic": np.zeros(n, np.uint8)}]):
        averaged = Averaged(samples, [], [], 0)
        dense = mean_counts(tokens, averaged, 1, 1)
        assert dense.word_topic[0, 0] == dense.topic[0] == n
        lists = mean_lists(tokens, averaged, 1, 1)
        assert lists.entry_number[0] == lists.word_rows([0])[0, 0] == n
    counts = Counts(np.array([[n]], np.int32), np.array([float(n)]), np.zeros((1, 1), np.float32), np.zeros(1))
    assert frozen(counts).word_topic[0, 0] == n


@pytest.mark.parametrize("n", BORDER)
def test_counts_are_as_wide_as_the_commonest_word_and_the_busiest_author_need(n):
    tokens = np.broadcast_to(np.int32(0), n)
    monks = topoi.Corpus(tokens=np.zeros(0, np.int32), doc_start=np.array([0, 0]), vocabulary=Vocabulary(["om"]))
    monks.tokens, monks.doc_start, monks.authors = tokens, np.array([0, n - n // 2, n]), np.array(["Ann"])
    expected = np.float32 if n <= EXACT_IN_FLOAT32 else np.int32
    assert inputs.word_count_type(monks) is expected
    one = WeightedAuthors(np.zeros(2, np.int32), np.arange(3), np.ones(2, np.float32), 1)
    assert inputs.author_count_type(monks, one) is expected


def test_merging_is_exact_for_wide_counts():
    counts = (np.array([2**24 + 1, 2**24 + 2**20], np.int32),)

    class Pair(tuple):
        def __new__(cls, *arrays):
            return super().__new__(cls, arrays)

    merger = Merger(Pair(*counts))
    merger.begin(SerialExecutor())
    for step in (1, 3):
        merger.sample(lambda mine, step=step: mine[0].__iadd__(np.array([step, -step], np.int32)))
    merger.finish(SerialExecutor())
    assert counts[0].tolist() == [2**24 + 5, 2**24 + 2**20 - 4]


def test_what_cannot_be_counted_is_refused_before_any_work(monkeypatch):
    assert MOST_TOKENS == 390_451_572
    monkeypatch.setattr(inputs, "EXACT_IN_FLOAT32", 50)
    monkeypatch.setattr(inputs, "MOST_TOKENS", 60)
    words = [f"w{i}" for i in range(60)]
    often, long, busy = [["a"] * 30, ["a"] * 31], [[*words[:51]]], [words[:31], words[30:]]
    for model in (
        topoi.LDA(2),
        topoi.PachinkoAllocation(2, 2),
        topoi.CorrelatedTopicModel(2),
        topoi.HierarchicalDirichletProcess(),
    ):
        with pytest.raises(
            ModelError, match=r"the word 'a' occurs 61 times; at most 60 can be counted: drop the commonest"
        ):
            model.fit(topoi.Corpus.from_tokens(often))
        with pytest.raises(ModelError, match="a document has 51 words; cut it into parts of at most 50"):
            model.fit(topoi.Corpus.from_tokens(long))
    with pytest.raises(
        ModelError, match="the documents of 'Ann' have 61 words; at most 60 can be counted: divide them"
    ):
        topoi.AuthorTopicModel(2).fit(topoi.Corpus.from_tokens(busy, authors=["Ann", "Ann"]))


@pytest.mark.slow
@pytest.mark.parametrize("n", BORDER)
def test_a_word_and_an_author_of_sixteen_million_tokens(n):
    """Whole fits: one word but for a few tokens, so that one cell passes the border."""
    lengths = np.full(2**10, n // 2**10)
    lengths[-1] += n - lengths.sum()
    tokens = np.zeros(n + 64, np.int32)
    tokens[-64:] = 1
    start = np.concatenate(([0], np.cumsum(lengths), [n + 64]))
    whole = topoi.Corpus(
        tokens=tokens,
        doc_start=start,
        vocabulary=Vocabulary(["om", "mani"]),
        doc_author=np.zeros(len(start) - 1, np.int32),
        doc_author_start=np.arange(len(start)),
        authors=["Ann"],
    )
    for model in (topoi.LDA(1, n_iter=2), topoi.AuthorTopicModel(2, alpha=[1e6, 1e-3], n_iter=2, n_shards=4)):
        model.set_params(random_state=0, progress=False).fit(whole)
        assert model.topic_sizes()["n_words"].sum() == n + 64
        assert model.chains_[0].source.word_rows(np.array([0])).sum() == n
        assert np.isfinite(model.transform(whole.subset([0, len(start) - 2]), n_samples=2)).all()
