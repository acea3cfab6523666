"""Who could have written a text, and which of an author's documents the author would hardly have written."""

import numpy as np
import pytest

import topoi
from topoi.errors import ModelError, NotFoundError
from topoi.models.mixing import MU, WEIGHT
from topoi.models.smoothed_counts import whole_tokens


def word_probability(model, chain, author, word):
    """P(word | author) by the definition."""
    if isinstance(model, topoi.AuthorModel):
        sampler, counts = model._sampler, model.chains_[chain]
        at = np.flatnonzero(sampler.keys == author * sampler.n_words + word)
        n = counts.pair[at[0]] if len(at) else 0
        return (n + model.beta_[word]) / (counts.author[author] + model.beta_.sum())
    posterior = model.chains_[chain]
    return sum(posterior.author_topic[author, k] * posterior.topic_word[k, word] for k in range(posterior.n_topics))


def probability(model, author, tokens):
    """P(document | author): the product over words, averaged over chains."""
    n_chains = len(model.chains_)
    return np.mean([np.prod([word_probability(model, s, author, w) for w in tokens]) for s in range(n_chains)])


def mixed_probability(model, author, tokens):
    """P(document | author): the product over words of the mixture, in which topics are averaged over chains."""
    corpus, product = model.corpus_, 1.0
    own = [d for d in range(corpus.n_docs) if corpus.authors[author] in corpus.author_lists()[d]]
    written = np.concatenate([corpus[d].tokens for d in own])
    for w in tokens:
        topics = np.mean([word_probability(model, s, author, w) for s in range(len(model.chains_))])
        language = ((written == w).sum() + MU * (corpus.tokens == w).mean()) / (len(written) + MU)
        product *= WEIGHT * language + (1 - WEIGHT) * topics
    return product


@pytest.fixture(params=["model", "author_model"])
def any_model(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("author", ["Ann", "Dan", "Gus"])
def test_unusual_documents_follow_the_definition(any_model, corpus, author):
    frame = topoi.unusual_documents(any_model, author=author)
    assert frame.columns.tolist() == ["document", "id", "title", "year", "n_words", "perplexity"]
    a = corpus.authors.tolist().index(author)
    mine = [d for d, names in enumerate(corpus.author_lists()) if author in names]
    assert sorted(frame["document"]) == mine
    assert frame.attrs["author"] == author
    full = frame[frame["n_words"] > 0]
    assert full["perplexity"].is_monotonic_decreasing
    for row in full.itertuples():
        tokens = corpus[row.document].tokens
        assert row.n_words == len(tokens)
        assert row.perplexity == pytest.approx(probability(any_model, a, tokens) ** (-1 / len(tokens)), rel=1e-5)
        assert row.id == f"p{row.document}" and (row.document == 3 or row.title == f"Paper {row.document}")


def test_empty_documents_have_no_perplexity_and_come_last(any_model):
    frame = topoi.unusual_documents(any_model, author="Fay")
    assert frame["document"].iloc[-1] == 21 and frame["n_words"].iloc[-1] == 0
    assert np.isnan(frame["perplexity"].iloc[-1]) and frame["perplexity"].iloc[:-1].notna().all()


def test_equally_surprising_documents_stay_in_order():
    corpus = topoi.Corpus.from_tokens([["a", "b"]] * 5, authors=["Ann"] * 5)
    model = topoi.AuthorTopicModel(2, n_iter=5, random_state=0).fit(corpus)
    frame = topoi.unusual_documents(model, author="ann")
    assert frame["document"].tolist() == [0, 1, 2, 3, 4]
    assert "title" not in frame and "year" not in frame


def test_another_corpus_may_have_words_and_authors_the_model_does_not_know(any_model, recwarn):
    other = topoi.Corpus.from_tokens(
        [["nova", "sun"], ["gene", "gene", "cell"], ["ship"]], authors=[["New", "Ann"], ["Ann"], ["New"]]
    )
    frame = topoi.unusual_documents(any_model, other, author="Ann")
    assert frame["document"].tolist() == [1, 0] and frame["n_words"].tolist() == [3, 1]
    assert [str(w.message)[:6] for w in recwarn] == ["1 of 5"], "of co-authors it says nothing"
    words = any_model.vocabulary_
    a = any_model.authors_.tolist().index("Ann")
    expected = probability(any_model, a, [words.index("gene")] * 2 + [words.index("cell")]) ** (-1 / 3)
    assert frame["perplexity"][0] == pytest.approx(expected, rel=1e-5)


def test_author_without_documents_there(model, corpus):
    rest = corpus.subset([2, 3])
    assert len(topoi.unusual_documents(model, rest, author="Ann")) == 0
    with pytest.raises(NotFoundError, match="no author 'Ann'"):
        topoi.unusual_documents(model, topoi.Corpus.from_tokens([["sun"]], authors=["Bob"]), author="Ann")


def test_private_authors_do_not_count(corpus):
    """With fictitious authors too, the question is about the author alone."""
    with pytest.warns(UserWarning, match="no authors"):
        model = topoi.AuthorTopicModel(3, alpha=0.2, fictitious_authors=True, n_iter=20, random_state=0).fit(corpus)
    row = topoi.unusual_documents(model, author="Cat").iloc[0]
    tokens = corpus[row["document"]].tokens
    expected = probability(model, 2, tokens) ** (-1 / len(tokens))
    assert corpus.authors[2] == "Cat" and row["perplexity"] == pytest.approx(expected)


def test_namesakes_minor_work_is_the_most_surprising():
    """Two people under one name: the documents of the one who wrote less come first."""
    names = [f"author {d % 10}" for d in range(200)]
    true = topoi.AuthorTopicModel(10, alpha=0.05, beta=0.02)
    planted = true.simulate(200, 80, authors=[[name] for name in names], random_state=5)
    mixtures = planted.truth.author_topic
    overlap = mixtures @ mixtures[0]
    minor = planted.authors[int(overlap.argmin())]  # the author with least in common with the first
    of_minor = [d for d, name in enumerate(names) if name == minor][:4]
    kept = [d for d in range(200) if names[d] != minor or d in of_minor]
    rows = [planted[d].words for d in kept]
    authors = [planted.authors[0] if names[d] == minor else names[d] for d in kept]
    merged = topoi.Corpus.from_tokens(rows, authors=authors, ids=[str(d) for d in kept])
    model = topoi.AuthorTopicModel(10, alpha=0.05, beta=0.02, n_iter=100, n_chains=2, random_state=0).fit(merged)
    frame = topoi.unusual_documents(model, author=planted.authors[0])
    assert len(frame) == 24
    assert set(frame["id"][:4]) == {str(d) for d in of_minor}
    assert frame["perplexity"][3] > 1.2 * frame["perplexity"][4]


def test_likely_authors_follow_the_definition(any_model, corpus):
    text = "sun gene gene tide quux"
    tokens = corpus.vocabulary.encode([text]).tokens
    chance = probability if isinstance(any_model, topoi.AuthorModel) else mixed_probability
    each = np.array([chance(any_model, a, tokens) for a in range(corpus.n_authors)])
    frame = topoi.likely_authors(any_model, text, n=100)
    assert frame.columns.tolist() == ["author", "rank", "log_likelihood", "probability", "n_words", "score"]
    order = np.argsort(-each, kind="stable")
    assert frame["author"].tolist() == corpus.authors[order].tolist()
    np.testing.assert_allclose(frame["log_likelihood"], np.log(each[order]), rtol=1e-5)
    anywhere = np.log([(corpus.tokens == w).mean() for w in tokens]).sum()
    np.testing.assert_allclose(frame["score"], (np.log(each[order]) - anywhere) / 4, atol=1e-5)
    calibration = any_model.author_calibration_
    weight = each[order] ** (1 / (calibration.base + calibration.per_word * 4))
    expected = (1 - calibration.noise) * weight / weight.sum() + calibration.noise / 7
    np.testing.assert_allclose(frame["probability"], expected, rtol=1e-4)
    assert frame["rank"].tolist() == list(range(1, 8))
    assert frame.attrs == {"n_known": 4, "n_unknown": 1, "n_calibration": 40, "rows": order.tolist()}
    chain = any_model.chains_[0]
    sizes = getattr(chain, "counts", chain).author
    assert frame["n_words"].tolist() == whole_tokens(sizes[order]).tolist()
    assert topoi.likely_authors(any_model, text, n=2)["author"].tolist() == frame["author"].tolist()[:2]


def test_equally_likely_authors_stay_in_order():
    corpus = topoi.Corpus.from_tokens([["a", "b"]] * 6, authors=["Cid", "Ann", "Bob"] * 2)
    model = topoi.AuthorTopicModel(1, n_iter=2, random_state=0).fit(corpus)
    frame = topoi.likely_authors(model, "a a b")
    assert frame["author"].tolist() == model.authors_.tolist()
    np.testing.assert_allclose(frame["probability"], 1 / 3)


def test_long_texts_do_not_underflow(model):
    frame = topoi.likely_authors(model, "gene " * 20_000)
    assert np.isfinite(frame["log_likelihood"]).all() and frame["probability"].sum() == pytest.approx(1)


def test_one_author_corpus():
    corpus = topoi.Corpus.from_tokens([["a", "b"], ["a"]], authors=["Ann", "Ann"])
    for model in (topoi.AuthorTopicModel(2, n_iter=3, random_state=0), topoi.AuthorModel(n_iter=3, random_state=0)):
        frame = topoi.likely_authors(model.fit(corpus), "a b b")
        assert frame["author"].tolist() == ["Ann"] and frame["probability"].tolist() == [1.0]
        assert len(topoi.unusual_documents(model, author="Ann")) == 2


def test_what_cannot_be_asked_is_refused(model, lda, corpus):
    with pytest.raises(ModelError, match="LDA has no authors; fit an AuthorTopicModel"):
        topoi.unusual_documents(lda, author="Ann")
    with pytest.raises(ModelError, match="LDA has no authors"):
        topoi.likely_authors(lda, "sun")
    with pytest.raises(ModelError, match="corpus is 'Ann'; pass a topoi.Corpus, and the name as author="):
        topoi.unusual_documents(model, "Ann")
    with pytest.raises(ModelError, match="author is None; pass a name, as in author='Ann'"):
        topoi.unusual_documents(model)
    with pytest.raises(NotFoundError, match="no author 'Anne'; did you mean 'Ann'"):
        topoi.unusual_documents(model, author="Anne")
    with pytest.raises(ModelError, match="knows none of the words"):
        topoi.likely_authors(model, "quux")
    with pytest.raises(ModelError, match="text is list; pass one string"):
        topoi.likely_authors(model, ["sun"])
    with pytest.raises(ModelError, match="n is 0; it must be a whole number"):
        topoi.likely_authors(model, "sun", n=0)
    with pytest.raises(ValueError, match="not fitted"):
        topoi.likely_authors(topoi.AuthorTopicModel(2), "sun")


def test_answers_survive_a_file(any_model, tmp_path):
    any_model.save(tmp_path / "m.topoi")
    loaded = topoi.load(tmp_path / "m.topoi")
    assert topoi.unusual_documents(loaded, author="Dan").equals(topoi.unusual_documents(any_model, author="Dan"))
    assert topoi.likely_authors(loaded, "sun tide").equals(topoi.likely_authors(any_model, "sun tide"))
    any_model.save(tmp_path / "bare.topoi", corpus=False)
    bare = topoi.unusual_documents(topoi.load(tmp_path / "bare.topoi"), author="Dan")
    assert bare.columns.tolist() == ["document", "id", "n_words", "perplexity"]
    assert bare["document"].tolist() == topoi.unusual_documents(any_model, author="Dan")["document"].tolist()


def test_rows_are_those_of_the_whole_matrices(model):
    for chain in model.chains_:
        rows, words = [5, 0, 3], np.array([2, 7])
        np.testing.assert_allclose(chain.authors.shares(rows), chain.author_topic[rows], rtol=1e-12)
        np.testing.assert_array_equal(chain.word_columns(words), chain.topic_word[:, words])
