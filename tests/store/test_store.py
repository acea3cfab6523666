"""One file, several models: the same bits come back, and others can read the rows."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest

import topoi
from store.samples import small_corpus
from topoi.errors import NotFoundError, StoreError
from topoi.store.queries import QUERIES


def arrays_of(model):
    return [a for chain in model._chains for a in model._sampler.to_arrays(chain).values()]


def same_model(a, b):
    assert type(a) is type(b)
    assert all(np.array_equal(x, y) for x, y in zip(arrays_of(a), arrays_of(b), strict=True))
    assert a.fit_info_ == b.fit_info_ and a.trace_.equals(b.trace_)


def same_corpus(a, b):
    assert a.fingerprint() == b.fingerprint() and a.texts == b.texts
    pd.testing.assert_frame_equal(a.documents, b.documents)
    for name in ("tokens", "doc_start", "doc_author", "doc_author_start", "token_start", "token_end"):
        x, y = getattr(a, name), getattr(b, name)
        assert x.dtype == y.dtype and np.array_equal(x, y)
    assert a.report.to_dict() == b.report.to_dict()
    assert a.vocabulary.analyzer.to_dict() == b.vocabulary.analyzer.to_dict()


def test_models_of_all_families_share_one_corpus(path, models, corpus):
    assert [p.name for p in path.parent.iterdir()] == ["s.topoi"]
    for name, model in models.items():
        loaded = topoi.load(path, name)
        same_model(loaded, model)
        same_corpus(loaded.corpus_, corpus)
    with topoi.open_store(path) as store:
        frame = store.models()
        same_corpus(store.corpus(), corpus)
        assert store.sql("SELECT count(*) AS n FROM document")["n"].tolist() == [15]
    assert frame["name"].tolist() == ["at", "lda", "am"]
    assert frame["model"].tolist() == ["AuthorTopicModel", "LDA", "AuthorModel"]
    assert frame["n_topics"].tolist() == [3, 2, pd.NA]
    assert frame["n_iter"].tolist() == [12] * 3 and frame["seed"].tolist() == [3] * 3


def test_without_a_name_the_last_saved_is_loaded(path, models):
    same_model(topoi.load(path), models["am"])
    models["lda"].save(path, name="lda")
    same_model(topoi.load(topoi.open_store(path)), models["lda"])
    with pytest.raises(NotFoundError, match=r"s\.topoi.*'nobody'.*'at', 'am', 'lda'"):
        topoi.load(path, "nobody")


def test_saving_into_an_open_store_is_seen_by_it(path, models):
    store = topoi.open_store(path)
    assert len(store.models()) == 3
    models["lda"].save(store, name="again")
    assert store.models()["name"].tolist()[-1] == "again"
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.models()


def test_another_corpus_is_refused_and_nothing_changes(path, models):
    before = path.read_bytes()
    other = topoi.LDA(2, n_iter=1, random_state=0).fit(small_corpus(min_df=6))
    with pytest.raises(StoreError, match="another corpus.*one file, one corpus"):
        other.save(path)
    assert path.read_bytes() == before
    other.save(path, replace_file=True)
    assert topoi.open_store(path).models()["name"].tolist() == ["LDA"]


def test_texts_can_stay_out_and_come_later(models, corpus, tmp_path):
    path = tmp_path / "s"
    models["at"].save(path, corpus=False)
    for private in (b"secretword", b"title 3", b"ACL"):
        assert (private in path.read_bytes()) == (private == b"secretword")  # a word of the vocabulary
    assert b"Genes make cells" not in path.read_bytes()
    assert topoi.open_store(path).sql("SELECT count(*) AS n FROM topic_trend")["n"].tolist() == [0]
    assert topoi.load(path).corpus_.texts is None
    models["lda"].save(path)
    same_corpus(topoi.load(path, "AuthorTopicModel").corpus_, corpus)
    models["am"].save(path, corpus=False)
    assert topoi.load(path).corpus_.texts == corpus.texts


def relabelled(corpus, **changes):
    return small_corpus(metadata={"venue": ["NIPS", "ACL", "ACL"] * 5, "keys": [["z"], [], []] * 5}, **changes)


def test_other_metadata_replace_those_of_the_file(models, corpus, tmp_path):
    path = tmp_path / "s.topoi"
    topoi.LDA(3, n_iter=2, random_state=0, doc_labels="venue").fit(corpus).save(path)
    other = relabelled(corpus)
    assert other.fingerprint() == corpus.fingerprint()
    model = topoi.LDA(3, n_iter=2, random_state=0, doc_labels="venue").fit(other)
    model.save(path)
    again = topoi.load(path)
    same_corpus(again.corpus_, other)
    same_model(again, model)
    np.testing.assert_array_equal(again.resume(3).doc_topic_, model.resume(3).doc_topic_)
    found = topoi.open_store(path).sql("SELECT metadata FROM document WHERE document_id = 1")["metadata"][0]
    assert json.loads(found) == {"venue": "ACL", "keys": []}


def test_other_metadata_are_refused_beside_a_model_that_was_fitted_with_those_of_the_file(path, corpus):
    before = path.read_bytes()
    model = topoi.LDA(3, n_iter=2, random_state=0, doc_labels="venue").fit(relabelled(corpus))
    with pytest.raises(StoreError, match="other metadata.*'at' was fitted.*save to another file"):
        model.save(path, name="labelled")
    assert path.read_bytes() == before


def test_metadata_come_to_a_file_without_any_and_texts_stay(models, corpus, tmp_path):
    path = tmp_path / "s.topoi"
    models["at"].save(path, corpus=False)
    other = relabelled(corpus)
    other.texts = other.token_start = other.token_end = None
    topoi.LDA(2, n_iter=2, random_state=0).fit(other).save(path, name="first")
    assert topoi.load(path, "AuthorTopicModel").corpus_.documents["venue"].tolist()[:2] == ["NIPS", "ACL"]

    models["lda"].save(path.with_name("t.topoi"))
    topoi.LDA(2, n_iter=2, random_state=0).fit(other).save(path.with_name("t.topoi"), name="LDA")
    found = topoi.load(path.with_name("t.topoi")).corpus_
    assert found.texts == corpus.texts
    assert found.documents["venue"].tolist()[:2] == ["NIPS", "ACL"]


def test_a_corpus_without_metadata_leaves_those_of_the_file(path, corpus):
    plain = small_corpus(metadata=None, titles=None, dates=None)
    topoi.LDA(2, n_iter=1, random_state=0).fit(plain).save(path, name="plain")
    same_corpus(topoi.load(path, "plain").corpus_, corpus)


def test_rows_agree_with_the_model(path, models):
    model = models["at"]
    store = topoi.open_store(path)

    def rows(name, **given):
        with store.connection() as connection:
            return pd.read_sql(QUERIES[name], connection, params={"model_id": 1, "n": 1000} | given)

    for k in range(3):
        ours = rows("topic_words", topic=k)
        theirs = model.top_words(len(ours), topic=k)
        np.testing.assert_allclose(sorted(ours["probability"]), sorted(theirs["probability"]), rtol=1e-12)
        authors, expected = rows("topic_authors", topic=k), model.top_authors(10, topic=k, by="words")
        expected = expected[expected["n_words"] > 0]
        assert authors["author"].tolist() == expected["author"].tolist()
        np.testing.assert_allclose(authors["probability"], expected["probability"], rtol=1e-12)
        documents, expected = rows("topic_documents", topic=k), topoi.topic_documents(model, k, 15)
        expected = expected[expected["n_words"] > 0]
        assert documents["document_id"].tolist() == expected["document"].tolist()
        np.testing.assert_allclose(documents["share"], expected["share"], rtol=1e-12)
        trends = topoi.topic_trends(model)
        trends = trends[trends["topic"] == k]
        trend = rows("topic_trend", topic=k)
        assert trend["year"].tolist() == trends["year"].tolist()
        np.testing.assert_allclose(trend["share"], trends["share"])
    assert rows("topics")["n_tokens"].tolist() == model.topic_sizes()["n_words"].tolist()
    ann = int(rows("author_by_name", author="ann")["author_id"][0])
    expected = model.author_topics("Ann")
    assert sorted(rows("author_topics", author_id=ann)["n_tokens"]) == sorted(n for n in expected["n_words"] if n)
    assert rows("author_documents", author_id=ann)["document_id"].tolist() == [d for d in range(15) if d % 3 != 1]
    assert rows("search", match="genes")["document_id"].tolist().__len__() == 10
    words = rows("author_words", model_id=3, author_id=ann)
    assert set(words["word"]) <= set(model.vocabulary_.words)


def test_tokens_can_be_coloured_from_blobs(path, models, corpus):
    store = topoi.open_store(path)
    with store.connection() as connection:
        row = connection.execute(
            "SELECT text, word_ids, starts, lengths, topics, author_positions FROM document "
            "JOIN document_token USING (document_id) JOIN document_assignment USING (document_id) "
            "WHERE document_id = 2 AND model_id = 1"
        ).fetchone()
    text, (words, starts), lengths, topics = row[0], [np.frombuffer(b, "<u2") for b in row[1:3]], row[3], row[4]
    assert [text[s : s + n].lower() for s, n in zip(starts, lengths, strict=True)] == corpus.words[words].tolist()
    here = slice(*corpus.doc_start[2:4])
    assert np.frombuffer(topics, "<u2").tolist() == models["at"].chains_[0].assignments.topic[here].tolist()
    assert list(row[5]) == models["at"].chains_[0].assignments.slot[here].tolist()


@pytest.mark.parametrize("name", QUERIES)
def test_pages_read_from_indexes(path, name):
    given = {"model_id": 1, "topic": 0, "node": 1, "author_id": 0, "document_id": 0, "word_id": 0, "n": 5}
    given |= {"author": "Ann", "word": "stars", "match": "stars", "year": 2002, "skip": 3}
    with topoi.open_store(path).connection() as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {QUERIES[name]}", given).fetchall()
    scans = [row[3] for row in plan if row[3].startswith("SCAN") and "VIRTUAL TABLE INDEX" not in row[3]]
    assert scans == []


@pytest.mark.parametrize("name", ["authors_by_documents", "documents_of_year"])
def test_long_lists_are_read_page_by_page_in_order(path, corpus, name):
    written = np.bincount(corpus.doc_author)
    years = corpus.documents["year"].tolist()
    expected = {
        "authors_by_documents": sorted(range(corpus.n_authors), key=lambda a: (-written[a], a)),
        "documents_of_year": [d for d in range(corpus.n_docs) if years[d] == 2002],
    }[name]
    with topoi.open_store(path).connection() as connection:
        pages = [
            connection.execute(QUERIES[name], {"year": 2002, "n": 2, "skip": skip}).fetchall() for skip in (0, 2, 4)
        ]
        plan = connection.execute(f"EXPLAIN QUERY PLAN {QUERIES[name]}", {"year": 2002, "n": 2, "skip": 0}).fetchall()
    assert [row[0] for page in pages for row in page] == expected and len(expected) == 3
    assert [row[3][:6] for row in plan] == ["SEARCH"]  # and nothing is sorted


def test_others_can_read_it(path):
    connection = sqlite3.connect(path)  # as Datasette or pandas would
    frame = pd.read_sql("SELECT word, n_tokens FROM word ORDER BY n_tokens DESC, word LIMIT 2", connection)
    assert frame.values.tolist() == [["genes", 10], ["stars", 10]]
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    metadata = [json.loads(m) for (m,) in connection.execute("SELECT metadata FROM document LIMIT 2")]
    assert metadata == [{"venue": "ACL", "keys": ["a"]}, {"venue": None, "keys": ["b", "c"]}]
    connection.close()


def test_replacing_a_model_leaves_nothing_of_the_old(path, models):
    size = path.stat().st_size
    for _ in range(3):
        models["at"].save(path, name="at")
    connection = sqlite3.connect(path)
    tables = ("topic_word", "document_assignment", "array", "trace")
    for table in tables:
        known = f"SELECT count(*) FROM {table} WHERE model_id NOT IN (SELECT model_id FROM model)"
        assert connection.execute(known).fetchone()[0] == 0
    orphans = "SELECT count(*) FROM array_part WHERE array_id NOT IN (SELECT array_id FROM array)"
    assert connection.execute(orphans).fetchone()[0] == 0
    assert path.stat().st_size <= 1.3 * size
    connection.close()


NASTY = ["'; DROP TABLE model; --", 'a"b', "<script>", "ünï ☃ 🎉", "x" * 200, "%_", "model\u2028name"[:5]]


@pytest.mark.parametrize("name", NASTY)
def test_names_are_only_names(models, tmp_path, name):
    models["lda"].save(tmp_path / "s", name=name)
    store = topoi.open_store(tmp_path / "s")
    assert store.models()["name"].tolist() == [name]
    same_model(topoi.load(tmp_path / "s", name), models["lda"])
    store.set_label(name, 0, name)
    assert store.labels(name) == {0: name}


@pytest.mark.parametrize("name", [" ", "x" * 201, "a\nb", "a\0b"])
def test_names_that_cannot_be_read_are_refused(models, tmp_path, name):
    with pytest.raises(StoreError, match="name"):
        models["lda"].save(tmp_path / "s", name=name)
    assert list(tmp_path.iterdir()) == []


def test_strange_texts_come_back_whole(tmp_path):
    texts = ["stars\0shine 🎉 stars", "genes ‮rtl‬ \ufeff make", "stars " * 30_000, "", "'); DROP TABLE word; --"]
    titles = ["T" * 2**20, "a\0b", "<script>alert(1)</script>", None, "🎉"]
    authors = [["O'Brien\0", "x" * 5000], ["🎉"], [], ['"; --'], ["a"]]
    corpus = topoi.Corpus.from_texts(texts, authors=authors, titles=titles, min_df=1, max_df=1.0)
    topoi.LDA(2, n_iter=2, random_state=0).fit(corpus).save(tmp_path / "s")
    same_corpus(topoi.load(tmp_path / "s").corpus_, corpus)
    store = topoi.open_store(tmp_path / "s")
    assert store.sql("SELECT text FROM document WHERE document_id = 0")["text"][0] == texts[0]
    assert store.sql("SELECT length(title) AS n FROM document WHERE document_id = 0")["n"][0] == 2**20


def test_corpora_without_texts_authors_or_offsets(tmp_path):
    model = topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 0, 2], [0, 0, 0], [0, 3, 0]])
    model.save(tmp_path / "s")
    loaded = topoi.load(tmp_path / "s")
    assert loaded.corpus_.texts is None and loaded.corpus_.token_start is None
    assert np.array_equal(loaded.corpus_.doc_start, model.corpus_.doc_start)
    same_model(loaded, model)


@pytest.mark.slow
def test_large_vocabulary_and_many_authors(tmp_path):
    words = [[f"w{i}" for i in range(70_000)], ["w1"]]
    authors = [[f"author {i}" for i in range(300)], ["author 0"]]
    corpus = topoi.Corpus.from_tokens(words, authors=authors)
    model = topoi.AuthorTopicModel(2, n_iter=1, random_state=0).fit(corpus)
    model.save(tmp_path / "s")
    assert np.array_equal(topoi.load(tmp_path / "s").corpus_.tokens, corpus.tokens)
    row = topoi.open_store(tmp_path / "s").sql("SELECT length(author_positions) AS n FROM document_assignment LIMIT 1")
    assert row["n"].tolist() == [140_000]


def test_labels_stay_with_their_chain_only(models, corpus, tmp_path):
    path = tmp_path / "s"
    model = topoi.LDA(2, n_iter=5, random_state=1).fit(corpus)
    model.save(path)
    store = topoi.open_store(path)
    store.set_label("LDA", 0, "  Sun ")
    store.set_label(None, 1, "Genes")
    store.set_label(None, 1, "Biology")
    assert store.labels() == {0: "Sun", 1: "Biology"}
    store.set_label(None, 1, "")
    assert store.labels("LDA") == {0: "Sun"}
    model.resume(3).save(path)
    assert store.labels() == {0: "Sun"} and store.models()["n_iter"].tolist() == [8]
    models["am"].save(path)
    assert store.labels("LDA") == {0: "Sun"}
    topoi.LDA(2, n_iter=5, random_state=2).fit(corpus).save(path)
    assert store.labels("LDA") == {}
    for topic in (2, -1, True, "0", 1.0):
        with pytest.raises(NotFoundError, match="no topic"):
            store.set_label("LDA", topic, "x")
    with pytest.raises(NotFoundError, match="has no topics"):
        store.set_label("AuthorModel", 0, "x")
    with pytest.raises(StoreError, match="1000"):
        store.set_label("LDA", 0, "x" * 1001)
    with pytest.raises(NotFoundError, match="no model 'x'"):
        store.labels("x")
