"""Small states and their exact posteriors by brute force, written from the model's definition alone."""

from itertools import product
from math import lgamma, log

import numpy as np
from scipy.stats import chi2

from topoi.kernels.counts import Assignments, Counts, Documents
from topoi.kernels.jit import compiled
from topoi.kernels.lanes import padded
from topoi.models.author_topic.equations import count, move_token, recount_private_author, topic_weights
from topoi.models.author_topic.state import make_priors

PRIVATE = -1


def make_documents(docs, n_authors, weights=None):
    """Documents from [(words, authors)], an author being a number or PRIVATE."""
    tokens = np.array([w for words, _ in docs for w in words], np.int32)
    doc_start = np.cumsum([0] + [len(words) for words, _ in docs]).astype(np.int64)
    author = np.array([n_authors if a == PRIVATE else a for _, authors in docs for a in authors], np.int32)
    author_start = np.cumsum([0] + [len(authors) for _, authors in docs]).astype(np.int64)
    weight = np.ones(len(author)) if weights is None else np.concatenate(weights)
    return Documents(tokens, doc_start, author, author_start, weight.astype(np.float32))


def empty_counts(n_words, n_topics, n_authors):
    width = padded(n_topics)
    return Counts(
        np.zeros((n_words, width), np.float32),
        np.zeros(n_topics),
        np.zeros((n_authors + 1, width), np.float32),
        np.zeros(n_authors + 1),
    )


def counted(documents, topic, slot, n_words, n_topics, n_authors):
    assignments = Assignments(np.asarray(topic, np.uint16), np.asarray(slot, np.uint16))
    counts = empty_counts(n_words, n_topics, n_authors)
    count(documents, assignments, counts)
    return assignments, counts


def dirichlet_multinomial(counts, prior):
    """log P(sequence with these counts), from the definition."""
    total = lgamma(sum(prior)) - lgamma(sum(prior) + sum(counts))
    return total + sum(lgamma(n + p) - lgamma(p) for n, p in zip(counts, prior, strict=True))


def log_joint(documents, topic, slot, n_words, n_authors, alpha, beta):
    """log P(words, topics, authors) with a distribution of its own for every private author; plain Python."""
    n_topics = len(alpha)
    by_topic = np.zeros((n_topics, n_words), int)
    by_author = {}
    result = 0.0
    for d in range(len(documents.doc_start) - 1):
        authors = documents.author[documents.author_start[d] : documents.author_start[d + 1]]
        weight = documents.author_weight[documents.author_start[d] : documents.author_start[d + 1]].astype(float)
        for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
            by_topic[topic[i], documents.tokens[i]] += 1
            a = authors[slot[i]]
            who = ("private", d) if a == n_authors else ("shared", int(a))
            by_author.setdefault(who, np.zeros(n_topics, int))[topic[i]] += 1
            result += log(weight[slot[i]] / weight.sum())
    result += sum(dirichlet_multinomial(row, beta) for row in by_topic)
    return result + sum(dirichlet_multinomial(row, alpha) for row in by_author.values())


def exact_posterior(documents, n_words, n_authors, alpha, beta):
    """Every state (topics, slots) with its probability given the words."""
    n_slots = np.repeat(np.diff(documents.author_start), np.diff(documents.doc_start))
    each = [list(product(range(len(alpha)), range(n))) for n in n_slots]
    states = list(product(*each))
    logs = np.array(
        [log_joint(documents, [k for k, _ in s], [q for _, q in s], n_words, n_authors, alpha, beta) for s in states]
    )
    p = np.exp(logs - logs.max())
    return states, p / p.sum()


def state_number(documents, assignments, n_topics):
    """The position of a state in ``exact_posterior``'s list."""
    n_slots = np.repeat(np.diff(documents.author_start), np.diff(documents.doc_start))
    number = 0
    for k, q, n in zip(assignments.topic, assignments.slot, n_slots, strict=True):
        number = number * n_topics * int(n) + int(k) * int(n) + int(q)
    return number


def check_frequencies(visits, expected):
    """Visits to numbered states agree with their probabilities: no state by itself, nor all of them, is far off."""
    n = visits.sum()
    assert (visits[expected == 0] == 0).all()
    some = expected * n > 5
    errors = (visits[some] - n * expected[some]) / np.sqrt(n * expected[some] * (1 - expected[some]))
    assert np.abs(errors).max() < 4.8
    rest = n - visits[some].sum(), n * (1 - expected[some].sum())
    distance = ((visits[some] - n * expected[some]) ** 2 / (n * expected[some])).sum()
    distance += (rest[0] - rest[1]) ** 2 / rest[1] if rest[1] > 5 else 0.0
    assert chi2.sf(distance, some.sum()) > 1e-4


def random_state(rng, n_docs=6, n_words=7, n_topics=5, n_authors=4, max_authors=5, length=8):
    """A random corpus, state and priors: documents of every kind of author list."""
    docs = []
    for _ in range(n_docs):
        n = int(rng.integers(0, min(max_authors, n_authors) + 1))
        authors = rng.choice(n_authors, n, replace=False).tolist()
        if n == 0 or rng.random() < 0.4:
            authors.insert(int(rng.integers(0, n + 1)), PRIVATE)
        docs.append((rng.integers(0, n_words, int(rng.integers(1, length + 1))).tolist(), authors))
    weights = [rng.uniform(0.2, 2.0, len(authors)) for _, authors in docs]
    documents = make_documents(docs, n_authors, weights)
    lengths = np.diff(documents.doc_start)
    n_slots = np.repeat(np.diff(documents.author_start), lengths)
    topic = rng.integers(0, n_topics, len(documents.tokens))
    slot = (rng.random(len(documents.tokens)) * n_slots).astype(int)
    alpha, beta = rng.uniform(0.01, 2.0, n_topics), rng.uniform(0.005, 1.0, n_words)
    assignments, counts = counted(documents, topic, slot, n_words, n_topics, n_authors)
    return documents, assignments, counts, make_priors(alpha, beta), (n_words, n_authors, alpha, beta)


@compiled
def plain_weights(documents, assignments, counts, priors, d, i):
    """The weights from which ``sweep_plain`` would draw the topic of token ``i`` of document ``d``."""
    weights = np.empty(len(counts.topic))
    recount_private_author(documents, assignments, counts, d)
    a = documents.author[documents.author_start[d] + assignments.slot[i]]
    move_token(counts, documents.tokens[i], assignments.topic[i], a, -1)
    topic_weights(documents, counts, priors, d, documents.tokens[i], weights)
    move_token(counts, documents.tokens[i], assignments.topic[i], a, 1)
    return weights
