"""Small guided corpora, and what their settings mean, written from the definition alone; for the families' tests."""

from itertools import product

import numpy as np

import topoi
from author_topic.small_states import dirichlet_multinomial
from topoi.kernels.random import new_stream

WORDS = ["a", "b", "c"]
BETA = [0.5, 0.2, 0.9]
DOCS = [["a", "b", "b"], ["c", "a", "b"]]
WORDS_TOLD = {
    "seeds": {"seeds": {"x": {"b": 2}, "y": {"c": 1, "a": 3}}},
    "ban": {"ban": {0: ["b"], 2: ["a"]}},
    "pin": {"pin": {1: ["b"]}, "seeds": {"x": {"a": 1}}},
    "retired": {"ban": {1: "*"}},
}
TOLD = WORDS_TOLD | {
    "labels": {"doc_labels": [["x"], ["y"]]},
    "labels and all the rest": {"doc_labels": [["x"], None], "seeds": {"y": {"a": 2}}, "ban": {"y": ["b"]}},
    "documents": {"doc_ban": {0: [1]}},
}


def small_corpus(docs=DOCS, **columns):
    """Documents of the three words, of which a small corpus may lack some."""
    columns = {name: [values[0], *values] for name, values in columns.items()}
    corpus = topoi.Corpus.from_tokens([WORDS, *docs], metadata=columns or None)
    return corpus.subset(np.arange(1, len(docs) + 1))


def names_of(told):
    """Names of the first topics: of seeds, then of labels."""
    names = list(told.get("seeds", {}))
    for labels in told.get("doc_labels", []):
        names += [name for name in labels or [] if name not in names]
    return names


def prior_and_mask(told, n_topics=3, n_docs=2, beta=BETA):
    """The prior of words in topics, topics × words, and the topics of documents, from the settings alone."""
    prior, names = np.tile(beta, (n_topics, 1)), names_of(told)

    def number(topic):
        return names.index(topic) if isinstance(topic, str) else topic

    for topic, words in told.get("seeds", {}).items():
        for word, n in words.items():
            prior[number(topic), WORDS.index(word)] += n
    for topic, words in told.get("ban", {}).items():
        prior[number(topic), [WORDS.index(word) for word in (WORDS if words == "*" else words)]] = 0
    for topic, words in told.get("pin", {}).items():
        for word in words:
            prior[[k for k in range(n_topics) if k != number(topic)], WORDS.index(word)] = 0
    mask = np.ones((n_docs, n_topics), bool)
    labelled = {name for labels in told.get("doc_labels", []) for name in labels or []}
    for d, labels in enumerate(told.get("doc_labels", [])):
        if labels is not None:
            mask[d] = [k >= len(names) or names[k] not in labelled or names[k] in labels for k in range(n_topics)]
    for topic, docs in told.get("doc_ban", {}).items():
        mask[docs, number(topic)] = False
    return prior, mask


def log_words(tokens, topic, prior):
    """log P(words | topics): -inf if a topic has a word that it may not have."""
    topic = np.asarray(topic)
    if (prior[topic, tokens] == 0).any():
        return -np.inf
    result = 0.0
    for k, row in enumerate(prior):
        own = row > 0
        counts = np.bincount(tokens[topic == k], minlength=len(row))[own]
        result += dirichlet_multinomial(counts, row[own]) if own.any() else 0.0
    return result


def log_topics(corpus, topic, alphas):
    """log P(topics | alpha of each document), without the topics whose alpha is zero; -inf if it has one of them."""
    result = 0.0
    for d, alpha in enumerate(alphas):
        counts = np.bincount(topic[corpus.doc_start[d] : corpus.doc_start[d + 1]], minlength=len(alpha))
        if counts[alpha == 0].any():
            return -np.inf
        result += dirichlet_multinomial(counts[alpha > 0], alpha[alpha > 0])
    return result


def all_states(n_tokens, choices, log_joint):
    """All states as tuples of ``choices``, and their exact probabilities."""
    states = list(product(choices, repeat=n_tokens))
    logs = np.array([log_joint(state) for state in states])
    p = np.exp(logs - logs.max())
    return states, p / p.sum()


def largest_error(sampler, states, exact, read, n_batches=15, n_sweeps=1000):
    """Largest deviation of the sampler's frequencies in standard errors, and the times that it was where it may not be.

    ``read`` returns a chain's state as one of ``states``.
    """
    place = {state: number for number, state in enumerate(states)}
    chain, frequencies = sampler.start(1, 0), []
    for batch in range(n_batches):
        stream, visits = new_stream(7, batch), np.zeros(len(states))
        for _ in range(n_sweeps):
            sampler.sample(chain, 0, chain.counts, stream)
            visits[place[read(chain)]] += 1
        frequencies.append(visits / visits.sum())
    found = np.array(frequencies)
    common = np.argsort(-exact)[:40]
    errors = found[:, common].std(axis=0, ddof=1) / np.sqrt(len(found))
    far = np.abs(found.mean(axis=0)[common] - exact[common]) / np.maximum(errors, 1e-4)
    return far.max(), found[:, exact == 0].sum()


def check_view(view, model, tolerance):
    """A view of a saved model has its topics' words, the seeds too, and its documents' mixtures."""
    held = model.top_words(20).groupby("topic")
    for topic, seen in view.top_words(20).groupby("topic"):
        first = held.get_group(topic).iloc[: len(seen)]
        np.testing.assert_allclose(seen["probability"], first["probability"], rtol=1e-6)
        assert sorted(seen["word"]) == sorted(first["word"])
    assert view.topic_labels() == model.topic_labels()
    for d in range(6):
        found = topoi.document_topics(view, d).set_index("topic")["share"]
        exact = model.doc_topic_[d][found.index]
        np.testing.assert_allclose(found, exact, atol=tolerance)
        assert (found[exact == 0] == 0).all()
