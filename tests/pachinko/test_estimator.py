"""Whole fits: bits, threads, shards, resume, files, predictions, frames, recovery, and what is refused."""

import hashlib
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import topoi
from author_topic.test_chains import match
from topoi.errors import ModelError, StoreError
from topoi.models.pachinko.state import PachinkoSampler

ODD = topoi.Dag.from_dict({"root": {"a": ["x", "y", topoi.WORDS], "b": ["m"], "z": None}, "m": ["y", "z", "v"]})
MODELS = {
    "four levels": lambda **kw: topoi.PachinkoAllocation(4, 7, **kw),
    "any graph": lambda **kw: topoi.PachinkoAllocation(dag=ODD, **kw),
    "LDA": lambda **kw: topoi.PachinkoAllocation(dag=topoi.Dag.from_levels(6), **kw),
}


def digest(model):
    """One number for all paths of all chains."""
    state = hashlib.blake2b(digest_size=8)
    for chain in model.chains_:
        state.update(chain.assignments.topic.tobytes())
        state.update(chain.assignments.path.tobytes())
    return state.hexdigest()


@pytest.fixture(scope="module")
def corpus():
    return topoi.PachinkoAllocation(3, 6, alpha=0.2, root_alpha=0.3, beta=0.05).simulate(120, 40, random_state=3)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n_shards", [1, 3])
def test_counts_equal_a_recount_after_merge_and_resume(corpus, name, n_shards):
    model = MODELS[name](n_iter=22, n_shards=n_shards, n_jobs=2, random_state=0).fit(corpus).resume(3)
    chain = model._chains[0]
    before = [array.copy() for array in chain.counts]
    model._sampler.recount(chain)
    for old, new in zip(before, chain.counts, strict=True):
        assert np.array_equal(old, new)
    assert chain.counts.word_topic.sum() == corpus.n_tokens
    assert model.fit_info_["exact"] == (n_shards == 1)


@pytest.mark.parametrize("name", MODELS)
def test_threads_and_chains_never_change_the_bits(corpus, name):
    options = {"n_iter": 22, "n_shards": 4, "random_state": 5}
    alone = MODELS[name](n_jobs=1, n_chains=2, **options).fit(corpus)
    together = MODELS[name](n_jobs=4, n_chains=2, **options).fit(corpus)
    assert digest(alone) == digest(together)
    one = MODELS[name](n_jobs=3, n_chains=1, **options).fit(corpus)
    (first,) = (chain for chain in alone.chains_ if chain.index == 0)  # the best comes first, whatever its number
    assert np.array_equal(one.chains_[0].assignments.path, first.assignments.path)
    assert np.array_equal(one.chains_[0].edge_alpha, first.edge_alpha)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("rule", ["moments", "moments-paper", "ml", False])
def test_resume_and_reload_give_the_same_bits_as_one_fit(corpus, name, rule, tmp_path):
    options = {"random_state": 2, "learn_alpha": rule}
    whole = MODELS[name](n_iter=95, **options).fit(corpus)
    half = MODELS[name](n_iter=45, **options).fit(corpus)
    half.save(tmp_path / "half.topoi")
    resumed = topoi.load(tmp_path / "half.topoi").resume(50)
    assert digest(resumed) == digest(half.resume(50)) == digest(whole)
    assert np.array_equal(resumed.topic_word_, whole.topic_word_)
    assert np.array_equal(resumed.alpha_, whole.alpha_)
    if rule is False or name == "LDA":
        assert set(whole._first.edge_alpha[whole._first.graph.slot_start[1] :].round(6)) <= {0.1}
    else:
        assert len(set(whole.alpha_.ravel())) > 1


def test_a_checkpoint_continues_and_knows_its_graph(corpus, tmp_path):
    path = tmp_path / "fit.checkpoint"
    options = {"random_state": 1, "checkpoint": path, "checkpoint_every": 5}
    whole = topoi.PachinkoAllocation(dag=ODD, n_iter=30, random_state=1).fit(corpus)
    topoi.PachinkoAllocation(dag=ODD, n_iter=15, **options).fit(corpus)
    continued = topoi.PachinkoAllocation(dag=list(ODD.edges), n_iter=30, **options).fit(corpus)
    assert digest(continued) == digest(whole)
    with pytest.raises(ModelError, match=r"another fit \(different: dag\)"):
        topoi.PachinkoAllocation(dag=topoi.Dag.from_levels(2, 3), n_iter=30, **options).fit(corpus)


# A fingerprint of 25 sweeps, alpha learned after the twentieth. It may be made anew only by a change that is meant to
# alter draws, and the change must say so.
GOLDEN = {"four levels": "237119a188be9513", "any graph": "e7f40efba65eb9fa", "LDA": "6ee6d620bf8ce5b8"}


@pytest.mark.parametrize("name", MODELS)
def test_golden_run(name):
    assert digest(golden_model(name)) == GOLDEN[name]


def golden_model(name):
    """A fit whose corpus is made of integers alone, so that it is the same everywhere."""
    rng = [(i * 2654435761) % 2**32 for i in range(1, 4001)]
    docs = [[f"w{x % 97}" for x in rng[d * 40 : d * 40 + 40]] for d in range(100)]
    return MODELS[name](n_iter=25, n_shards=2, random_state=11).fit(topoi.Corpus.from_tokens(docs))


@pytest.mark.slow
def test_recovers_planted_topics_and_which_go_together():
    """Three super-topics with two or three sub-topics each, one of them shared; the best of six chains."""
    groups = [[0, 1], [2, 3, 4], [4, 5]]
    alpha = np.full((3, 6), 0.005)
    for s, group in enumerate(groups):
        alpha[s, group] = 0.4
    story = topoi.PachinkoAllocation(3, 6, root_alpha=0.05, alpha=alpha, beta=0.05)
    planted = story.simulate(800, 80, random_state=2)
    options = {"root_alpha": 0.05, "beta": 0.05, "n_iter": 250, "n_chains": 6, "n_jobs": 2, "random_state": 0}
    model = topoi.PachinkoAllocation(3, 6, **options).fit(planted)
    best = max(model.chains_, key=lambda chain: chain.trace[-1][1])
    similarity, matched = match(best.topic_word, planted.truth.topic_word)
    assert similarity.min() > 0.97
    learned = best.edge_alpha[3:].reshape(3, 6)
    shares = learned / learned.sum(axis=1, keepdims=True)
    assert sorted(sorted(matched[k] for k in np.flatnonzero(row > 0.1)) for row in shares) == groups
    order = [k for k, _ in sorted(matched.items(), key=lambda pair: pair[1])]
    assert np.abs(best.doc_topic[:, order] - planted.truth.doc_topic).mean() < 0.03


def test_a_pruned_graph_can_be_fitted_again(corpus):
    model = MODELS["four levels"](n_iter=100, random_state=0).fit(corpus)
    assert set(model.pruned_dag(0.0).edges) == set(model.dag_.edges)
    pruned = model.pruned_dag(0.2)
    assert 4 + 7 <= len(pruned.edges) < len(model.dag_.edges) and pruned.topics == model.dag_.topics
    again = topoi.PachinkoAllocation(dag=pruned, n_iter=20, random_state=0).fit(corpus)
    assert again.topic_word_.shape == model.topic_word_.shape
    with pytest.raises(ModelError, match="min_share is 2; it must be between 0 and 1"):
        model.pruned_dag(2)


def test_alpha_is_learned_from_the_twentieth_sweep_but_never_the_roots(corpus):
    model = MODELS["four levels"](n_iter=19, random_state=0).fit(corpus)
    np.testing.assert_array_equal(model.alpha_, np.full(model.alpha_.shape, np.float32(0.1)))
    assert (model.resume(1).alpha_ != np.float32(0.1)).all()
    assert (model.edges()["alpha"][:4] == np.float32(0.01)).all()


def test_mixtures_and_frames_agree(corpus):
    for name, make in MODELS.items():
        model = make(n_iter=30, random_state=0).fit(corpus)
        assert model.dag_.topics == model.dag_.topics
        for rows in (model.topic_word_, model.doc_topic_, model.transform(corpus)):
            np.testing.assert_allclose(rows.sum(axis=1), 1.0)
        edges = model.edges()
        assert edges["n_words"][edges["parent"] == "root"].sum() == corpus.n_tokens
        np.testing.assert_allclose(edges.groupby("parent")["share"].sum(), 1.0)
        nodes = model.doc_node_
        assert (nodes[:, 0] == 1.0).all()
        leaf = [model.dag_.nodes.index(t) for t in model.dag_.topics if not model.dag_.children(t)]
        own = [k for k, t in enumerate(model.dag_.topics) if not model.dag_.children(t)]
        np.testing.assert_allclose(nodes[:, leaf], model.doc_topic_[:, own])
        assert set(model.node_labels()) == set(model.dag_.nodes[1:])
        assert model.topic_correlation().shape == (len(model.dag_.topics),) * 2
        if name == "four levels":
            np.testing.assert_allclose(model.doc_super_.sum(axis=1), 1.0)
            frame = model.super_topics(2)
            assert frame["super_topic"].tolist() == [f"super {s // 2}" for s in range(8)]
            assert (frame.groupby("super_topic")["alpha"].diff().dropna() <= 0).all()
        else:
            with pytest.raises(ModelError, match="only the four-level model"):
                _ = model.doc_super_
            assert len(model.super_topics(3)) == (0 if name == "LDA" else 3 + 1 + 3)


def test_predictions_do_not_depend_on_order_batch_or_threads(corpus):
    train, test = corpus.split(test_size=20, random_state=0)
    order = np.random.default_rng(0).permutation(test.n_docs)
    for make in MODELS.values():
        model = make(n_iter=30, n_chains=2, random_state=0).fit(train)
        whole, likelihood = model.transform(test), model.log_likelihood(test)
        assert np.array_equal(whole[order], model.transform(test.subset(order)))
        assert np.array_equal(likelihood[order], model.log_likelihood(test.subset(order)))
        model.n_jobs = 3
        assert np.array_equal(whole, model.transform(test))
        assert np.array_equal(likelihood, model.log_likelihood(test))
        tokens = np.exp(-likelihood.sum() / test.n_tokens)
        assert model.perplexity(test, average="tokens") == pytest.approx(tokens)
        assert tokens < 0.7 * test.n_words  # far better than chance
        half = np.arange(test.n_tokens) % 2 == 0
        assert np.isfinite(model.log_completion(test, half)).all()


def test_files_keep_graph_and_settings(corpus, tmp_path):
    model = topoi.PachinkoAllocation(dag=ODD, alpha={"a": [1, 2, 3], "m": 0.4}, n_iter=5, random_state=0).fit(corpus)
    model.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    assert again.dag_ == again.dag == ODD and again.alpha == {"a": [1, 2, 3], "m": 0.4}
    assert np.array_equal(again.transform(corpus), model.transform(corpus))
    assert np.array_equal(again.edges()["alpha"], model.edges()["alpha"])
    with topoi.open_store(tmp_path / "m.topoi") as store:
        shares = store.sql("select document_id, topic, share from topic_document order by topic, rank limit 50")
        assert shares["share"].tolist() == [model.doc_topic_[d, k] for d, k in shares.values[:, :2].astype(int)]
        assert store.sql("select count(*) as n from topic")["n"].tolist() == [len(ODD.topics)]
    json.dumps(model.to_bundle()[0])


def test_strange_arrays_are_refused(corpus):
    model = MODELS["any graph"](n_iter=2, random_state=0).fit(corpus)
    sampler: PachinkoSampler = model._sampler
    good = sampler.to_arrays(model._chains[0])
    bad = {
        "topic": good["topic"] + np.uint16(50),
        "path": good["path"] + np.uint32(9),
        "alpha": -good["alpha"],
        "beta": good["beta"][:3],
    }
    for name, array in bad.items():
        with pytest.raises(ModelError, match="the saved"):
            sampler.restore(0, good | {name: array}, [])
    for name in ("topic", "path"):
        with pytest.raises(ModelError, match="not what a sampler writes"):
            sampler.restore(0, good | {name: good[name].astype(np.int64)}, [])


BAD = [
    ({"n_super": 0}, "n_super is 0; it must be a whole number of at least 1"),
    ({"n_sub": 2.5}, "n_sub is 2.5; it must be a whole number"),
    ({"n_sub": 70_000, "n_super": 1}, "the graph has 70,000 topics; at most 65,535"),
    ({"dag": 3}, "dag is 3; pass a topoi.Dag"),
    ({"dag": [("a", "b"), ("b", "a")]}, "the graph has a cycle"),
    ({"root_alpha": [1, 2, 3]}, "root_alpha has 3 entries but the number of the root's children is 2"),
    ({"root_alpha": -1}, "root_alpha has the value -1.0; it must be positive"),
    ({"alpha": [1, 2]}, "alpha has 2 entries but the number of children of 'super 0' is 3"),
    ({"alpha": np.ones((3, 2))}, "alpha is a matrix of (3, 2); it must be 2 × 3, or a number"),
    ({"alpha": {"root": 1}}, "alpha names 'root', which is no inner node below the root"),
    ({"alpha": {"sub 0": 1}}, "alpha names 'sub 0', which is no inner node"),
    ({"learn_alpha": True}, "learn_alpha is True; it must be one of 'moments', 'moments-paper', 'ml', False"),
    ({"learn_alpha": "minka"}, "learn_alpha is 'minka'; it must be one of"),
    ({"sparse": True}, "n_iter is 2, but with sparse=True 120 documents come in over 6 sweeps"),
    ({"sparse": 1}, "sparse is 1; it must be one of False, 'counts', 'pruned', True"),
    ({"beta": [0.1]}, "beta has 1 entries but the number of words is"),
]


@pytest.mark.parametrize(("settings", "message"), BAD, ids=[str(s) for s, _ in BAD])
def test_bad_settings_are_named_with_what_to_do(corpus, settings, message):
    model = topoi.PachinkoAllocation(**{"n_super": 2, "n_sub": 3, "n_iter": 2, "random_state": 0} | settings)
    with pytest.raises(ModelError) as caught:
        model.fit(corpus)
    assert message in str(caught.value)


def test_unfitted_models_say_so(corpus):
    model = topoi.PachinkoAllocation(2, 3)
    for call in ("edges", "super_topics", "node_labels", "topic_correlation", "pruned_dag", "top_words", "diagnose"):
        with pytest.raises(NotFittedError):
            getattr(model, call)()
    for name in ("topic_word_", "doc_topic_", "doc_super_", "doc_node_", "alpha_", "beta_", "components_"):
        with pytest.raises(NotFittedError):
            getattr(model, name)
    with pytest.raises(NotFittedError):
        model.transform(corpus)


def test_clone_keeps_the_graph(corpus):
    model = topoi.PachinkoAllocation(dag=ODD, n_iter=3, random_state=9)
    assert clone(model).get_params() == model.get_params()
    assert model.fit(corpus).dag_ is ODD


def test_empty_documents_may_stand_anywhere():
    rows = [[], ["a", "b"], [], [], ["b", "c", "c"], []]
    for make in MODELS.values():
        model = make(n_iter=25, random_state=0).fit(topoi.Corpus.from_tokens(rows))
        assert np.isfinite(model.trace_["log_joint"]).all()
        assert np.isfinite(model.transform(model.corpus_)).all()
        assert model.log_likelihood(model.corpus_)[0] == 0.0


def test_questions_of_topics_and_documents_can_be_asked(corpus):
    model = MODELS["four levels"](n_iter=20, random_state=0).fit(corpus)
    assert len(topoi.topic_documents(model, 0, n=3)) == 3
    assert len(topoi.document_topics(model, 0)) == 7
    assert len(topoi.word_topics(model, str(corpus.words[0]))) == 7
    assert len(topoi.similar_documents(model, 0, n=2)) == 2
    assert topoi.align_topics(model, model) is not None
    assert len(topoi.label_words(model, " ".join(corpus.words[:5])))
    with pytest.raises(ModelError, match="has no authors"):
        model.top_authors()


def test_a_model_in_a_file_answers_as_the_fitted_one(tmp_path):
    drawn = topoi.PachinkoAllocation(2, 5, alpha=0.5).simulate(60, doc_length=30, random_state=0)
    rows = np.split(drawn.words[drawn.tokens], drawn.doc_start[1:-1])
    corpus = topoi.Corpus.from_tokens([row.tolist() for row in rows], dates=[1990 + d // 10 for d in range(60)])
    for number, make in enumerate(MODELS.values()):
        model = make(n_iter=100, random_state=0).fit(corpus)
        model.save(tmp_path / f"{number}.topoi")
        view = topoi.view(tmp_path / f"{number}.topoi")
        word = str(corpus.words[3])
        for ask in (
            lambda m: m.topic_sizes(),
            lambda m: m.top_words(3),
            lambda m, word=word: topoi.word_topics(m, word),
            lambda m: topoi.topic_documents(m, 1),
            lambda m: topoi.document_topics(m, 2),
            lambda m: topoi.similar_documents(m, 0, measure="symmetrised-kl"),
            lambda m: topoi.topic_trends(m),
            lambda m, model=model: topoi.align_topics(m, model).pairs,
            lambda m, word=word: topoi.label_words(m, f"{word} {word}"),
        ):
            pd.testing.assert_frame_equal(ask(view), ask(model), rtol=1e-9, check_dtype=False)
        # A file has mixtures that are no counts in half precision, which the mixture with words reads.
        similar = [topoi.similar_documents(each, 0) for each in (view, model)]
        pd.testing.assert_frame_equal(*similar, rtol=5e-3, check_dtype=False)


def test_a_graph_given_as_a_dict_keeps_the_order_of_its_topics(corpus, tmp_path):
    graph = {"root": {"z": ["y", "x"], "a": ["x", "w"]}}
    model = topoi.PachinkoAllocation(dag=graph, n_iter=2, random_state=0).fit(corpus)
    model.save(tmp_path / "s.topoi")
    loaded = topoi.load(tmp_path / "s.topoi")
    assert loaded.dag_ == model.dag_ == topoi.view(tmp_path / "s.topoi").dag_
    assert loaded.dag_.topics == ("y", "x", "w") and np.array_equal(loaded.doc_node_, model.doc_node_)
    other = {"root": {"a": ["x", "w"], "z": ["y", "x"]}}
    topoi.PachinkoAllocation(dag=graph, n_iter=2, random_state=0, checkpoint=tmp_path / "c").fit(corpus)
    with pytest.raises(ModelError, match="different: dag"):
        topoi.PachinkoAllocation(dag=other, n_iter=3, random_state=0, checkpoint=tmp_path / "c").fit(corpus)


def test_a_damaged_graph_in_a_file_is_a_store_error(corpus, tmp_path):
    model = topoi.PachinkoAllocation(dag=ODD, n_iter=2, random_state=0).fit(corpus)
    meta, _ = model.to_bundle()
    assert meta["settings"]["dag"][0] == ["root", "a"]
    path = tmp_path / "not.topoi"
    path.write_text("nothing")
    with pytest.raises(StoreError):
        topoi.load(path)
