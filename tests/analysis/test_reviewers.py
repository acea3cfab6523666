"""Reviewers know the subject, and are neither the authors nor their co-authors."""

import numpy as np
import pandas as pd
import pytest

import topoi
from topoi.errors import ModelError
from topoi.retrieval.ranking import Settings

TEXT = "ship sail tide gene harbor"


def coauthors(corpus, excluded):
    return {name for names in corpus.author_lists() if set(names) & set(excluded) for name in names} - set(excluded)


@pytest.mark.parametrize("exclude", [[], ["Eve"], ["Fay"], ["Ann", "Cat"], "dan", ["Gus", "gus"]])
def test_neither_excluded_nor_their_coauthors_are_recommended(model, corpus, exclude):
    frame = topoi.recommend_reviewers(model, TEXT, n=100, exclude=exclude)
    names = [name.title() for name in ([exclude] if isinstance(exclude, str) else exclude)]
    conflict = coauthors(corpus, names)
    assert set(frame["author"]) == set(corpus.authors) - set(names) - conflict
    assert frame.attrs["n_excluded"] == len(set(names)) and frame.attrs["n_coauthors"] == len(conflict)
    assert frame.attrs["n_too_few_words"] == 0 and frame.attrs["unknown"] == []


def by_words_and_topics(model, corpus, author, tokens):
    """Mean log ratio to the background of the mixture of an author's words and topics, as in ``topoi.Search``."""
    settings = Settings()
    doc = np.repeat(np.arange(corpus.n_docs), np.diff(corpus.doc_author_start))[corpus.doc_author == author]
    own = np.concatenate([corpus.tokens[corpus.doc_start[d] : corpus.doc_start[d + 1]] for d in doc])
    total = 0.0
    for w in tokens:
        common = (corpus.tokens == w).mean()
        language = ((own == w).sum() + settings.mu * common) / (len(own) + settings.mu)
        topics = np.mean([chain.author_topic[author] @ chain.topic_word[:, w] for chain in model.chains_])
        total += np.log((settings.weight * language + (1 - settings.weight) * topics) / common)
    return total / len(tokens)


def test_scores_follow_the_definition(model, corpus):
    tokens = corpus.vocabulary.encode([TEXT]).tokens
    frame = topoi.recommend_reviewers(model, TEXT, n=100)
    assert frame.columns.tolist() == [
        "author", "rank", "score", "n_documents", "topics", "fit", "last_year", "papers",
    ]  # fmt: skip
    expected = {name: by_words_and_topics(model, corpus, a, tokens) for a, name in enumerate(corpus.authors)}
    assert frame["author"].tolist() == sorted(expected, key=lambda name: -expected[name])
    np.testing.assert_allclose(frame["score"], [expected[name] for name in frame["author"]])
    assert set(frame["author"][:2]) <= {"Eve", "Fay", "Gus"}
    written = [sum(name in names for names in corpus.author_lists()) for name in frame["author"]]
    assert frame["n_documents"].tolist() == written


def test_last_years_are_whole_numbers_or_missing(model, corpus):
    frame = topoi.recommend_reviewers(model, TEXT, n=100)
    assert frame["last_year"].dtype == "Int64"
    dated = corpus.documents["year"].notna().tolist()
    for row in frame.itertuples():
        own = [d for d, names in enumerate(corpus.author_lists()) if row.author in names and dated[d]]
        last = corpus.documents["year"].iloc[own].max() if own else None
        assert pd.isna(row.last_year) if last is None else row.last_year == last


def test_topics_are_those_by_which_the_author_explains_the_text(model, corpus):
    tokens, chain = corpus.vocabulary.encode([TEXT]).tokens, model.chains_[0]
    for row in topoi.recommend_reviewers(model, TEXT, n=100).itertuples():
        joint = chain.author_topic[corpus.authors.tolist().index(row.author), :, None] * chain.topic_word[:, tokens]
        share = (joint / joint.sum(axis=0)).mean(axis=1)
        assert row.topics == [k for k in np.argsort(-share) if share[k] >= 0.05]


def test_another_corpus_says_who_works_with_whom(model):
    recent = topoi.Corpus.from_tokens(
        [["ship"], ["ship"]], authors=[["Eve", "Gus", "Stranger"], ["Stranger", "FAY"]], ids=["x", "y"]
    )
    frame = topoi.recommend_reviewers(model, TEXT, n=100, exclude=["Eve"], corpus=recent)
    assert set(frame["author"]) == {"Ann", "Bob", "Cat", "Dan", "Fay"}
    frame = topoi.recommend_reviewers(model, TEXT, n=100, exclude=["stranger"], corpus=recent)
    assert set(frame["author"]) == {"Ann", "Bob", "Cat", "Dan"}, "letter case does not hide a conflict"
    assert frame["n_documents"].tolist() == [0, 0, 0, 0] and frame.attrs["n_excluded"] == 0


def test_unknown_names_are_warned_of_not_refused(model):
    with pytest.warns(UserWarning, match=r"not known as an author.*'Evee', 'New'; did you mean 'Eve'"):
        frame = topoi.recommend_reviewers(model, TEXT, exclude=["Evee", "Ann", "New"])
    assert frame.attrs["unknown"] == ["Evee", "New"]
    assert not {"Ann", "Bob"} & set(frame["author"])


def test_authors_of_whom_little_is_known_are_left_out(model, corpus):
    sizes = dict(zip(corpus.authors, model.chains_[0].counts.author, strict=False))
    least = sorted(sizes.values())[3]
    frame = topoi.recommend_reviewers(model, TEXT, n=100, min_words=int(least))
    assert set(frame["author"]) == {name for name, size in sizes.items() if size >= least}
    assert frame.attrs["n_too_few_words"] == 7 - len(frame)


def test_nobody_left_is_an_empty_answer(model, corpus):
    frame = topoi.recommend_reviewers(model, TEXT, exclude=corpus.authors.tolist())
    assert len(frame) == 0 and "topics" in frame and frame.attrs["n_excluded"] == 7


def test_what_cannot_be_asked_is_refused(model, lda, author_model):
    with pytest.raises(ModelError, match="AuthorModel has no topics, and reviewers are those whose mixture"):
        topoi.recommend_reviewers(author_model, TEXT)
    with pytest.raises(ModelError, match="LDA has no authors"):
        topoi.recommend_reviewers(lda, TEXT)
    with pytest.raises(ModelError, match="knows none of the words"):
        topoi.recommend_reviewers(model, "")
    with pytest.raises(ModelError, match="exclude is 5; pass a list of names"):
        topoi.recommend_reviewers(model, TEXT, exclude=5)
    with pytest.raises(ModelError, match="corpus is list; pass a topoi.Corpus"):
        topoi.recommend_reviewers(model, TEXT, corpus=[])


def test_answer_survives_a_file(model, tmp_path):
    model.save(tmp_path / "m.topoi")
    loaded = topoi.load(tmp_path / "m.topoi")
    before, after = (topoi.recommend_reviewers(m, TEXT, exclude=["Eve"]) for m in (model, loaded))
    assert before.equals(after) and before.attrs == after.attrs


def test_papers_are_those_nearest_the_text(model, corpus):
    from topoi.retrieval.expertise import bag_scores

    encoded = corpus.vocabulary.encode([TEXT]).tokens
    word, times = np.unique(encoded, return_counts=True)
    score = bag_scores(model, word, times, authors=False)
    frame = topoi.recommend_reviewers(model, TEXT, n=5, n_papers=2)
    for row in frame.itertuples():
        own = [d for d, names in enumerate(corpus.author_lists()) if row.author in names]
        assert row.papers == sorted(own, key=lambda d: (-score[d], d))[:2]
    assert topoi.recommend_reviewers(model, TEXT, n=5, n_papers=0)["papers"].tolist() == [[]] * 5


def test_authors_of_few_documents_are_left_out(model, corpus):
    every = topoi.recommend_reviewers(model, TEXT, n=100)
    least = int(every["n_documents"].median()) + 1
    some = topoi.recommend_reviewers(model, TEXT, n=100, min_documents=least)
    assert some["author"].tolist() == every.loc[every["n_documents"] >= least, "author"].tolist()
    assert some.attrs["n_others"] == len(every) - len(some) and every.attrs["n_others"] == 0
    among = np.array([name == every["author"][1] for name in corpus.authors])
    assert topoi.recommend_reviewers(model, TEXT, among=among)["author"].tolist() == [every["author"][1]]
    with pytest.raises(topoi.ModelError, match="one is needed for each"):
        topoi.recommend_reviewers(model, TEXT, among=np.ones(3, bool))


def test_a_fit_rises_with_the_score(model):
    frame = topoi.recommend_reviewers(model, TEXT, n=100)
    assert (np.diff(frame["fit"]) <= 0).all() and frame["fit"].between(0, 100).all()
