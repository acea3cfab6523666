"""Corpora whose topics follow planted coefficients."""

import numpy as np

import topoi

VENUES = ["A", "B", "C"]
# log alpha of each topic: base, then what each venue adds, then per unit of the number.
PLANTED = np.array([[-0.5, 1.5, -1.0, -0.5, 0.0], [-0.5, -1.0, 1.5, -0.5, 0.6], [-1.0, -0.5, -0.5, 1.5, -0.6]])


def corpus_of(alpha, topic_word, doc_length, rng, **columns):
    """Documents with shares from Dir(alpha[d]) and words from the topics."""
    shares = np.array([rng.dirichlet(row) for row in alpha])
    docs = []
    for share in shares:
        topics = rng.choice(len(share), doc_length, p=share)
        docs.append([f"w{rng.choice(topic_word.shape[1], p=topic_word[k])}" for k in topics])
    return topoi.Corpus.from_tokens(docs, metadata=columns), shares


def planted_corpus(n_docs=400, doc_length=40, seed=0):
    """Three topics of ten words each, a venue and a standardised number."""
    rng = np.random.default_rng(seed)
    topic_word = np.kron(np.eye(3), np.full((1, 10), 0.1)) * 0.999 + 0.001 / 30
    venue = rng.integers(0, 3, n_docs)
    number = rng.standard_normal(n_docs)
    number = (number - number.mean()) / number.std()
    design = np.column_stack([np.ones(n_docs), np.eye(3)[venue], number])
    alpha = np.exp(design @ PLANTED.T)
    corpus, shares = corpus_of(
        alpha, topic_word, doc_length, rng, venue=[VENUES[v] for v in venue], size=(5.0 + 2.0 * number).tolist()
    )
    return corpus, alpha, shares


def matching(model):
    """For each planted topic, the model's topic that has its words."""
    words = {w: i for i, w in enumerate(model.vocabulary_.words)}
    mass = np.array(
        [[sum(row[words[f"w{10 * t + j}"]] for j in range(10)) for row in model.topic_word_] for t in range(3)]
    )
    return mass.argmax(axis=1)


def overlapping_corpus(seed, n_topics=3, n_docs=200, doc_length=60, overlap=0.5, n_own=10):
    """Topics that share words, and coefficients from the default prior; with coefficients and topics."""
    rng = np.random.default_rng(seed)
    own = np.kron(np.eye(n_topics), np.full((1, n_own), 1.0 / n_own))
    topic_word = ((1 - overlap) * own + overlap / own.shape[1]) * rng.gamma(1.0, size=own.shape)
    topic_word /= topic_word.sum(axis=1, keepdims=True)
    coefficients = np.sqrt(0.5) * rng.standard_normal((n_topics, 5))
    coefficients[:, 0] = np.log(0.3) + 0.3 * rng.standard_normal(n_topics)
    venue, number = rng.integers(0, 3, n_docs), rng.standard_normal(n_docs)
    number = (number - number.mean()) / number.std()
    design = np.column_stack([np.ones(n_docs), np.eye(3)[venue], number])
    alpha = np.maximum(np.exp(design @ coefficients.T), 1e-3)
    columns = {"venue": [VENUES[v] for v in venue], "size": number.tolist()}
    corpus, _ = corpus_of(alpha, topic_word, doc_length, rng, **columns)
    return corpus, coefficients, topic_word
