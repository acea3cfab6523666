"""What is worked out when a model is saved, against the model itself."""

import json
import sqlite3
import zlib
from contextlib import closing

import numpy as np
import pytest

import topoi
from topoi.analysis.authorship import log_likelihoods_by
from topoi.corpus.corpus import Corpus
from topoi.models.smoothed_counts import kl_matrix, listed

FAMILIES = ("at", "fictitious", "lda", "am")


@pytest.fixture(scope="module")
def corpus():
    """Sixty documents; one names an author twice, one has no words, one no authors."""
    drawn = topoi.AuthorTopicModel(12, alpha=0.1, beta=0.05).simulate(60, doc_length=40, authors=9, random_state=0)
    authors = [
        drawn.doc_author[a:b].tolist() for a, b in zip(drawn.doc_author_start, drawn.doc_author_start[1:], strict=False)
    ]
    tokens = [drawn.tokens[a:b] for a, b in zip(drawn.doc_start, drawn.doc_start[1:], strict=False)]
    authors[3] = [authors[3][0], *authors[3]]
    tokens[7] = tokens[7][:0]
    authors[11] = []
    return Corpus(
        tokens=np.concatenate(tokens),
        doc_start=np.cumsum([0, *map(len, tokens)]),
        vocabulary=drawn.vocabulary,
        doc_author=np.concatenate(authors).astype(np.int32),
        doc_author_start=np.cumsum([0, *map(len, authors)]),
        authors=drawn.authors,
    )


@pytest.fixture(scope="module")
def models(corpus):
    options = {"n_iter": 15, "n_chains": 2, "random_state": 1}
    with pytest.warns(UserWarning, match="no authors"):
        return {
            "at": topoi.AuthorTopicModel(12, alpha=0.1, **options).fit(corpus),
            "fictitious": topoi.AuthorTopicModel(12, fictitious_authors=True, **options).fit(corpus),
            "lda": topoi.LDA(12, beta=np.linspace(0.01, 0.3, corpus.n_words), **options).fit(corpus),
            "am": topoi.AuthorModel(**options).fit(corpus),
        }


@pytest.fixture(scope="module")
def rows(models, tmp_path_factory):
    """The rows of a query about one of the models."""
    path = tmp_path_factory.mktemp("faces") / "s.topoi"
    for name, model in models.items():
        model.save(path, name=name)
    connection = sqlite3.connect(path)

    def ask(name, columns, table, more=""):
        (number,) = connection.execute("SELECT model_id FROM model WHERE name = ?", (name,)).fetchone()
        return connection.execute(f"SELECT {columns} FROM {table} WHERE model_id = ? {more}", (number,)).fetchall()

    yield ask
    connection.close()


@pytest.mark.parametrize("name", ["at", "lda"])
def test_leading_words_are_the_most_telling(rows, models, name):
    found = [json.loads(words) for (words,) in rows(name, "words", "topic", "ORDER BY topic")]
    expected = models[name].top_words(20, relevance=0.6).groupby("topic")["word"].apply(list).tolist()
    assert found == expected and [len(words) for words in found] == [20] * 12


@pytest.mark.parametrize("name", ["at", "lda"])
def test_neighbours_are_the_nearest_by_symmetrised_kl(rows, models, name):
    distance = kl_matrix(models[name].topic_word_, models[name].topic_word_)
    found = rows(name, "topic, rank, other, distance", "topic_neighbour", "ORDER BY topic, rank")
    assert len(found) == 12 * 10
    for k in range(12):
        others = sorted((j for j in range(12) if j != k), key=lambda j: distance[k, j])[:10]
        mine = [row for row in found if row[0] == k]
        assert [row[1] for row in mine] == list(range(1, 11))
        assert [row[2] for row in mine] == others
        np.testing.assert_allclose([row[3] for row in mine], distance[k, others], rtol=1e-9)


def test_fewer_topics_have_fewer_neighbours_and_no_map(corpus, tmp_path):
    topoi.LDA(2, n_iter=2, random_state=0).fit(corpus).save(tmp_path / "two")
    topoi.LDA(1, n_iter=2, random_state=0).fit(corpus).save(tmp_path / "one")
    for name, neighbours in (("two", [(0, 1, 1), (1, 1, 0)]), ("one", [])):
        with closing(sqlite3.connect(tmp_path / name)) as connection:
            assert connection.execute("SELECT topic, rank, other FROM topic_neighbour").fetchall() == neighbours
            assert set(connection.execute("SELECT x, y, glue FROM topic").fetchall()) == {(None, None, 0)}


@pytest.mark.parametrize("name", ["at", "fictitious", "lda"])
def test_topics_have_hues_and_places(rows, name):
    found = rows(name, "hue, x, y, glue", "topic")
    assert sorted(row[0] for row in found) == list(range(0, 360, 30))
    places = np.array([row[1:3] for row in found])
    assert places.min(axis=0).tolist() == [0.0, 0.0] and places.max(axis=0).tolist() == [1.0, 1.0]
    assert {row[3] for row in found} <= {0, 1}


def test_the_glue_of_a_corpus_is_marked(tmp_path):
    chance = np.random.default_rng(0)
    words = [
        [f"glue{w}" for w in chance.integers(40, size=40)]
        + [f"subject{d % 11}word{w}" for w in chance.integers(30, size=40)]
        for d in range(110)
    ]
    model = topoi.LDA(12, alpha=0.05, beta=0.01, n_iter=150, random_state=0).fit(topoi.Corpus.from_tokens(words))
    model.save(tmp_path / "s")
    with closing(sqlite3.connect(tmp_path / "s")) as connection:
        found = connection.execute("SELECT glue, words FROM topic ORDER BY topic").fetchall()
    leading = [all(word.startswith("glue") for word in json.loads(words)) for _, words in found]
    assert [bool(glue) for glue, _ in found] == leading and sum(leading) >= 1


@pytest.mark.parametrize("name", ["at", "fictitious", "am"])
def test_perplexities_are_those_of_each_author_alone(rows, models, corpus, name):
    model = models[name]
    found = {row[:2]: row[2] for row in rows(name, "author_id, document_id, perplexity", "author_document")}
    expected = {}
    for d in range(corpus.n_docs):
        one = corpus.subset([d])
        for a in corpus.doc_author[corpus.doc_author_start[d] : corpus.doc_author_start[d + 1]].tolist():
            n = corpus.doc_lengths[d]
            expected[a, d] = np.exp(-log_likelihoods_by(model, a, one)[0] / n) if n else None
    assert found.keys() == expected.keys()
    assert [key for key, value in found.items() if value is None] == [key for key in found if key[1] == 7]
    known = [key for key in found if key[1] != 7]
    np.testing.assert_allclose([found[key] for key in known], [expected[key] for key in known], rtol=1e-9)
    assert len(found) == len(corpus.doc_author) - 1  # who is named twice counts once
    assert all(d != 11 for _, d in found)


def test_chains_are_averaged(models, corpus, rows):
    found = {row[:2]: row[2] for row in rows("at", "author_id, document_id, perplexity", "author_document")}
    (a, d), perplexity = next(iter(found.items()))
    each = []
    for chain in models["at"].chains_:
        p = chain.author_topic[a] @ chain.topic_word[:, corpus.tokens[slice(*corpus.doc_start[d : d + 2])]]
        each.append(np.log(p).sum())
    assert each[0] != pytest.approx(each[1], abs=1e-3)
    expected = np.exp(-np.log(np.exp(each).mean()) / corpus.doc_lengths[d])
    assert perplexity == pytest.approx(expected, rel=1e-9)


def unpacked(blob, dtype):
    return np.frombuffer(zlib.decompress(blob), dtype)


@pytest.mark.parametrize("name", ["at", "fictitious", "lda"])
def test_mixtures_hold_the_counts(rows, models, corpus, name):
    first = models[name].chains_[0]
    doc, n = np.repeat(np.arange(corpus.n_docs), corpus.doc_lengths), first.n_samples
    expected = {"document": np.zeros((corpus.n_docs, 12), int), "word": np.zeros((corpus.n_words, 12), int)}
    for sample in first.averaged.samples:
        np.add.at(expected["document"], (doc, sample["topic"]), 1)
        np.add.at(expected["word"], (corpus.tokens, sample["topic"]), 1)
    if n == 1:
        del expected["word"]
    if name != "lda":
        expected["author"] = np.rint(first.counts.author_topic[: corpus.n_authors, :12] * n).astype(int)
        assert expected["author"].any()
    if name == "fictitious":
        expected["written"] = np.rint(first.written.counts(np.arange(corpus.n_authors)) * n).astype(int)
        assert expected["written"].sum() > expected["author"].sum()
    found = rows(name, "kind, n_rows, row_start, topic, n_tokens", "mixture")
    assert {row[0] for row in found} == expected.keys()
    for kind, n_rows, row_start, topic, n_tokens in found:
        start, topic, number = unpacked(row_start, "<i8"), unpacked(topic, "<u2"), unpacked(n_tokens, "<u4")
        assert len(start) == n_rows + 1 == len(expected[kind]) + 1 and len(topic) == len(number) == start[-1]
        dense = np.zeros_like(expected[kind])
        dense[np.repeat(np.arange(n_rows), np.diff(start)), topic] = number
        assert np.array_equal(dense, expected[kind]) and number.min() > 0
        if kind == "written":  # which has no table: it is the author's and parts of documents'
            continue
        table = "topic_word" if kind == "word" else f"{kind}_topic"
        cells = rows(name, f"{kind}_id, topic, n_tokens", table, f"ORDER BY {kind}_id, topic")
        row = np.repeat(np.arange(n_rows), np.diff(start))
        shown = listed(row, topic, number / n)
        assert cells == list(zip(*(each.tolist() for each in shown), strict=True))


def test_families_without_authors_or_topics_leave_out_what_means_nothing(rows):
    for name, table in (("lda", "author_document"), ("am", "mixture"), ("am", "topic"), ("am", "topic_neighbour")):
        assert rows(name, "*", table) == []


def test_two_hundred_are_ranked(tmp_path):
    corpus = topoi.Corpus.from_tokens([["a", "b"]] * 300, authors=[f"author {d}" for d in range(300)])
    topoi.AuthorTopicModel(1, n_iter=1, random_state=0).fit(corpus).save(tmp_path / "s")
    with closing(sqlite3.connect(tmp_path / "s")) as connection:
        for table in ("topic_author", "topic_document"):
            assert connection.execute(f"SELECT count(*), max(rank) FROM {table}").fetchone() == (200, 200)


def test_saving_again_or_on_more_threads_gives_the_same_rows(models, tmp_path):
    tables = ("topic", "topic_neighbour", "author_document", "mixture")
    found = []
    for n_jobs in (1, 2):
        model = models["at"].set_params(n_jobs=n_jobs)
        model.save(tmp_path / f"{n_jobs}")
        with closing(sqlite3.connect(tmp_path / f"{n_jobs}")) as connection:
            found.append([connection.execute(f"SELECT * FROM {table}").fetchall() for table in tables])
    assert found[0] == found[1]
