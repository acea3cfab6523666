"""Seeds, bans, pins and labels in pachinko models of four levels and of any graph, against the model's definition."""

import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

import topoi
from guided_states import (
    BETA,
    all_states,
    check_view,
    largest_error,
    log_words,
    prior_and_mask,
    small_corpus,
)
from guided_states import (
    TOLD as EVERY_TOLD,
)
from pachinko.small_states import all_paths, choices, log_joint, open_slots, random_alpha
from topoi.engine.executors import SerialExecutor
from topoi.engine.gibbs import sweep_chains
from topoi.errors import ModelError, StoreError
from topoi.kernels.draw import differences
from topoi.kernels.folding import SamplingPlan
from topoi.models.dag import WORDS, Dag
from topoi.models.graph import slot_children
from topoi.models.guidance.settings import resolve_guidance
from topoi.models.pachinko import four_level, general
from topoi.models.pachinko.state import PachinkoSampler

DOCS = [["a", "b"], ["c", "b"]]
GRAPHS = {
    "four levels": Dag.from_levels(2, 3),
    "any graph": Dag.from_dict({"root": {"u": ["x", WORDS], "v": ["x", "y"]}}),
}
NUMBERS = [[0, 1], [2, 1]]
# The last leaves a document a single topic, and shuts a super-topic of the other graph.
ALL_TOLD = EVERY_TOLD | {"one topic": {"doc_ban": {1: [0], 2: [0]}, "seeds": {"x": {"b": 1}}}}


def make_sampler(graph, told, n_shards=1):
    corpus, dag = small_corpus(DOCS), GRAPHS[graph]
    guidance = resolve_guidance(corpus, len(dag.topics), **told)
    alpha = random_alpha(dag, np.random.default_rng(5))
    return corpus, dag, alpha, PachinkoSampler(corpus, dag, alpha, np.array(BETA), n_shards, None, False, guidance)


def exact_log(corpus, dag, alpha, prior, mask, state):
    """log P(words, paths): the terms of paths, without the words' own, which have another prior here."""
    topic = np.array([k for k, _ in state])
    flat = np.full(3, 1.0)
    of_paths = log_joint(dag, NUMBERS, state, alpha, flat, mask) - log_words(corpus.tokens, topic, np.ones((3, 3)))
    return of_paths + log_words(corpus.tokens, topic, prior)


def state_of(sampler, chain):
    whole = sampler.whole(chain)
    return tuple(zip(whole.topic.tolist(), whole.path.tolist(), strict=True))


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", ALL_TOLD)
def test_the_sampler_draws_from_the_guided_posterior(name, graph):
    corpus, dag, alpha, sampler = make_sampler(graph, ALL_TOLD[name])
    prior, mask = prior_and_mask(ALL_TOLD[name])
    states, exact = all_states(4, choices(dag), lambda state: exact_log(corpus, dag, alpha, prior, mask, state))
    error, forbidden = largest_error(sampler, states, exact, lambda chain: state_of(sampler, chain))
    assert error < 5 and forbidden == 0


def weights_of(sampler, chain, d, i):
    """Weights of topics from which the sampler would draw a token's."""
    how = sampler.documents, sampler.whole(chain), chain.counts, chain.priors
    if sampler.limits is not None:
        limits = sampler.limits.of(chain.priors)
        if sampler.n_super:
            return four_level.limited_weights(*how, sampler.n_super, limits, -1, d, i)[0]
        return general.limited_weights(*how, sampler.graph, limits, d, i)[0]
    if sampler.n_super:
        return four_level.four_level_weights(*how, sampler.n_super, d, i)[0]
    return general.general_weights(*how, sampler.graph, d, i)[0]


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", ALL_TOLD)
def test_weights_log_joint_and_counts(name, graph):
    corpus, dag, alpha, sampler = make_sampler(graph, ALL_TOLD[name], 2)
    prior, mask = prior_and_mask(ALL_TOLD[name])
    chain = sampler.start(3, 0)
    for sweep in range(1, 6):
        sweep_chains(sampler, [chain], sweep, 0, SerialExecutor())
        word_topic, total = chain.counts.word_topic.copy(), chain.counts.topic.copy()
        sampler.recount(chain)
        assert np.array_equal(word_topic, chain.counts.word_topic) and np.array_equal(total, chain.counts.topic)
        state = state_of(sampler, chain)
        assert sampler.log_joint(chain) == pytest.approx(exact_log(corpus, dag, alpha, prior, mask, state), rel=1e-6)
        for i in range(4):
            exact = np.zeros(3)
            for k, path in choices(dag):
                exact[k] += np.exp(exact_log(corpus, dag, alpha, prior, mask, (*state[:i], (k, path), *state[i + 1 :])))
            found = weights_of(sampler, chain, i // 2, i)
            np.testing.assert_allclose(found / found.sum(), exact / exact.sum(), atol=1e-5)
            assert (found[exact == 0] == 0).all()


def test_a_state_that_guidance_does_not_allow_gets_topics_and_paths_that_fit():
    corpus, dag, alpha, free = make_sampler("any graph", {})
    arrays = free.to_arrays(free.start(0, 0))
    arrays["topic"][:], arrays["path"][:] = 1, 1
    assert dag.topics[1] == "x"
    _, _, _, sampler = make_sampler("any graph", {"ban": {1: ["a", "b"]}})
    for seed in range(5):
        chain = sampler.restore(seed, arrays, [])
        found = sampler.whole(chain)
        assert found.topic[2] == 1 and (found.topic[[0, 1, 3]] != 1).all()
        sampler.check_sample(found._asdict())
        sampler.recount(chain)


def test_differences_recover_weights():
    # The tests above read weights from running sums; a lane that is skipped would go unnoticed without this.
    assert differences(np.cumsum(np.ones(3, np.float32)), 3).tolist() == [1.0, 2.0, 3.0]


# Fits.

FITTED = {
    "four levels": {"n_super": 2, "n_sub": 4},
    "any graph": {"dag": {"root": {"u": ["war", "trade", WORDS], "v": ["trade", "rest"]}}},
}
TOLD = {
    "seeds": {"war": {"army": 100}, "trade": {"tariff": 30}},
    "ban": {"war": ["peace"], 2: ["law"]},
    "pin": {"war": ["war"]},
}


def planted(n_docs=60):
    rng = np.random.default_rng(2)
    groups = [["war", "army", "peace", "law"], ["trade", "tariff", "peace", "law"], ["gene", "cell", "law", "peace"]]
    return topoi.Corpus.from_tokens([rng.choice(groups[d % 3], 14).tolist() for d in range(n_docs)])


def model_of(graph, **settings):
    kw = {"beta": 0.1, "n_iter": 30, "random_state": 0} | FITTED[graph] | TOLD
    return topoi.PachinkoAllocation(**kw | settings)


def check_guided(model, graph):
    words, topics = list(model.vocabulary_.words), model.dag_.topics
    war = topics.index("war") if graph == "any graph" else 0
    found = model.topic_word_
    assert found[war, words.index("peace")] == found[2, words.index("law")] == 0
    assert (np.delete(found, war, axis=0)[:, words.index("war")] == 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-6)
    report = model.guidance_report()
    assert report["word"].tolist() == ["army", "tariff"] and set(report["rank"]) == {1}


@pytest.mark.parametrize("graph", FITTED)
def test_fits_resume_threads_checkpoints_and_files(graph, tmp_path):
    corpus = planted()
    model = model_of(graph, n_shards=2).fit(corpus)
    check_guided(model, graph)
    if graph == "four levels":
        assert model.topic_labels()[:2] == ["war", "trade"]
        assert model.node_labels()["sub 0"] == "war"
    others = [
        model_of(graph, n_shards=2, n_jobs=2).fit(corpus),
        model_of(graph, n_shards=2, n_iter=17).fit(corpus).resume(13),
    ]
    path = tmp_path / "run.topoi"
    model_of(graph, n_shards=2, n_iter=17, checkpoint=path, checkpoint_every=5).fit(corpus)
    others.append(model_of(graph, n_shards=2, checkpoint=path).fit(corpus))
    model.save(tmp_path / "m.topoi")
    others.append(topoi.load(tmp_path / "m.topoi"))
    for other in others:
        assert np.array_equal(other.topic_word_, model.topic_word_)
        assert np.array_equal(other.doc_topic_, model.doc_topic_)
        assert np.array_equal(other.alpha_, model.alpha_)
        assert other.perplexity(corpus) == model.perplexity(corpus)
        assert np.array_equal(other.transform(corpus), model.transform(corpus))
    check_view(topoi.view(tmp_path / "m.topoi"), model, 1e-6)
    last = model_of(graph, n_shards=2, average=False).fit(corpus)
    check_guided(last, graph)
    last.update([["war", "army", "new"], ["gene", "new"]], n_iter=3, min_df=1)
    check_guided(last, graph)


# Labels: documents of the first two subjects have one each, some of the third none, the others all topics.

LABELS = [["war"], ["trade"], [], ["war"], ["trade"], None] * 10
LABELLED = {"doc_labels": LABELS, "doc_ban": {"trade": [5]}, "ban": None, "pin": None}


def allowed_in(model, graph):
    """What documents may have, documents × topics, from the settings alone."""
    names = list(model.dag_.topics) if graph == "any graph" else ["war", "trade", "", ""]
    allowed = np.array(
        [[n not in ("war", "trade") or labels is None or n in labels for n in names] for labels in LABELS]
    )
    allowed[5, names.index("trade")] = False
    return allowed


def estimates(model):
    first = model.chains_[0]
    moments = [moments for d in range(6) for moments in (first.document_moments(d), first.document_node_moments(d))]
    return [
        model.topic_word_,
        model.doc_topic_,
        model.doc_node_,
        model.alpha_,
        model.transform(model.corpus_),
        *(each for pair in moments for each in pair),
        *(first.label_document(first.document(d), SamplingPlan(2, 2, 1, 5, 0, 1.0)).topic for d in range(6)),
    ]


@pytest.mark.parametrize("graph", FITTED)
def test_labels_resume_threads_checkpoints_and_files(graph, tmp_path):
    corpus, how = planted(), LABELLED | {"n_shards": 3}
    model = model_of(graph, **how).fit(corpus)
    allowed = allowed_in(model, graph)
    of_tokens = np.repeat(allowed, corpus.doc_lengths, axis=0)
    for sample in model.chains_[0].averaged.samples:
        assert of_tokens[np.arange(corpus.n_tokens), sample["topic"]].all()
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1.0)
    assert np.array_equal(model.doc_topic_ > 0, allowed)
    path = tmp_path / "run.topoi"
    model_of(graph, n_iter=17, checkpoint=path, checkpoint_every=5, **how).fit(corpus)
    model.save(tmp_path / "m.topoi")
    others = [
        model_of(graph, n_jobs=2, **how).fit(corpus),
        model_of(graph, n_iter=17, **how).fit(corpus).resume(13),
        model_of(graph, checkpoint=path, **how).fit(corpus),
        topoi.load(tmp_path / "m.topoi"),
    ]
    for other in others:
        assert all(np.array_equal(a, b) for a, b in zip(estimates(other), estimates(model), strict=True))
        assert other.trace_["log_joint"].iloc[-1] == model.trace_["log_joint"].iloc[-1]
    view = topoi.view(tmp_path / "m.topoi")
    check_view(view, model, 1e-6)
    for d in range(6):
        for ask in (topoi.document_topics, topoi.document_nodes):
            pd.testing.assert_frame_equal(ask(view, d), ask(model, d), check_dtype=False)
        plan = SamplingPlan(2, 2, 1, 5, 0, 1.0)
        seen, held = (
            chain.label_document(chain.document(d), plan).topic for chain in (view.chains_[0], model.chains_[0])
        )
        np.testing.assert_allclose(seen, held, atol=1e-6)
        assert not seen[:, ~allowed[d]].any() and (seen[:, allowed[d]] > 0).any(axis=0).all()
    # New documents may have everything, even with the words of a labelled one.
    assert (model.transform(corpus) > 0).all()
    model.update([["war", "army", "new"], ["gene", "new"]], n_iter=3, min_df=1)
    assert np.array_equal(model.doc_topic_[:60] > 0, allowed) and (model.doc_topic_[60:] > 0).all()


@pytest.mark.parametrize("graph", FITTED)
def test_estimates_are_those_of_the_restricted_model(graph):
    """A document that may have some topics alone has the shares of a graph that has these alone."""
    corpus = planted()
    model = model_of(graph, average=False, **LABELLED).fit(corpus)
    first, dag = model.chains_[0], model.dag_
    slots = [(u, v) for u, below in slot_children(dag).items() for v in below]
    allowed, alpha = allowed_in(model, graph), dict(zip(slots, first.edge_alpha, strict=True))
    paths = all_paths(dag)
    for d in range(6):
        here = slice(corpus.doc_start[d], corpus.doc_start[d + 1])
        is_open = open_slots(dag, allowed[d])
        number = dict.fromkeys(is_open, 0)
        for k, path in zip(first.assignments.topic[here], first.assignments.path[here], strict=True):
            for slot in paths[k][path]:
                number[slot] += 1
        weight = {slot: number[slot] + alpha[slot] for slot in is_open}
        total = {u: sum(w for (v, _), w in weight.items() if v == u) for u, _ in is_open}
        share = {slot: w / total[slot[0]] for slot, w in weight.items()}
        expected = [
            sum(np.prod([share[slot] for slot in path]) for path in ways) if allowed[d, k] else 0.0
            for k, ways in enumerate(paths)
        ]
        np.testing.assert_allclose(model.doc_topic_[d], expected, rtol=1e-9)
        assert np.array_equal(first.doc_topic_range(d, d + 1)[0], model.doc_topic_[d])
        assert np.array_equal(first.doc_node_range(d, d + 1)[0], model.doc_node_[d])
        np.testing.assert_allclose(first.document_moments(d).mean, expected, rtol=1e-9)
        spread = first.document_moments(d).deviation
        assert np.isfinite(spread).all() and not spread[~allowed[d]].any()
        assert (spread[allowed[d]] > 0).all() or allowed[d].sum() == 1


@pytest.mark.parametrize("rule", ["moments", "ml"])
def test_labels_and_learning_keep_the_log_joint_and_shards_agree(rule):
    """What is learned does not depend on the cut into shards, but for the order of sums."""
    corpus = planted()
    found = []
    for n_shards in (1, 4):
        guidance = resolve_guidance(corpus, 4, doc_labels=LABELS)
        dag, alpha = Dag.from_levels(2, 4), np.full(10, 0.3)
        sampler = PachinkoSampler(corpus, dag, alpha, np.full(corpus.n_words, 0.1), n_shards, rule, False, guidance)
        chain = sampler.start(0, 0)
        chain = sampler.restore(
            0, {**sampler.to_arrays(chain), **found[0][1]} if found else sampler.to_arrays(chain), []
        )
        whole = sampler.whole(chain)._asdict()
        before = sampler.log_joint(chain)
        sampler.learn(chain, 30)
        found.append((np.append(chain.priors.alpha, before), whole))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=2e-5)
    assert not np.allclose(found[0][0][2:10], 0.3, rtol=0.05)


def test_a_store_without_the_sets_of_documents_is_damaged(tmp_path):
    model = model_of("four levels", n_iter=2, **LABELLED).fit(planted())
    for number, change in enumerate(
        (
            "DELETE FROM array WHERE name = 'chain0_doc_set'",
            "UPDATE array SET dtype = '<u4' WHERE name = 'chain0_doc_set'",
            "UPDATE array SET shape = '[2, 4]' WHERE name = 'chain0_allowed'",
        )
    ):
        path = tmp_path / f"{number}.topoi"
        model.save(path)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(change)
        with pytest.raises(StoreError):
            topoi.document_nodes(topoi.view(path), 0)


def test_labels_that_allow_everything_change_no_bits():
    corpus = planted()
    free, told = (
        model_of("four levels", seeds=None, ban=None, pin=None, **how).fit(corpus)
        for how in ({}, {"doc_labels": [None] * 60})
    )
    assert np.array_equal(free.topic_word_, told.topic_word_) and np.array_equal(free.doc_topic_, told.doc_topic_)
    assert np.array_equal(free.alpha_, told.alpha_) and free.trace_.equals(told.trace_)


@pytest.mark.parametrize("graph", FITTED)
def test_new_documents_have_no_banned_words_either(graph):
    model = model_of(graph).fit(planted())
    war = model.dag_.topics.index("war") if graph == "any graph" else 0
    for seed in range(3):
        model.random_state = seed
        found = topoi.label_words(model, "war " * 30, burn_in=1, n_samples=1)
        assert set(found["topic"]) == {war} and found["topic_probability"].min() == 1.0


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"doc_ban": {0: [1]}, "learn_alpha": "moments-paper"}, "choose 'moments', 'ml' or False"),
        ({"doc_labels": [["x"]] * 59}, "59 entries"),
        ({"dag": FITTED["any graph"]["dag"], "seeds": None, "doc_labels": [["war"], ["w"]] * 30}, "no node 'w'"),
        ({"dag": FITTED["any graph"]["dag"], "seeds": None, "doc_labels": [["3"]] * 60}, "no node '3'"),
        ({"sparse": "counts"}, "sparse='counts' takes no seeds"),
        ({"ban": {9: ["war"]}}, "numbered 0 to 3"),
        ({"dag": FITTED["any graph"]["dag"], "seeds": {"w": ["army"]}}, "no node 'w'"),
    ],
)
def test_bad_guidance_is_refused(told, message):
    given = {"pin": None} | told if "dag" not in told else {"pin": None, "ban": None} | told
    with pytest.raises(ModelError, match=message):
        model_of("four levels", **given).fit(planted())
