"""Topics of two fits put in correspondence."""

import copy
import math
from itertools import permutations

import numpy as np
import pytest

import topoi
from topoi.analysis.alignment import greedy_pairs, optimal_pairs
from topoi.errors import ModelError


def permuted(model, order):
    """A copy of a model whose topic ``k`` is topic ``order[k]`` of the original."""
    other = copy.copy(model)
    other.chains_ = [copy.copy(chain) for chain in model.chains_]
    first = other.chains_[0]
    for name in ("topics", "topic_word"):
        first.__dict__.pop(name, None)
    word_topic = first.counts.word_topic.copy()
    word_topic[:, : len(order)] = word_topic[:, order]
    first.source = copy.copy(first.source)
    first.source.counts = first.counts._replace(word_topic=word_topic, topic=first.counts.topic[order])
    return other


def plain_distances(a, b):
    """All distances by the definition."""
    return {
        (i, j): sum(x * math.log(x / y) + y * math.log(y / x) for x, y in zip(p, q, strict=True))
        for i, p in enumerate(a)
        for j, q in enumerate(b)
    }


def plain_alignment(a, b):
    """The pairs with the smallest sum of distances, of all there could be, the nearest first."""
    table = plain_distances(a, b)
    n_a, n_b = len(a), len(b)
    few, many = min(n_a, n_b), range(max(n_a, n_b))
    ways = [[(i, j) if n_a <= n_b else (j, i) for i, j in enumerate(way)] for way in permutations(many, few)]
    best = min(ways, key=lambda way: sum(table[pair] for pair in way))
    return sorted(best, key=table.get), table


def plain_greedy(a, b):
    """The nearest pair, again and again."""
    table = plain_distances(a, b)
    pairs, left = [], dict(table)
    while left:
        best = min(left, key=left.get)
        pairs.append(best)
        left = {pair: d for pair, d in left.items() if pair[0] != best[0] and pair[1] != best[1]}
    return pairs, table


def test_a_permuted_copy_is_found_out(lda):
    order = np.array([2, 0, 3, 1])
    found = topoi.align_topics(lda, permuted(lda, order))
    assert {(a, b) for a, b in found.pairs[["topic_a", "topic_b"]].to_numpy()} == {(order[b], b) for b in range(4)}
    np.testing.assert_allclose(found.pairs["distance"], 0, atol=1e-12)
    assert found.pairs["mutual"].all()
    assert found.pairs["words_a"].tolist() == found.pairs["words_b"].tolist()
    np.testing.assert_allclose(np.diag(found.matrix), 0, atol=1e-12)
    np.testing.assert_allclose(found.matrix, found.matrix.T, atol=1e-9)


def test_alignment_follows_the_definition(model, lda):
    found = topoi.align_topics(model, lda)
    pairs, table = plain_alignment(model.topic_word_, lda.topic_word_)
    columns = ["topic_a", "topic_b", "distance", "shared", "mutual", "words_a", "words_b"]
    assert list(found.pairs.columns) == columns
    assert list(zip(found.pairs["topic_a"], found.pairs["topic_b"], strict=True)) == pairs
    np.testing.assert_allclose(found.pairs["distance"], [table[pair] for pair in pairs])
    for row in found.pairs.itertuples():
        nearest_b = min(range(4), key=lambda b: table[row.topic_a, b])
        nearest_a = min(range(3), key=lambda a: table[a, row.topic_b])
        assert row.mutual == (nearest_b == row.topic_b and nearest_a == row.topic_a)
        assert row.words_a == model.top_words(10, topic=row.topic_a)["word"].tolist()
        assert row.words_b == lda.top_words(10, topic=row.topic_b)["word"].tolist()
    assert found.matrix.shape == (3, 4) and found.n_common_words == lda.corpus_.n_words
    assert found.matrix.index.tolist() == [a for a, _ in pairs]
    assert found.matrix.columns.tolist() == [b for _, b in pairs] + [
        b for b in range(4) if b not in dict(pairs).values()
    ]
    for a in found.matrix.index:
        for b in found.matrix.columns:
            assert found.matrix.loc[a, b] == pytest.approx(table[a, b])


def test_what_topics_share_is_the_smaller_of_their_words_shares(model, lda):
    found = topoi.align_topics(model, lda)
    a, b = ([chain.topics.counts(k)[0] for k in range(chain.n_topics)] for chain in (model.chains_[0], lda.chains_[0]))
    for i, p in enumerate(a):
        for j, q in enumerate(b):
            expected = sum(min(x / p.sum(), y / q.sum()) for x, y in zip(p, q, strict=True))
            assert found.shared.loc[i, j] == pytest.approx(expected)
    assert found.shared.index.equals(found.matrix.index) and found.shared.columns.equals(found.matrix.columns)
    n = len(found.pairs)
    np.testing.assert_allclose(found.pairs["shared"], np.diag(found.shared.to_numpy()[:n, :n]))
    itself = topoi.align_topics(lda, lda, chain_b=0)
    np.testing.assert_allclose(itself.pairs["shared"], 1.0)


@pytest.mark.parametrize("shape", [(5, 5), (3, 6), (6, 3), (1, 4), (4, 1)])
def test_no_other_pairs_have_a_smaller_sum(shape):
    rng = np.random.default_rng(sum(shape))
    better = 0
    for _ in range(20):
        table = rng.exponential(5.0, shape)
        pairs = optimal_pairs(table)
        few, many = min(shape), range(max(shape))
        turned = table if shape[0] <= shape[1] else table.T
        least = min(sum(turned[i, j] for i, j in enumerate(way)) for way in permutations(many, few))
        each = table[tuple(pairs.T)]
        assert each.sum() == pytest.approx(least)
        assert (np.diff(each) >= 0).all() and len(pairs) == few
        assert len(set(pairs[:, 0])) == len(set(pairs[:, 1])) == few
        better += table[tuple(greedy_pairs(table).T)].sum() > each.sum() + 1e-9
    assert better or min(shape) == 1  # where there is but one to choose, the nearest is the best


def test_the_papers_greedy_pairs_on_demand(model, lda, monkeypatch):
    pairs, _ = plain_greedy(model.topic_word_, lda.topic_word_)
    found = topoi.align_topics(model, lda, method="greedy")
    assert list(zip(found.pairs["topic_a"], found.pairs["topic_b"], strict=True)) == pairs
    table = np.array([[1.0, 2.0, 9.0], [1.5, 9.0, 9.5]])
    monkeypatch.setattr("topoi.models.smoothed_counts.SmoothedCounts.kl_matrix", lambda *_: table)
    first = topoi.LDA(2, n_iter=2, random_state=0).fit(topoi.Corpus.from_tokens([["x", "y"]]))
    second = topoi.LDA(3, n_iter=2, random_state=0).fit(topoi.Corpus.from_tokens([["x", "y"]]))
    sums = {m: topoi.align_topics(first, second, method=m).pairs["distance"].sum() for m in ("greedy", "optimal")}
    assert sums == {"greedy": 10.0, "optimal": 3.5}
    assert topoi.align_topics(first, second).pairs["distance"].tolist() == [1.5, 2.0]
    with pytest.raises(ModelError, match="method is 'best'"):
        topoi.align_topics(first, second, method="best")


def test_distances_do_not_depend_on_who_comes_first(model, lda):
    there, back = topoi.align_topics(model, lda), topoi.align_topics(lda, model)
    np.testing.assert_allclose(there.matrix.sort_index().T.sort_index(), back.matrix.sort_index().T.sort_index().T)


def test_chains_of_one_model(model):
    found = topoi.align_topics(model, chain_a=2, chain_b=1)
    pairs, _ = plain_alignment(model.chains_[2].topic_word, model.chains_[1].topic_word)
    assert list(zip(found.pairs["topic_a"], found.pairs["topic_b"], strict=True)) == pairs
    default = topoi.align_topics(model).pairs
    assert default.equals(topoi.align_topics(model, chain_a=0, chain_b=1).pairs)
    assert default.equals(topoi.align_topics(model, model, chain_b=1).pairs)
    assert repr(found).startswith("<Alignment of 3 and 3 topics: ")


def test_only_common_words_count(lda):
    rows = [["sun", "star", "nova", "nova", "moon"], ["gene", "cell", "virus", "virus"]] * 10
    other = topoi.LDA(2, alpha=0.1, n_iter=40, random_state=0).fit(topoi.Corpus.from_tokens(rows))
    found = topoi.align_topics(lda, other)
    common = ["sun", "star", "moon", "gene", "cell"]
    assert found.n_common_words == 5
    a, b = (m.topic_word_[:, [m.vocabulary_.index(word) for word in common]] for m in (lda, other))
    pairs, table = plain_alignment(a / a.sum(axis=1, keepdims=True), b / b.sum(axis=1, keepdims=True))
    assert list(zip(found.pairs["topic_a"], found.pairs["topic_b"], strict=True)) == pairs
    np.testing.assert_allclose(found.pairs["distance"], [table[pair] for pair in pairs])
    assert "nova" in found.pairs["words_b"].iloc[0] or "virus" in found.pairs["words_b"].iloc[0]
    assert [len(words) for words in topoi.align_topics(lda, other, n_words=2).pairs["words_a"]] == [2, 2]


def test_ties_go_to_the_first_row_then_the_first_column():
    assert greedy_pairs(np.zeros((2, 3))).tolist() == [[0, 0], [1, 1]]
    assert greedy_pairs(np.array([[2.0, 1.0], [1.0, 1.0], [0.5, 3.0]])).tolist() == [[2, 0], [0, 1]]


def test_what_cannot_be_aligned_is_refused(model, lda, author_model):
    single = topoi.LDA(2, n_iter=2, random_state=0).fit(topoi.Corpus.from_tokens([["x", "y"]]))
    with pytest.raises(ModelError, match=r"chain_b is 1, but the model has 1 chain.*fit with n_chains=2"):
        topoi.align_topics(single)
    with pytest.raises(ModelError, match="chain_a is 7"):
        topoi.align_topics(model, lda, chain_a=7)
    with pytest.raises(ModelError, match="chain_a is -1"):
        topoi.align_topics(model, chain_a=-1)
    with pytest.raises(ModelError, match="no word in common"):
        topoi.align_topics(model, single)
    with pytest.raises(ModelError, match="AuthorModel has no topics, and topics are what is aligned"):
        topoi.align_topics(model, author_model)
    with pytest.raises(ModelError, match="n_words is 0"):
        topoi.align_topics(model, n_words=0)


def test_a_loaded_model_aligns_with_itself(model, tmp_path):
    model.save(tmp_path / "m.topoi")
    found = topoi.align_topics(model, topoi.load(tmp_path / "m.topoi"))
    assert (found.pairs["topic_a"] == found.pairs["topic_b"]).all()


def test_given_aspects_are_aligned_by_their_words():
    rng = np.random.default_rng(0)
    shares, words = rng.dirichlet(np.full(40, 0.1), 4), [f"w{w}" for w in range(40)]
    first = topoi.AspectModel.from_parameters(shares, 0.1, words)
    second = topoi.AspectModel.from_parameters(shares[[2, 0, 3, 1]], 0.1, words)
    pairs = topoi.align_topics(first, second, n_words=3).pairs.sort_values("topic_b")
    assert pairs["topic_a"].tolist() == [2, 0, 3, 1]
    assert pairs["words_a"].tolist() == [[words[w] for w in np.argsort(-shares[k])[:3]] for k in (2, 0, 3, 1)]
    strangers = topoi.AspectModel.from_parameters(rng.dirichlet(np.full(40, 0.1), 4), 0.1, words)
    assert topoi.evaluation.stability([first, strangers]).attrs["overlap"] < 0.6
