"""Estimates average the second half of each chain: the same as counting and averaging the states one saw go by."""

import numpy as np
import pytest

import topoi
from topoi.engine.samples import retained
from topoi.errors import ModelError, StoreError
from topoi.models.averages import changed_topics, settled

N_ITER = 45


@pytest.fixture(scope="module")
def corpus():
    made = topoi.AuthorTopicModel(4, alpha=0.3, beta=0.1).simulate(60, 25, authors=9, random_state=1)
    made.documents["year"] = np.arange(60) % 7 + 1990
    return made


DAG = [("root", "a"), ("root", "b"), ("a", "c"), ("a", "d"), ("b", "d"), ("b", "e"), ("a", topoi.WORDS)]
FAMILIES = {
    "author-topic": lambda **o: topoi.AuthorTopicModel(4, alpha=0.3, **o),
    "fictitious": lambda **o: topoi.AuthorTopicModel(4, alpha=0.3, fictitious_authors=True, **o),
    "lda": lambda **o: topoi.LDA(4, alpha=0.3, **o),
    "lda, learned": lambda **o: topoi.LDA(4, learn_alpha=True, learn_beta=True, **o),
    "lda, lists": lambda **o: topoi.LDA(4, alpha=0.3, sparse="counts", **o),
    "lda, pruned": lambda **o: topoi.LDA(4, alpha=0.3, sparse="pruned", **o),
    "lda, growing": lambda **o: topoi.LDA(4, alpha=0.3, sparse=True, **o),
    "author": lambda **o: topoi.AuthorModel(**o),
    "pachinko": lambda **o: topoi.PachinkoAllocation(2, 4, **o),
    "pachinko, lists": lambda **o: topoi.PachinkoAllocation(2, 4, sparse="counts", **o),
    "regression": lambda **o: topoi.DirichletMultinomialRegression(4, features=["year"], n_warmup=10, **o),
    "graph": lambda **o: topoi.PachinkoAllocation(dag=DAG, **o),
}


def fit(name, corpus, **options):
    return FAMILIES[name](**{"n_iter": N_ITER, "random_state": 0} | options).fit(corpus)


def states(name, corpus, **options):
    """The assignments after each sweep that is averaged, seen by stopping there and going on."""
    model, found = None, []
    for sweep in [*(s for s in retained(N_ITER) if s != N_ITER), N_ITER]:
        if model is None:
            model = FAMILIES[name](n_iter=sweep, random_state=0, **options).fit(corpus)
        else:
            model.resume(sweep - model.n_iter_)
        found.append(model._sampler.to_arrays(model._chains[0]))
    return found


def cells(rows, columns, shape):
    return np.bincount(rows.astype(np.int64) * shape[1] + columns, minlength=shape[0] * shape[1]).reshape(shape)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "author"])
def test_counts_are_means_of_the_states_that_were_seen(corpus, name):
    model, seen = fit(name, corpus), states(name, corpus)
    chain = model.chains_[0]
    names = model._sampler.sampled
    # A pruned chain's last state is settled by exact sweeps of a copy.
    last = {key: model._sampler.to_arrays(model._settled[0])[key] for key in names}
    assert model._settled is not model._chains or all((last[key] == seen[-1][key]).all() for key in names)
    early = zip(seen[:-1], chain.averaged.changed, strict=True)
    seen = [*(settled({key: s[key] for key in names}, last, topics) for s, topics in early), last]
    assert model.fit_info_["averaged_samples"] == len(seen) == chain.n_samples > 5
    doc = np.repeat(np.arange(corpus.n_docs), corpus.doc_lengths)
    shape = corpus.n_words, chain.n_topics
    words = np.mean([cells(corpus.tokens, s["topic"], shape) for s in seen], axis=0)
    np.testing.assert_allclose(chain.counts.word_rows(slice(None)), words, rtol=1e-6)
    np.testing.assert_allclose(chain.counts.topic, words.sum(axis=0), rtol=1e-12)
    phi = (words.T + chain.beta) / (words.sum(axis=0)[:, None] + chain.priors.beta_sum)
    np.testing.assert_allclose(model.topic_word_, phi, rtol=1e-5)
    documents = np.mean([cells(doc, s["topic"], (corpus.n_docs, chain.n_topics)) for s in seen], axis=0)
    np.testing.assert_allclose(chain.documents.counts(np.arange(corpus.n_docs)), documents)
    np.testing.assert_allclose(model.topic_counts(corpus), documents)
    if "alpha" in FAMILIES[name]().get_params() and not hasattr(model, "dag_"):
        smoothed = documents + (chain.priors.rows[:, :4] if name == "regression" else chain.alpha)
        theta = smoothed / smoothed.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.doc_topic_, theta, rtol=1e-6)
    if len(model.authors_):
        lists = model._sampler.lists
        first = np.repeat(lists.start[:-1], corpus.doc_lengths)
        each = [cells(lists.author[first + s["slot"]], s["topic"], (len(model.authors_) + 1, 4)) for s in seen]
        authors = np.mean(each, axis=0)[:-1]
        theta = (authors + chain.alpha) / (authors.sum(axis=1, keepdims=True) + chain.alpha.sum())
        np.testing.assert_allclose(model.author_topic_, theta, rtol=1e-6)


def test_shares_of_a_graph_are_means_of_the_samples_shares(corpus):
    for name in ("pachinko", "graph"):
        model = fit(name, corpus, learn_alpha=False)
        each = []
        for sweep in model.chains_[0].averaged.sweeps + [N_ITER]:
            alone = fit(name, corpus, learn_alpha=False, n_iter=sweep, average=False)
            each.append((alone.doc_topic_, alone.doc_node_))
        np.testing.assert_allclose(model.doc_topic_, np.mean([one for one, _ in each], axis=0))
        np.testing.assert_allclose(model.doc_node_, np.mean([one for _, one in each], axis=0))


def test_authors_without_topics(corpus):
    model, seen = fit("author", corpus), states("author", corpus)
    sampler = model._sampler
    n_authors = np.diff(sampler.author_start)
    first = np.repeat(sampler.author_start[:-1], corpus.doc_lengths)
    shape = sampler.n_rows, corpus.n_words
    counts = np.mean([cells(sampler.author[first + s["slot"]], corpus.tokens, shape) for s in seen], axis=0)
    assert (n_authors > 1).any()
    for author in (0, 3):
        expected = (counts[author] + model.beta_) / (counts[author].sum() + model.beta_.sum())
        np.testing.assert_allclose(model.author_word(model.authors_[author]), expected)


def bits(model):
    """Everything that a fit is, and the estimates it gives."""
    found = [a.tobytes() for _, a in sorted(model.to_bundle()[1].items())]
    if isinstance(model, topoi.AuthorModel):
        return [*found, *(a.tobytes() for chain in model.chains_ for a in chain)]
    return [*found, model.topic_word_.tobytes(), model.doc_topic_.tobytes()]


@pytest.mark.parametrize("name", list(FAMILIES))
def test_the_same_bits_however_a_fit_comes_about(corpus, name, tmp_path):
    options = {"n_chains": 2, "n_shards": 2}
    model = fit(name, corpus, **options)
    expected = bits(model)
    assert bits(fit(name, corpus, n_iter=30, **options).resume(8).resume(N_ITER - 38)) == expected
    assert bits(fit(name, corpus, n_jobs=2, **options)) == expected
    place = tmp_path / "fit.checkpoint"
    fit(name, corpus, n_iter=31, checkpoint=place, **options)
    assert bits(fit(name, corpus, checkpoint=place, **options)) == expected
    model.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    assert bits(again) == expected
    assert bits(again.resume(7)) == bits(fit(name, corpus, n_iter=N_ITER + 7, **options))


@pytest.mark.parametrize("name", ["author-topic", "pachinko", "author"])
def test_without_averages_the_last_sample_is_the_estimate(corpus, name):
    alone, averaged = fit(name, corpus, average=False), fit(name, corpus)
    assert alone._chains[0].samples == {} and alone.fit_info_["averaged_samples"] == 1
    last, same = (m._sampler.to_arrays(m._chains[0]) for m in (alone, averaged))
    assert all(np.array_equal(last[key], same[key]) for key in last)
    if name == "author":
        assert all((each == np.rint(each)).all() for each in alone.chains_[0])
        assert any((each != np.rint(each)).any() for each in averaged.chains_[0])
        return
    words = cells(corpus.tokens, last["topic"], (corpus.n_words, 4))
    np.testing.assert_array_equal(alone.chains_[0].counts.word_rows(slice(None)), words)
    assert np.abs(averaged.topic_word_ - alone.topic_word_).max() > 1e-3


def test_the_setting_is_checked(corpus):
    with pytest.raises(ModelError, match="average is 'yes'; it must be one of True, False"):
        fit("lda", corpus, average="yes")


HOSTILE = {
    "topic": ("samples_topic", lambda a: a.__setitem__((0, 0), 4), "do not fit this corpus"),
    "author": (
        "samples_slot",
        lambda a: a.__setitem__((slice(None), 0), 200),
        "authors that this corpus does not have",
    ),
    "sweeps": ("sampled", lambda a: a.__setitem__(0, 1), "saved samples"),
}


@pytest.mark.parametrize("name", list(HOSTILE))
def test_samples_of_a_file_are_not_taken_on_trust(corpus, name, tmp_path):
    key, damage, message = HOSTILE[name]
    model = fit("author-topic", corpus)
    meta, arrays = model.to_bundle()
    array = np.array(arrays[f"chain0_{key}"])
    damage(array)
    with pytest.raises((ModelError, StoreError), match=message):
        topoi.AuthorTopicModel(4, alpha=0.3).restore_bundle(corpus, meta, arrays | {f"chain0_{key}": array})


def test_a_changed_topic_is_taken_as_it_is_now(corpus):
    """Two topics change places before the last two samples: what was averaged is each as it is now, or near it."""
    model = fit("lda", corpus, prior="paper")
    chain = model._chains[0]
    swap = np.array([1, 0, 2, 3], np.uint8)
    for sweep in sorted(chain.samples)[:-2]:
        chain.samples[sweep] = {"topic": swap[chain.samples[sweep]["topic"]]}
    expected = model.topic_word_
    model._freeze()
    averaged = model.chains_[0].averaged
    assert averaged.changed[:-2] == [[0, 1]] * (len(averaged.sweeps) - 2) and averaged.changed[-2:] == [[], []]
    mixed = np.abs(expected[0] - expected[1]).sum()
    found = model.topic_word_
    assert np.abs(found[:2] - expected[:2]).sum(axis=1).max() < mixed / 5
    assert found.sum(axis=1) == pytest.approx(1)
    # Every sample still has every token once.
    assert model.topic_counts(corpus).sum(axis=1) == pytest.approx(corpus.doc_lengths)
    assert model._notes_on_estimates()["changed_topics"] == [0, 1]


def test_which_topics_have_changed():
    now = np.repeat(np.arange(4), 10)
    assert changed_topics(now, now, 4).tolist() == []
    assert changed_topics((now + 1) % 4, now, 4).tolist() == [0, 1, 2, 3]
    partly = np.where(np.arange(40) % 10 < 4, 0, now)  # four of ten came from topic 0
    assert changed_topics(partly, now, 4).tolist() == []
    assert changed_topics(np.where(np.arange(40) % 10 < 6, 0, now), now, 4).tolist() == [1, 2, 3]
    sample = settled({"topic": (now + 1) % 4}, {"topic": now}, [1])
    assert (sample["topic"][now == 1] == 1).all() and (sample["topic"][now == 0] == 0).all()
    assert (sample["topic"][now == 2] == 3).all()


def test_the_best_chain_comes_first(corpus, tmp_path):
    model = topoi.LDA(4, alpha=0.3, n_iter=40, n_chains=4, random_state=3).fit(corpus)
    trace = model.trace_[model.trace_["sweep"] > 20]
    means = trace.groupby("chain")["log_joint"].mean()
    order = [chain.index for chain in model.chains_]
    assert order == means.sort_values(ascending=False).index.tolist() and order != [0, 1, 2, 3]
    assert model.fit_info_["best_chain"] == order[0]
    alone = topoi.LDA(4, alpha=0.3, n_iter=40, n_chains=1, random_state=3).fit(corpus)
    (first,) = (chain for chain in model.chains_ if chain.index == 0)
    np.testing.assert_array_equal(first.topic_word, alone.topic_word_)
    model.save(tmp_path / "m.topoi")
    assert topoi.view(tmp_path / "m.topoi").chains_[0].index == order[0]
    same = topoi.view(tmp_path / "m.topoi").topic_sizes()
    assert same["n_words"].tolist() == model.topic_sizes()["n_words"].tolist()
