"""Named topics of the hierarchical Dirichlet process: seeds, bans, pins and labels, against the model's definition."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import topoi
from guided_states import BETA, WORDS, check_view, names_of, prior_and_mask, small_corpus
from hdp.test_geweke import ALPHA, GAMMA, LENGTHS, errors_apart, statistics
from hdp.test_sampler import quantiles_agree, run
from topoi.errors import ModelError
from topoi.kernels.random import new_stream
from topoi.models.guidance.settings import resolve_named
from topoi.models.hdp import equations, kernels
from topoi.models.hdp.sampler import Concentration, HdpSampler

DOCS = [["a", "b"], ["c", "b"]]
TOLD: dict[str, Any] = {
    "seeds": {"seeds": {"x": {"b": 2}, "y": {"c": 1, "a": 3}}},
    "ban": {"seeds": {"x": {"c": 1}}, "ban": {"x": ["b"]}},
    "pin": {"seeds": {"x": {"a": 1}, "y": {"c": 1}}, "pin": {"x": ["b"]}},
    "labels": {"doc_labels": [["x"], ["y"]]},
    "labels and all the rest": {"doc_labels": [["x"], None], "seeds": {"y": {"a": 2}}, "ban": {"y": ["b"]}},
    "documents": {"seeds": {"x": {"a": 1}}, "doc_ban": {"x": [1]}},
}


def sampler_of(told: Any, alpha: Any = 0.8, gamma: Any = 1.3, corpus: Any = None, beta: Any = BETA) -> HdpSampler:
    corpus = small_corpus(DOCS) if corpus is None else corpus
    pair = [each if isinstance(each, Concentration) else Concentration(each) for each in (alpha, gamma)]
    return HdpSampler(corpus, 2, 100, *pair, np.array(beta), resolve_named(corpus, 2, **told))


def exact_posterior(told: Any, alpha: float, gamma: float) -> tuple[list[Any], Any, Any]:
    """States, named topics by number and the others in order of their first tokens, and their probabilities."""
    n_named = len(names_of(told))
    # The last topic of these priors stands for all without a name.
    prior, mask = prior_and_mask(told, n_named + 1)
    docs = [np.array([0, 1]), np.array([2, 1])]
    states, logs = [], []
    for state in product(range(n_named + 4), repeat=4):
        if canonical(state, n_named) != state:
            continue
        z = [np.array(state[:2]), np.array(state[2:])]
        allowed = all(mask[d, min(k, n_named)] for d, topics in enumerate(z) for k in topics)
        log = equations.log_words(docs, z, prior[-1], prior[:-1]) if allowed else -np.inf
        states.append(state)
        logs.append(log + equations.log_partition(z, alpha, gamma, n_named))
    p = np.exp(np.array(logs) - max(logs))
    return states, p / p.sum(), n_named


def canonical(topic: Any, n_named: int) -> tuple[int, ...]:
    number = {k: k for k in range(n_named)}
    return tuple(number.setdefault(int(k), len(number)) for k in topic)


@pytest.mark.parametrize("name", TOLD)
def test_the_sampler_draws_from_the_guided_posterior(name: str) -> None:
    states, exact, n_named = exact_posterior(TOLD[name], 0.8, 1.3)
    place = {state: number for number, state in enumerate(states)}
    sampler = sampler_of(TOLD[name])
    chain, frequencies, sweep = sampler.start(1, 0), [], 0
    for _ in range(15):
        visits = np.zeros(len(states))
        for _ in range(500):
            sweep += 1
            run(sampler, chain, sweep)
            chain.priors = chain.priors._replace(history=np.zeros((0, 3)))
            visits[place[canonical(chain.shards[0], n_named)]] += 1
        frequencies.append(visits / visits.sum())
    found = np.array(frequencies)
    common = np.argsort(-exact)[:40]
    errors = found[:, common].std(axis=0, ddof=1) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0)[common] - exact[common]) / np.maximum(errors, 2e-4)).max() < 5
    assert found[:, exact == 0].sum() == 0


@pytest.mark.parametrize("name", TOLD)
def test_weights_log_joint_and_counts(name: str) -> None:
    told, sampler = TOLD[name], sampler_of(TOLD[name])
    n_named = len(names_of(told))
    prior, mask = prior_and_mask(told, n_named + 1)
    docs, chain = [np.array([0, 1]), np.array([2, 1])], sampler.start(2, 0)
    for sweep in range(1, 30):
        run(sampler, chain, sweep)
        n_topics, priors = chain.priors.n_topics, chain.priors
        topic = chain.shards[0].astype(int)
        again = sampler.restore(0, sampler.to_arrays(chain), [])
        n = min(chain.counts.word_topic.shape[1], again.counts.word_topic.shape[1])
        assert np.array_equal(chain.counts.word_topic[:, :n], again.counts.word_topic[:, :n])
        assert np.array_equal(chain.counts.topic[:n], again.counts.topic[:n])
        assert n_topics >= n_named and set(range(n_named, n_topics)) <= set(topic.tolist())
        z, b = [topic[:2], topic[2:]], priors.weights[: n_topics + 1].astype(float) / priors.alpha
        expected = equations.log_words(docs, z, prior[-1], prior[:-1]) + equations.log_topics(z, priors.alpha, b)
        assert sampler.log_joint(chain) == pytest.approx(expected, rel=1e-5)
        wide = np.concatenate([prior[:-1], np.tile(prior[-1], (n_topics + 1 - n_named, 1))])
        for i in range(4):
            d, w = i // 2, int(sampler.words.tokens[i])
            others = np.arange(4) != i
            weight = np.zeros(n_topics + 1)
            for k in range(n_topics + 1):
                own = others & (topic == k)
                number = (own & (np.arange(4) // 2 == d)).sum()
                words = (own & (sampler.words.tokens == w)).sum() + wide[k, w]
                share = number + priors.weights[k]
                weight[k] = mask[d, min(k, n_named)] * share * words / (own.sum() + wide[k].sum())
            how = sampler.words, chain.shards[0], chain.counts, priors.weights, n_topics + 1
            found = kernels.lane_weights(*how, d, i)
            np.testing.assert_allclose(found / found.sum(), weight / weight.sum(), rtol=1e-4, atol=1e-6)
            assert (found[weight == 0] == 0).all()


def test_gamma_is_drawn_from_its_posterior() -> None:
    stream, value, draws = new_stream(1), 1.0, []
    for _ in range(20_000):
        value = kernels.draw_gamma_named(value, 2, 3, 11, 1.5, 0.4, stream)
        draws.append(value)
    grid = np.exp(np.linspace(-8, 4, 4001))
    quantiles_agree(np.array(draws), grid, equations.log_posterior_gamma(grid, 3, 11, 1.5, 0.4, 2))


# Geweke's test, concentrations included: two named topics, one of them with a seed and a ban, and one pinned word.

GEWEKE: dict[str, Any] = {"seeds": {"x": {"a": 2}, "y": {"b": 1}}, "ban": {"x": ["b"]}, "pin": {"y": ["c"]}}


def draw_words(rng: np.random.Generator, topic: Any) -> Any:
    prior, _ = prior_and_mask(GEWEKE, 3)
    rows = [rng.dirichlet(np.maximum(prior[min(k, 2)], 1e-300)) for k in range(int(topic.max()) + 1)]
    return (rng.random((len(topic), 1)) > np.cumsum(rows, axis=1)[topic, :-1]).sum(axis=1)


def named_franchise(rng: np.random.Generator, alpha: float, gamma: float) -> tuple[Any, int]:
    """Topics of all tokens, and the number of tables, phantom ones left out."""
    topics, tables = [], [1, 1]
    for length in LENGTHS.tolist():
        seated: list[int] = []
        topic_of: list[int] = []
        for _ in range(length):
            t = choose(rng, [*seated, alpha])
            if t == len(seated):
                k = choose(rng, [*tables, gamma])
                tables += [0] * (k == len(tables))
                tables[k] += 1
                seated.append(0)
                topic_of.append(k)
            seated[t] += 1
            topics.append(topic_of[t])
    return np.array(topics), sum(tables) - 2


def choose(rng: np.random.Generator, weights: list[float]) -> int:
    return int(np.searchsorted(np.cumsum(weights), rng.random() * sum(weights), side="right"))


def more(topic: Any) -> list[float]:
    return [(topic == 0).sum(), (topic == 1).sum(), ((topic == 0).sum()) ** 2]


def geweke(n: int, seed: int = 0) -> Any:
    rng, forward, backward = np.random.default_rng(seed), [], []
    for _ in range(n):
        alpha, gamma = rng.gamma(ALPHA[0]) / ALPHA[1], rng.gamma(GAMMA[0]) / GAMMA[1]
        topic, n_tables = named_franchise(rng, alpha, gamma)
        words = draw_words(rng, topic)
        forward.append([*statistics(topic, words, alpha, gamma, n_tables), *more(topic)])
    first = [[WORDS[w] for w in part] for part in np.split(words, np.cumsum(LENGTHS)[:-1])]
    pair = [Concentration(shape / rate, (shape, rate)) for shape, rate in (ALPHA, GAMMA)]
    sampler = sampler_of(GEWEKE, *pair, corpus=small_corpus(first))
    chain = sampler.start(seed, 0)
    for sweep in range(1, n + 1):
        run(sampler, chain, sweep, seed)
        chain.priors = chain.priors._replace(history=np.zeros((0, 3)))
        topic = chain.shards[0].astype(np.int64)
        sampler.words.tokens[:] = draw_words(rng, topic)
        chain.counts.word_topic[:], chain.counts.topic[:] = 0, 0
        sampler.named.add_phantoms(chain.counts.word_topic, chain.counts.topic, 0)
        kernels.count(sampler.words.tokens, chain.shards[0], chain.counts)
        priors = chain.priors
        n_tables = int(priors.tables.sum()) - 2
        backward.append([*statistics(topic, sampler.words.tokens, priors.alpha, priors.gamma, n_tables), *more(topic)])
    return np.abs(errors_apart(np.array(forward), np.array(backward)))


def test_sweeps_leave_the_joint_distribution_alone() -> None:
    assert geweke(4000).max() < 4.5


@pytest.mark.slow
def test_sweeps_leave_the_joint_distribution_alone_long() -> None:
    assert geweke(80_000, 1).max() < 4.5


# Fits.

GUIDED: dict[str, Any] = {
    "seeds": {"war": ["army"], "trade": {"tariff": 30}},
    "ban": {"war": ["peace"]},
    "pin": {"war": ["war"]},
    "doc_labels": "kind",
    "doc_ban": {"trade": [3]},
}


def planted(n_docs: int = 60) -> topoi.Corpus:
    rng = np.random.default_rng(2)
    groups = [["war", "army", "peace", "law"], ["trade", "tariff", "peace", "law"], ["gene", "cell", "law", "peace"]]
    docs = [rng.choice(groups[d % 3], 14).tolist() for d in range(n_docs)]
    labels = [["war"] if d % 3 == 0 else None if d % 2 else [] for d in range(n_docs)]
    return topoi.Corpus.from_tokens(docs, metadata={"kind": labels})


def model_of(**settings: Any) -> Any:
    kw = {"n_topics": 6, "beta": 0.1, "n_iter": 40, "random_state": 0}
    return topoi.HierarchicalDirichletProcess(**kw | GUIDED | settings)


def check_guided(model: Any) -> None:
    words, found = list(model.vocabulary_.words), model.topic_word_
    assert found[0, words.index("peace")] == 0 < found[0, words.index("war")]
    assert (found[1:, words.index("war")] == 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-6)
    shut = np.array([labels is not None and "war" not in labels for labels in model.corpus_.documents["kind"]])
    assert (model.doc_topic_[shut, 0] == 0).all() and (model.doc_topic_[~shut, 0] > 0).all()
    assert model.doc_topic_[3, 1] == 0
    assert model.topic_labels()[:2] == ["war", "trade"]
    assert model.guidance_report()["name"].tolist() == ["war", "trade"]
    sizes = model.topic_sizes().set_index("topic")["n_words"]
    assert (sizes[2:] > 0).all()


def test_fits_resume_chains_checkpoints_and_files(tmp_path: Any) -> None:
    corpus = planted()
    model = model_of(n_chains=2).fit(corpus)
    check_guided(model)
    others = [model_of(n_chains=2, n_jobs=2).fit(corpus), model_of(n_chains=2, n_iter=23).fit(corpus).resume(17)]
    path = tmp_path / "run.topoi"
    model_of(n_chains=2, n_iter=23, checkpoint=path, checkpoint_every=7).fit(corpus)
    others.append(model_of(n_chains=2, checkpoint=path).fit(corpus))
    model.save(tmp_path / "m.topoi")
    others.append(topoi.load(tmp_path / "m.topoi"))
    for other in others:
        assert np.array_equal(other.topic_word_, model.topic_word_)
        assert np.array_equal(other.doc_topic_, model.doc_topic_)
        assert np.array_equal(other.alpha_, model.alpha_)
        assert other.perplexity(corpus) == model.perplexity(corpus)
        assert np.array_equal(other.transform(corpus), model.transform(corpus))
    check_view(topoi.view(tmp_path / "m.topoi"), model, 2e-3)


def test_named_topics_are_there_without_words() -> None:
    told = {"seeds": {"nobody": {"gene": 3}, "war": ["army"]}, "doc_ban": {"nobody": list(range(60))}}
    model = model_of(**{name: None for name in GUIDED} | told).fit(planted())
    assert model.topic_sizes()["n_words"][0] == 0 and model.topic_labels()[0] == "nobody"
    best = model.top_words(1)
    assert best.loc[best["topic"] == 0, "word"].item() == "gene"
    assert (model.doc_topic_[:, 0] == 0).all() and model.alpha_[0] > 0


def test_new_documents_have_no_banned_words_either() -> None:
    model = model_of().fit(planted())
    found = topoi.label_words(model, "war " * 30, burn_in=1, n_samples=1, random_state=1)
    assert set(found["topic"]) == {0} and found["topic_probability"].min() == 1.0


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"ban": {5: ["law"]}}, "topics without a name come and go"),
        ({"ban": {"nosuch": ["law"]}}, "'nosuch', but in this model topics without a name come and go.*named are"),
        ({"seeds": {0: ["law"]}, "ban": None, "pin": None, "doc_ban": None, "doc_labels": None}, "give it a name"),
        ({"doc_ban": {"2": [1]}}, "topics without a name come and go"),
        ({"max_topics": 2}, "raise max_topics above 2"),
        ({"ban": {"peace": ["war"]}}, "ban has the topic 'peace'"),
        ({"doc_labels": "nothing"}, "no column"),
    ],
)
def test_bad_guidance_is_refused(told: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        model_of(**told).fit(planted())
