"""What authors wrote where documents have private authors: their own words, and parts of the private ones."""

import numpy as np
import pytest

import topoi
from topoi.models.share_moments import Moments, Sums, between_samples, group_moments, mixture_moments
from topoi.models.smoothed_counts import SmoothedCounts
from topoi.models.written import written_words


@pytest.fixture(scope="module")
def corpus():
    plan = topoi.AuthorTopicModel(4, alpha=0.1, beta=0.05, fictitious_authors=True)
    return plan.simulate(90, 30, authors=9, random_state=5)


@pytest.fixture(scope="module")
def model(corpus):
    return topoi.AuthorTopicModel(4, n_iter=60, random_state=0, fictitious_authors=True).fit(corpus)


def parts_of(corpus, samples, n_topics):
    """Words per topic of each pair of a document and one of its authors, counted one by one."""
    parts = np.zeros((len(corpus.doc_author), n_topics))
    for sample in samples:
        for d in range(corpus.n_docs):
            first, end = corpus.doc_author_start[d], corpus.doc_author_start[d + 1]
            for i in range(corpus.doc_start[d], corpus.doc_start[d + 1]):
                slot, k = int(sample["slot"][i]), sample["topic"][i]
                if first + slot < end:
                    parts[first + slot, k] += 1
                else:
                    parts[first:end, k] += 1 / max(end - first, 1)
    return parts / len(samples)


def sums(parts):
    lengths = parts.sum(axis=1)
    return Sums(
        float((lengths > 0).sum()), parts.sum(axis=0), float(lengths.sum()), (parts**2).sum(axis=0),
        lengths @ parts, float(lengths @ lengths),
    )  # fmt: skip


def test_counts_and_deviations_are_those_of_a_recount(corpus, model):
    chain = model.chains_[0]
    samples = chain.averaged.samples
    assert len(samples) > 1
    parts = parts_of(corpus, samples, 4)
    assert parts.sum() == pytest.approx(corpus.n_tokens)
    counts = np.stack([parts[corpus.doc_author == a].sum(axis=0) for a in range(9)])
    np.testing.assert_allclose(chain.written.counts(np.arange(9)), counts, atol=0.5 / len(samples) + 1e-9)
    each = np.stack(
        [
            [own[corpus.doc_author == a].sum(axis=0) + chain.alpha for a in range(9)]
            for own in (parts_of(corpus, [sample], 4) for sample in samples)
        ]
    )
    shares = each / each.sum(axis=2, keepdims=True)
    found = chain.author_moments(np.arange(9))
    for a in range(9):
        by_documents = group_moments(sums(parts[corpus.doc_author == a]), sums(parts)).deviation * (counts[a] > 0)
        between = np.hypot(by_documents, between_samples(shares[:, a]) * (counts[a] > 0))
        mean = (counts[a] + chain.alpha) / (counts[a].sum() + chain.alpha_sum)
        wanted = mixture_moments(mean, np.asarray(counts[a].sum() + chain.alpha_sum), between)
        np.testing.assert_allclose(found.mean[a], wanted.mean, atol=0.002)
        np.testing.assert_allclose(found.deviation[a], wanted.deviation, rtol=0.01)


def test_frames_views_and_files_say_the_same(corpus, model, tmp_path):
    model.save(tmp_path / "m.topoi")
    view, loaded = topoi.view(tmp_path / "m.topoi"), topoi.load(tmp_path / "m.topoi")
    questions = [
        lambda one: one.author_topics(),
        lambda one: one.top_authors(5),
        lambda one: one.top_authors(5, by="words"),
        lambda one: topoi.similar_authors(one, "author 1"),
    ]
    for ask in questions:
        wanted = ask(model)
        assert ask(loaded).equals(wanted)
        np.testing.assert_allclose(
            ask(view).select_dtypes("number"), wanted.select_dtypes("number"), rtol=1e-12, err_msg=str(wanted)
        )
    # Every word of a document with authors is somebody's, in lists as in the file's table of leading authors.
    assert model.author_topics()["n_words"].sum() == pytest.approx(corpus.n_tokens, abs=20)
    assert model.chains_[0].authors.totals.sum() < 0.9 * corpus.n_tokens
    leading = view.leading_authors(2, 9).set_index("author")["n_words"]
    listed = model.top_authors(9, topic=2, by="words").set_index("author")["n_words"]
    assert (leading == listed[leading.index]).all()


def test_without_private_authors_it_is_the_authors_own_words(corpus):
    model = topoi.AuthorTopicModel(4, n_iter=30, random_state=0, fictitious_authors=False).fit(corpus)
    chain = model.chains_[0]
    assert chain.written is chain.authors
    np.testing.assert_allclose(
        model.author_topics("author 2").sort_values("topic")["probability"], model.author_topic_[2], rtol=1e-6
    )


def test_a_store_without_these_counts_says_what_to_do(model, tmp_path):
    import sqlite3

    model.save(tmp_path / "old.topoi")
    with sqlite3.connect(tmp_path / "old.topoi") as connection:
        connection.execute("DELETE FROM mixture WHERE kind = 'written'")
    with pytest.raises(topoi.StoreError, match="load the model and save it again"):
        topoi.view(tmp_path / "old.topoi").author_topics("author 1")


def test_intervals_hold_what_authors_write():
    """Planted: authors' mixtures, and subjects of documents; topics are seen, so that nothing else is uncertain."""
    random, n_topics, n_authors, weight, alpha = np.random.default_rng(0), 5, 60, 0.5, np.full(5, 0.3)
    theta = random.dirichlet(alpha, n_authors)
    authors = [random.choice(n_authors, 1 + d % 2, replace=False) for d in range(900)]
    topics, slots, rows = [], [], []
    for names in authors:
        private = random.dirichlet(alpha)
        slot = np.where(random.random(60) < weight, len(names), random.integers(len(names), size=60))
        mixtures = np.vstack([theta[names], private])
        topic = np.array([random.choice(n_topics, p=mixtures[s]) for s in slot])
        topics.append(topic), slots.append(slot), rows.append([f"w{k}" for k in topic])
    corpus = topoi.Corpus.from_tokens(rows, authors=[[f"A{a:02d}" for a in names] for names in authors])
    number = {name: a for a, name in enumerate(corpus.authors)}
    sample = {"topic": np.concatenate(topics), "slot": np.concatenate(slots)}
    start, topic, words, deviation = written_words(corpus, [sample], alpha, alpha.sum())
    written = SmoothedCounts(start, topic, words, alpha, 1)
    of = np.arange(corpus.n_authors)
    found = mixture_moments(written.shares(of), written.totals + alpha.sum(), written.dense(deviation, of))
    lower, upper = Moments(*found).interval()
    held = {"documents": [], "words": []}
    for name, a in number.items():
        # A document of one author has half of its words from the private author; one of two authors, half of the half.
        truth = (1 - weight) * theta[int(name[1:])] + weight / n_topics
        held["documents"] += ((lower[a] <= truth) & (truth <= upper[a])).tolist()
        naive = mixture_moments(found.mean[a], np.asarray(written.totals[a] + alpha.sum()), np.zeros(n_topics))
        low, high = naive.interval()
        held["words"] += ((low <= truth) & (truth <= high)).tolist()
    assert 0.84 < np.mean(held["documents"]) < 0.96
    # As if words were independent, intervals would be too narrow: one document's words are of one subject.
    assert np.mean(held["words"]) < 0.75
