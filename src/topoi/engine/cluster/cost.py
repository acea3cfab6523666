"""Cost of a fit on a cluster, before it is begun: memory of a worker, bytes moved, seconds of a sweep.

The model is a sum of what a sweep does one after the other: counts are brought up to date, shards are sampled and
compared with the counts, changes are added up, sent and applied, and the scheduler places the tasks. Its constants are
those of the machines: ``python -m benchmarks.scale`` measures them and sets its predictions beside what was measured.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoi.engine.cluster.sampling import plan_ranges

# Share of the moving tokens that go to a topic which need not have their word.
_ANYWHERE = 0.05
# Passes over the cells of a sum of changes, besides one for each of the changes.
_OF_SUM = 3


class Machine(NamedTuple):
    """Speeds of the machines of a cluster.

    Attributes
    ----------
    tokens_per_second : float
        Tokens that one thread samples, at the number of topics that is planned; a fit here tells it.
    cells_per_second : float
        Counts that one thread copies, compares or adds up while all threads do.
    bytes_per_second : float
        Network of one machine.
    seconds_per_task : float
        Scheduling of a task.
    seconds_per_sweep : float
        What a sweep takes besides: messages between client, scheduler and workers, one after the other.
    cells_alone : float, optional
        Counts that one thread adds up while the others wait, if that is more: threads share memory and cores.
    """

    tokens_per_second: float
    cells_per_second: float = 4e8
    bytes_per_second: float = 1e9
    seconds_per_task: float = 1e-3
    seconds_per_sweep: float = 0.015
    cells_alone: float | None = None


class Cost(NamedTuple):
    """Cost of one sweep: its time, that on one thread of one machine, and memory of a worker.

    ``bytes_merged`` is the size of the sum of all changes, which every worker receives; ``bytes_of_worker`` that of the
    changes of one worker's shards, which it sends.
    """

    seconds: float
    alone: float
    bytes_merged: float
    bytes_of_worker: float
    memory: float

    @property
    def speed_up(self) -> float:
        """Times as fast as one thread without a cluster."""
        return self.alone / self.seconds


def sent_bytes(n_cells: float, n_changed: float) -> float:
    """Bytes of changes: sparse, five for each changed cell, or dense, one for every cell, whichever is less.

    Examples
    --------
    >>> from topoi.engine.cluster.cost import sent_bytes
    >>> sent_bytes(1e6, 1e4), sent_bytes(1e6, 9e5)
    (50000.0, 1000000.0)
    """
    return float(min(5 * n_changed, n_cells))


def changed_cells(word_topic: ArrayLike, moved: float) -> float:
    """Expected number of counts of words by topics that change in a sweep, if a share of the tokens moves.

    A cell loses and gains Poisson numbers of tokens, and has not changed if they are equal. Most tokens move to a topic
    in proportion to its number of the same word; one in twenty, by measurement, to any topic.

    Examples
    --------
    >>> from topoi.engine.cluster.cost import changed_cells
    >>> round(changed_cells([[1e4, 1e4]], 0.5), 2), round(changed_cells([[10.0, 0.0]], 0.5), 2)
    (1.99, 0.99)
    """
    from scipy.special import ive

    counts = np.asarray(word_topic, np.float64)
    losses = moved * counts
    gains = (1 - _ANYWHERE) * losses + _ANYWHERE * losses.mean(axis=1, keepdims=True)
    middle = 2 * np.sqrt(losses * gains)
    return float((1 - ive(0, middle) * np.exp(middle - losses - gains)).sum())


def zipf_times(n_tokens: float, n_words: int, offset: float = 50.0) -> NDArray[np.float64]:
    """Numbers of tokens of words by the law of Zipf and Mandelbrot, without the commonest words.

    Examples
    --------
    >>> from topoi.engine.cluster.cost import zipf_times
    >>> zipf_times(300, 2, 1.0).tolist()
    [200.0, 100.0]
    """
    share = 1 / (np.arange(n_words) + offset)
    return n_tokens * share / share.sum()


def predict(
    n_tokens: float,
    n_words: int,
    n_topics: int,
    n_workers: int,
    machine: Machine,
    n_threads: int = 1,
    n_shards: int | None = None,
    moved: float = 0.3,
    bytes_per_token: int = 22,
    word_topic: ArrayLike | None = None,
) -> Cost:
    """Predict the cost of a sweep of LDA.

    Parameters
    ----------
    n_tokens, n_words, n_topics : number
        The corpus and the model.
    n_workers, n_threads : int
        Workers, and threads of each.
    machine : Machine
        Speeds of the machines.
    n_shards : int, optional
        One for each thread if not given.
    moved : float
        Share of the tokens that change their topic in a sweep: most at first, a tenth to a half later.
    bytes_per_token : int
        Memory for a token on its worker.
    word_topic : array, optional
        Counts of words by topics, as a short fit has them. If not given, words are those of ``zipf_times``, each spread
        evenly over the topics: then more is sent than in any fit.

    Examples
    --------
    >>> from topoi.engine.cluster.cost import Machine, predict
    >>> cost = predict(1e9, 100_000, 200, 16, Machine(1e7), n_threads=4)
    >>> round(cost.speed_up), round(cost.memory / 1e9, 1)
    (41, 1.9)
    """
    threads = n_workers * n_threads
    n_shards = n_shards or threads
    cells = float(n_words) * (-(-n_topics // 16) * 16)
    n_ranges = plan_ranges(n_shards, int(cells))
    in_shard = n_tokens / n_shards
    if word_topic is None:
        tokens, alike = zipf_times(n_tokens, n_words)[:, None] / n_topics, n_topics
    else:
        tokens, alike = np.asarray(word_topic, np.float64), 1
    of_all = sent_bytes(cells, alike * changed_cells(tokens, moved))
    turns = math.ceil(n_shards / threads)
    # Copies and comparisons of counts: once for the new counts, then for every shard of a thread.
    passes = 2 + 3 * turns
    # A worker adds up the changes of its shards, a thread for each range; then each range is added up on one worker.
    # Besides the changes there are three passes over a sum: it is cleared, looked through, and written down.
    of_worker = sent_bytes(cells, alike * changed_cells(tokens / n_workers, moved))
    own, ranges_here = math.ceil(n_shards / n_workers), math.ceil(n_ranges / n_workers)
    alone = machine.cells_alone or machine.cells_per_second
    merging = (own + _OF_SUM) / min(n_ranges, n_threads) * cells / machine.cells_per_second if own > 1 else 0.0
    received, n_tasks = 0.0, n_shards + n_ranges
    if n_workers > 1:
        rows = (n_workers + _OF_SUM) / n_ranges * math.ceil(ranges_here / n_threads)
        merging += rows * cells / (alone if n_ranges == 1 else machine.cells_per_second)
        received = ranges_here * n_workers * of_worker / n_ranges
        n_tasks += n_workers * n_ranges
    # The client adds the sum to its own counts before the next sweep begins; everybody waits for that.
    merging += cells / alone
    # It is sent to the client and then to the workers.
    sending = (received + 2 * of_all) / machine.bytes_per_second
    seconds = (
        turns * in_shard / machine.tokens_per_second
        + passes * cells / machine.cells_per_second
        + merging
        + sending
        + n_tasks * machine.seconds_per_task
        + machine.seconds_per_sweep
    )
    memory = (2 + n_threads) * 4 * cells + bytes_per_token * n_tokens / n_workers
    return Cost(seconds, n_tokens / machine.tokens_per_second, of_all, of_worker, memory)
