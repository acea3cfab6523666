"""LDA on sparse counts: the exact sweep, the pruned one, and adding documents (Li and McCallum, section 3.2).

Tokens are visited word by word within blocks of documents, as in ``word_major``. The exact sweep expands the list of
the current word into a dense row, and then makes exactly the same draws as the dense sweep.

The pruned sweep draws only among the topics of the document's other words or of the word's other tokens. With
phi[k] = (word_topic[w,k] + beta) / (topic[k] + W·beta) their weights are

    (n[d,k] + alpha[k]) · phi[k]  =  n[d,k] · phi[k]  +  alpha[k] · phi[k]

and the sum of the second part over the word's topics is the same for all documents, so it is kept: each token needs
only one pass over the document's few topics. All in float64.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels import lanes
from topoi.kernels.counts import Counts, Priors, make_inverses
from topoi.kernels.draw import draw_positive, scratch_length
from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.random import uniform
from topoi.kernels.word_lists import add_to_list, insert_from_row, keep_from_row, open_row
from topoi.models.author_topic.word_major import open_block, sweep_run


@compiled
def sweep_words_sparse(runs, topic_of, counts, priors, block_docs, stream):
    """``word_major.sweep_words`` on sparse counts: one exact sweep, the same draws."""
    n_topics = counts.topic.shape[0]
    width = counts.author_topic.shape[1]
    doc_topic = lanes.aligned_floats(block_docs * width // 2).view(np.uint16).reshape((block_docs, width))
    side = lanes.aligned_floats(width)
    inverses = make_inverses(counts.topic, priors.beta_sum, width)
    running = lanes.aligned_floats(scratch_length(n_topics))
    running[:] = np.inf
    row = lanes.aligned_floats(width).view(counts.author_topic.dtype)
    rows = Counts(row.reshape((1, width)), counts.topic, counts.author_topic, counts.author)
    prior = Priors(priors.alpha, priors.alpha_sum, np.empty(1, np.float32), priors.beta_sum)
    for b in range(runs.block_start.shape[0] - 1):
        _sweep_block(runs, b, topic_of, counts, row, rows, priors, prior, doc_topic, side, inverses, running, stream)


@lean
def _sweep_block(runs, b, topic_of, counts, row, rows, priors, prior, doc_topic, side, inverses, running, stream):
    open_block(runs, b, topic_of, doc_topic)
    for r in range(runs.block_start[b], runs.block_start[b + 1]):
        w = runs.word[r]
        prior.beta[0] = priors.beta[w]
        open_row(counts, w, row)
        sweep_run(runs, r, 0, topic_of, rows, prior, doc_topic, side, inverses, running, stream)
        keep_from_row(counts, w, row)
        for i in range(runs.start[r], runs.start[r + 1]):
            insert_from_row(counts, w, topic_of[i], row)


class Lists(NamedTuple):
    """Topics of a block's documents: document d has ``length[d]`` of them from ``start[d]`` on, unordered."""

    start: NDArray[np.int64]
    length: NDArray[np.int64]
    topic: NDArray[np.uint16]
    number: NDArray[np.int32]


class Word(NamedTuple):
    """The current word: its counts by topic, and its topics, including those emptied meanwhile.

    ``sizes`` are the numbers of these topics and of those that are not empty; ``mass[0]`` is Σ alpha · phi over them.
    ``inverse`` is 1 / (topic + W·beta) and ``less`` the same with one token less; ``running`` is scratch for running
    sums, ``weights`` for a weight per topic.
    """

    row: NDArray[np.int32]
    listed: NDArray[np.bool_]
    topics: NDArray[np.int64]
    sizes: NDArray[np.int64]
    mass: NDArray[np.float64]
    inverse: NDArray[np.float64]
    less: NDArray[np.float64]
    running: NDArray[np.float64]
    weights: NDArray[np.float64]


@compiled
def make_word(counts, priors, longest):
    """Scratch space for pruned sweeps over documents of at most ``longest`` tokens."""
    n_topics = counts.topic.shape[0]
    word = Word(
        np.zeros(n_topics, np.int32),
        np.zeros(n_topics, np.bool_),
        np.zeros(n_topics, np.int64),
        np.zeros(2, np.int64),
        np.zeros(1),
        np.empty(n_topics),
        np.empty(n_topics),
        np.zeros(max(1, min(longest, n_topics))),
        np.zeros(n_topics),
    )
    for k in range(n_topics):
        set_inverse(counts, priors, word, k)
    return word


@inlined
def set_inverse(counts, priors, word, k):
    """Set the inverses of a topic's total."""
    word.inverse[k] = 1.0 / (counts.topic[k] + priors.beta_sum)
    word.less[k] = 1.0 / (counts.topic[k] - 1 + priors.beta_sum)


@inlined
def phi(priors, word, w, k):
    """P(word | topic), with all tokens counted."""
    return (word.row[k] + np.float64(priors.beta[w])) * word.inverse[k]


@inlined
def open_word(counts, priors, word, w):
    """Expand the word's list into its row, and sum its mass."""
    first = counts.start[w]
    n = counts.length[w]
    word.sizes[0] = n
    word.sizes[1] = n
    word.mass[0] = 0.0
    for t in range(n):
        k = np.int64(counts.entry_topic[first + t])
        word.row[k] = counts.entry_number[first + t]
        word.listed[k] = True
        word.topics[t] = k
        word.mass[0] += priors.alpha[k] * phi(priors, word, w, k)


@inlined
def _close_word(counts, word, w):
    """Write the word's counts back into its sorted list; O(its topics), if few of them are new."""
    first = counts.start[w]
    n = 0
    for t in range(word.sizes[0]):
        k = word.topics[t]
        number = word.row[k]
        word.row[k] = 0
        word.listed[k] = False
        if number == 0:
            continue
        at = first + n
        while at > first and counts.entry_topic[at - 1] > k:
            counts.entry_topic[at] = counts.entry_topic[at - 1]
            counts.entry_number[at] = counts.entry_number[at - 1]
            at -= 1
        counts.entry_topic[at] = k
        counts.entry_number[at] = number
        n += 1
    counts.length[w] = n


@inlined
def _step_word(counts, priors, word, w, k, step):
    """Add or remove a token of the word in topic ``k``."""
    if word.row[k] > 0:
        word.mass[0] -= priors.alpha[k] * phi(priors, word, w, k)
    word.row[k] += step
    counts.topic[k] += step
    set_inverse(counts, priors, word, k)
    if word.row[k] > 0:
        word.mass[0] += priors.alpha[k] * phi(priors, word, w, k)
    if step > 0 and word.row[k] == 1:
        word.sizes[1] += 1
        if not word.listed[k]:
            word.listed[k] = True
            word.topics[word.sizes[0]] = k
            word.sizes[0] += 1
    if step < 0 and word.row[k] == 0:
        word.sizes[1] -= 1


@inlined
def _find(lists, d, k):
    """Position of topic ``k`` in a document's list, or the list's end."""
    first = lists.start[d]
    for j in range(first, first + lists.length[d]):
        if lists.topic[j] == k:
            return j
    return first + lists.length[d]


@inlined
def _add_to_document(lists, d, k):
    at = _find(lists, d, k)
    if at == lists.start[d] + lists.length[d]:
        lists.topic[at] = k
        lists.number[at] = 0
        lists.length[d] += 1
    lists.number[at] += 1


@inlined
def _take_from_document(lists, d, at):
    """Remove a token from the entry at position ``at``."""
    lists.number[at] -= 1
    if lists.number[at] == 0:
        last = lists.start[d] + lists.length[d] - 1
        lists.topic[at] = lists.topic[last]
        lists.number[at] = lists.number[last]
        lists.length[d] -= 1


@lean
def _open_lists(runs, b, topic_of, lists):
    """List the topics of a block's documents."""
    _, start, block_start, doc = runs
    begin, end = start[block_start[b]], start[block_start[b + 1]]
    lists.length[:] = 0
    for i in range(begin, end):
        lists.length[doc[i]] += 1
    lists.start[0] = 0
    for d in range(lists.length.shape[0]):
        lists.start[d + 1] = lists.start[d] + lists.length[d]
        lists.length[d] = 0
    for i in range(begin, end):
        _add_to_document(lists, doc[i], topic_of[i])


@inlined
def _own_phi(priors, word, w, k0):
    """Phi of the token's own topic, with the token left out."""
    return (word.row[k0] - 1 + np.float64(priors.beta[w])) * word.less[k0]


@inlined
def _weigh_document(priors, word, lists, d, w, k0, own):
    """Running sums over the document's topics: n · phi, plus alpha · phi where the word has no other token.

    The current token, of topic ``k0``, is left out; ``own`` is its topic's phi. Returns the number of remaining topics
    that the word does not have, and the position of the token's own.
    """
    beta = np.float64(priors.beta[w])
    alone = 0
    total = 0.0
    first = lists.start[d]
    at = first
    for j in range(lists.length[d]):
        k = np.int64(lists.topic[first + j])
        number = lists.number[first + j]
        row = word.row[k]
        phi = (row + beta) * word.inverse[k]
        if k == k0:
            at = first + j
            row -= 1
            number -= 1
            phi = own
        alpha = np.float64(priors.alpha[k]) if row == 0 else 0.0
        only_here = row == 0 and number > 0
        alone += only_here
        total += (number + alpha if number > 0 else 0.0) * phi
        word.running[j] = total
    return alone, at


@inlined
def _rest_of_word(priors, word, w, k0, own):
    """Number of topics that the word has without the current token, and their mass."""
    mass = word.mass[0] - priors.alpha[k0] * phi(priors, word, w, k0)
    if word.row[k0] > 1:
        return word.sizes[1], mass + priors.alpha[k0] * own
    return word.sizes[1] - 1, mass


@inlined
def _draw_everywhere(priors, word, w, k0, own, stream):
    """Draw among all topics, for the only token of a document whose word has no other token."""
    for k in range(word.weights.shape[0]):
        word.weights[k] = priors.alpha[k] * (own if k == k0 else phi(priors, word, w, k))
    return draw_positive(word.weights, word.weights.shape[0], stream)


@inlined
def _draw_pruned(priors, word, lists, d, w, k0, own, n_word, mass, stream):
    """Draw a topic from the running sums of ``_weigh_document`` and the word's ``mass`` over ``n_word`` topics."""
    n = lists.length[d]
    here = word.running[n - 1]
    left = uniform(stream) * (here + mass) if n_word > 0 else uniform(stream) * here
    if n_word == 0 or left < here:
        j = 0
        while j < n - 1 and word.running[j] <= left:
            j += 1
        return np.int64(lists.topic[lists.start[d] + j])
    left -= here
    chosen = k0
    for t in range(word.sizes[0]):
        k = word.topics[t]
        row = word.row[k] - (k == k0)
        if row > 0:
            chosen = k
            left -= priors.alpha[k] * (own if k == k0 else phi(priors, word, w, k))
            if left < 0.0:
                break
    return chosen


@compiled
def sweep_words_pruned(runs, topic_of, counts, priors, block_docs, stream):
    """One pruned sweep over word runs; changes topics (in run order), counts, stream; returns the number of candidates.

    Cost: O(the document's topics) for each token and O(the word's topics) for each run.
    """
    most, longest = _most_tokens(runs, block_docs)
    lists = Lists(
        np.zeros(block_docs + 1, np.int64),
        np.zeros(block_docs, np.int64),
        np.zeros(most, np.uint16),
        np.zeros(most, np.int32),
    )
    return _sweep_pruned(runs, topic_of, counts, priors, lists, make_word(counts, priors, longest), stream)


@compiled
def _most_tokens(runs, block_docs):
    """Number of tokens of the largest block and of the longest document."""
    most, longest = 0, 0
    for b in range(runs.block_start.shape[0] - 1):
        begin, end = runs.start[runs.block_start[b]], runs.start[runs.block_start[b + 1]]
        lengths = np.zeros(block_docs, np.int64)
        for i in range(begin, end):
            lengths[runs.doc[i]] += 1
        most, longest = max(most, end - begin), max(longest, lengths.max())
    return most, longest


@lean
def _sweep_pruned(runs, topic_of, counts, priors, lists, word, stream):
    considered = 0
    for b in range(runs.block_start.shape[0] - 1):
        _open_lists(runs, b, topic_of, lists)
        for r in range(runs.block_start[b], runs.block_start[b + 1]):
            w = np.int64(runs.word[r])
            open_word(counts, priors, word, w)
            for i in range(runs.start[r], runs.start[r + 1]):
                d, k0 = np.int64(runs.doc[i]), np.int64(topic_of[i])
                own = _own_phi(priors, word, w, k0)
                alone, at = _weigh_document(priors, word, lists, d, w, k0, own)
                n_word, mass = _rest_of_word(priors, word, w, k0, own)
                if alone + n_word > 0:
                    k = _draw_pruned(priors, word, lists, d, w, k0, own, n_word, mass, stream)
                    considered += alone + n_word
                else:
                    k = _draw_everywhere(priors, word, w, k0, own, stream)
                    considered += counts.topic.shape[0]
                if k == k0:
                    continue
                topic_of[i] = k
                _take_from_document(lists, d, at)
                _add_to_document(lists, d, k)
                _step_word(counts, priors, word, w, k0, -1)
                _step_word(counts, priors, word, w, k, 1)
            _close_word(counts, word, w)
    return considered


@compiled
def pruned_weights(runs, topic_of, counts, priors, block_docs, r, i):
    """Weights from which ``sweep_words_pruned`` would draw token ``i`` of run ``r``, in the first block; for tests.

    Uses the functions of the sweep itself, and leaves the state as it was. Also returns the number of candidates and
    the mass of the word's topics.
    """
    most, longest = _most_tokens(runs, block_docs)
    lists = Lists(
        np.zeros(block_docs + 1, np.int64),
        np.zeros(block_docs, np.int64),
        np.zeros(most, np.uint16),
        np.zeros(most, np.int32),
    )
    word = make_word(counts, priors, longest)
    _open_lists(runs, 0, topic_of, lists)
    w, d, k0 = np.int64(runs.word[r]), np.int64(runs.doc[i]), np.int64(topic_of[i])
    open_word(counts, priors, word, w)
    own = _own_phi(priors, word, w, k0)
    alone, _ = _weigh_document(priors, word, lists, d, w, k0, own)
    n_word, mass = _rest_of_word(priors, word, w, k0, own)
    weights = np.zeros(counts.topic.shape[0])
    for j in range(lists.length[d]):
        weights[lists.topic[lists.start[d] + j]] = word.running[j] - (word.running[j - 1] if j else 0.0)
    for t in range(word.sizes[0]):
        k = word.topics[t]
        if word.row[k] - (k == k0) > 0:
            weight = priors.alpha[k] * (own if k == k0 else phi(priors, word, w, k))
            weights[k] += weight
            mass -= weight
    return weights, alone + n_word, mass


@compiled
def enter_documents(documents, docs, topic, counts, priors, stream):
    """Add documents one after the other, drawing each token among the topics of its word, or all if the word is new.

    Changes topics, counts and stream; returns the total number of candidates. Cost: O(the word's topics) for each
    token.
    """
    n_topics = counts.topic.shape[0]
    number = np.zeros(n_topics, np.int32)
    return _enter(documents, docs, topic, counts, priors, number, make_word(counts, priors, 1), stream)


@lean
def _enter(documents, docs, topic, counts, priors, number, word, stream):
    considered = 0
    for c in range(docs.shape[0]):
        begin, end = documents.doc_start[docs[c]], documents.doc_start[docs[c] + 1]
        for i in range(begin, end):
            w = np.int64(documents.tokens[i])
            open_word(counts, priors, word, w)
            n = word.sizes[0]
            if n == 0:
                n = counts.topic.shape[0]
                for k in range(n):
                    word.topics[k] = k
            for t in range(n):
                k = word.topics[t]
                word.weights[t] = (number[k] + priors.alpha[k]) * phi(priors, word, w, k)
            k = word.topics[draw_positive(word.weights, n, stream)]
            considered += n
            for t in range(word.sizes[0]):
                word.row[word.topics[t]] = 0
                word.listed[word.topics[t]] = False
            topic[i] = k
            number[k] += 1
            counts.topic[k] += 1
            add_to_list(counts, w, k)
            set_inverse(counts, priors, word, k)
        for i in range(begin, end):
            number[topic[i]] = 0
    return considered
