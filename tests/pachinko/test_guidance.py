"""Seeds, bans and pins in pachinko models of four levels and of any graph, against the model's definition."""

import numpy as np
import pytest

import topoi
from guided_states import (
    BETA,
    WORDS_TOLD,
    all_states,
    check_view,
    largest_error,
    log_words,
    prior_and_mask,
    small_corpus,
)
from pachinko.small_states import choices, log_joint, random_alpha
from topoi.engine.executors import SerialExecutor
from topoi.engine.gibbs import sweep_chains
from topoi.errors import ModelError
from topoi.kernels.draw import differences
from topoi.models.dag import WORDS, Dag
from topoi.models.guidance.settings import resolve_guidance
from topoi.models.pachinko.four_level import four_level_weights
from topoi.models.pachinko.general import general_weights
from topoi.models.pachinko.state import PachinkoSampler

DOCS = [["a", "b"], ["c", "b"]]
GRAPHS = {
    "four levels": Dag.from_levels(2, 3),
    "any graph": Dag.from_dict({"root": {"u": ["x", WORDS], "v": ["x", "y"]}}),
}
NUMBERS = [[0, 1], [2, 1]]


def make_sampler(graph, told, n_shards=1):
    corpus, dag = small_corpus(DOCS), GRAPHS[graph]
    guidance = resolve_guidance(corpus, len(dag.topics), **told)
    alpha = random_alpha(dag, np.random.default_rng(5))
    return corpus, dag, alpha, PachinkoSampler(corpus, dag, alpha, np.array(BETA), n_shards, None, False, guidance)


def exact_log(corpus, dag, alpha, prior, state):
    """log P(words, paths): the terms of paths, without the words' own, which have another prior here."""
    topic = np.array([k for k, _ in state])
    flat = np.full(3, 1.0)
    of_paths = log_joint(dag, NUMBERS, state, alpha, flat) - log_words(corpus.tokens, topic, np.ones((3, 3)))
    return of_paths + log_words(corpus.tokens, topic, prior)


def state_of(sampler, chain):
    whole = sampler.whole(chain)
    return tuple(zip(whole.topic.tolist(), whole.path.tolist(), strict=True))


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", WORDS_TOLD)
def test_the_sampler_draws_from_the_guided_posterior(name, graph):
    corpus, dag, alpha, sampler = make_sampler(graph, WORDS_TOLD[name])
    prior, _ = prior_and_mask(WORDS_TOLD[name])
    states, exact = all_states(4, choices(dag), lambda state: exact_log(corpus, dag, alpha, prior, state))
    error, forbidden = largest_error(sampler, states, exact, lambda chain: state_of(sampler, chain))
    assert error < 5 and forbidden == 0


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", WORDS_TOLD)
def test_weights_log_joint_and_counts(name, graph):
    corpus, dag, alpha, sampler = make_sampler(graph, WORDS_TOLD[name], 2)
    prior, _ = prior_and_mask(WORDS_TOLD[name])
    chain = sampler.start(3, 0)
    for sweep in range(1, 6):
        sweep_chains(sampler, [chain], sweep, 0, SerialExecutor())
        word_topic, total = chain.counts.word_topic.copy(), chain.counts.topic.copy()
        sampler.recount(chain)
        assert np.array_equal(word_topic, chain.counts.word_topic) and np.array_equal(total, chain.counts.topic)
        state = state_of(sampler, chain)
        assert sampler.log_joint(chain) == pytest.approx(exact_log(corpus, dag, alpha, prior, state), rel=1e-6)
        for i in range(4):
            exact = np.zeros(3)
            for k, path in choices(dag):
                exact[k] += np.exp(exact_log(corpus, dag, alpha, prior, (*state[:i], (k, path), *state[i + 1 :])))
            how = sampler.documents, sampler.whole(chain), chain.counts, chain.priors
            if sampler.n_super:
                found = four_level_weights(*how, sampler.n_super, i // 2, i)[0]
            else:
                found = general_weights(*how, sampler.graph, i // 2, i)[0]
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
        ({"doc_labels": [["x"]] * 60}, "takes no doc_labels"),
        ({"doc_ban": {0: [1]}}, "takes no doc_labels and no doc_ban"),
        ({"sparse": "counts"}, "sparse='counts' takes no seeds"),
        ({"ban": {9: ["war"]}}, "numbered 0 to 3"),
        ({"dag": FITTED["any graph"]["dag"], "seeds": {"w": ["army"]}}, "no node 'w'"),
    ],
)
def test_bad_guidance_is_refused(told, message):
    given = {"pin": None} | told if "dag" not in told else {"pin": None, "ban": None} | told
    with pytest.raises(ModelError, match=message):
        model_of("four levels", **given).fit(planted())
