"""Update of a fitted Gibbs model by new documents: the chains go on over more documents, words, authors and topics.

Old topics keep their numbers. New documents are first sampled given the old ones (``models.growing``), then all sweeps
go over everything. With spare topics, the first half of the sweeps leaves a part of the new documents out, by which the
spare topics are judged; the second half has all. The fitted model is changed at the very end, so a failed update
leaves it as it was.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.joining import Joined
from topoi.engine.executors import Executor, open_executor, resolve_jobs
from topoi.engine.gibbs import Chain
from topoi.engine.interruption import interruptible
from topoi.engine.loop import SweepInfo
from topoi.engine.shards import resolve_shards
from topoi.errors import ModelError
from topoi.kernels.random import new_stream
from topoi.models.growing import Arrays, Grown, add_documents, sample_new
from topoi.models.spare_topics import Gain, gains, most_like, unexplained
from topoi.models.update_report import UpdateReport, make_report

if TYPE_CHECKING:
    from topoi.models.gibbs import GibbsModel

# Part of the new documents that spare topics are judged by, at most so many, and the fewest for which that makes sense.
_HELD_OUT, _MOST_HELD_OUT, _FEWEST_HELD_OUT = 0.5, 1000, 3
# Sweeps over the new documents after a spare topic has been opened, and the fewest tokens it then has to be one.
_SWEEPS_PER_SPARE, _FEWEST_TOKENS = 15, 10
# Numbers of random streams beyond those of any shard: the choice of held-out documents, and halves of them.
_HELD_STREAM, _HALF_STREAM = 2**62 + 1, 2**62 + 2


def run_update(
    model: GibbsModel[Any, Any],
    joined: Joined,
    n_iter: int,
    n_spare: int,
    callback: Callable[[SweepInfo], Any] | None,
) -> None:
    """Update the model in place; see ``GibbsModel.update``."""
    corpus, start = joined.corpus, time.perf_counter()
    n_old, n_topics, done = model.corpus_.n_docs, int(model.chains_[0].n_topics), model.n_iter_
    chains = sorted(model._chains, key=lambda chain: chain.index)
    old = Grown(model._sampler, [dict(model._sampler.to_arrays(chain)) for chain in chains], model._seed, done)
    narrow = _with_settings(model, corpus, 0)
    wide = _with_settings(model, corpus, n_spare)
    found: list[list[Gain]] = [[] for _ in chains]
    last = done + n_iter
    held = _held_out(corpus, n_old, model._seed, done) if n_spare else np.zeros(0, np.int64)
    # A signal before all documents are in leaves the model as it was.
    with interruptible() as interrupted, open_executor(resolve_jobs(model.n_jobs), len(chains)) as executor:
        rows, grown = np.arange(n_old), old
        if n_spare:
            rows = np.setdiff1d(np.arange(corpus.n_docs), held)
            part = corpus if not len(held) else corpus.subset(rows)
            grown = add_documents(_maker(narrow, old), old, part, np.arange(n_old), executor)
            # A spare topic is expected in new documents alone, so its prior weight is their part of all words.
            weight = 1.0 - float(corpus.doc_start[n_old] / corpus.n_tokens)
            grown = _open_spares(wide, grown, part, n_old, n_topics, n_spare, weight, executor)
            if len(held):
                grown, stopped = _swept(wide, grown, part, done + n_iter // 2, callback)
                last = grown.sweep if stopped else last
                how = partial(_gains, part, corpus.subset(held), n_topics, n_spare, grown)
                found = [] if interrupted.is_set() else list(executor.map(how, range(len(chains))))
        if interrupted.is_set():
            interrupted.give_up("all new documents were in")
        if len(rows) < corpus.n_docs:
            grown = add_documents(_maker(wide, grown), grown, corpus, rows, executor)
        sampler, running = _begun(wide, grown, corpus)
        schedule = wide._schedule(last, model._seed)
        outcome, settled = wide._run(sampler, running, schedule, grown.sweep, None, callback)
    wide.corpus_, wide._sampler, wide._chains, wide._settled = corpus, sampler, running, settled
    wide._settings = wide._settings_of_fit()
    wide._finish(outcome, grown.sweep)
    report = make_report(model, wide, joined, outcome.sweep - done, found[wide.chains_[0].index], len(held))
    seconds = time.perf_counter() - start
    wide._seconds = wide.fit_info_["seconds"] = model._seconds + seconds
    wide._note_update(report._replace_seconds(seconds))
    model.__dict__.update(wide.__dict__)


def _with_settings(model: GibbsModel[Any, Any], corpus: Corpus, n_spare: int) -> GibbsModel[Any, Any]:
    """A copy of the model whose settings fit the corpus and so many topics more."""
    other = copy.copy(model)
    other.set_params(**model._grown_settings(corpus.n_words, n_spare))
    return other


def _maker(model: GibbsModel[Any, Any], grown: Grown) -> Any:
    return partial(model._sampler_like, grown.sampler)


def _held_out(corpus: Corpus, n_old: int, seed: int, sweep: int) -> NDArray[np.int64]:
    """New documents to judge spare topics by; none if there are too few."""
    new = n_old + np.flatnonzero(corpus.doc_lengths[n_old:] > 1)
    n = min(int(_HELD_OUT * len(new)), _MOST_HELD_OUT)
    if n < _FEWEST_HELD_OUT:
        return np.zeros(0, np.int64)
    rng = np.random.default_rng(new_stream(seed, 0, sweep, _HELD_STREAM))
    return np.sort(rng.choice(new, n, replace=False))


def _begun(model: GibbsModel[Any, Any], grown: Grown, corpus: Corpus) -> tuple[Any, list[Chain]]:
    """Sampler and chains of the grown arrays. Traces and samples begin anew: earlier ones are of other documents."""
    n_shards = resolve_shards(model.n_shards, corpus.n_tokens, corpus.n_docs)
    sampler = model._sampler_like(grown.sampler, corpus, n_shards)
    chains = []
    for index, arrays in enumerate(grown.arrays):
        chain = sampler.restore(index, arrays, [])
        # Samples are counted from an even sweep.
        chain.sweep, chain.seed, chain.since = grown.sweep, grown.seed, grown.sweep - grown.sweep % 2
        chain.trace.append((grown.sweep, sampler.log_joint(chain)))
        chains.append(chain)
    return sampler, chains


def _swept(
    model: GibbsModel[Any, Any],
    grown: Grown,
    corpus: Corpus,
    until: int,
    callback: Callable[[SweepInfo], Any] | None,
) -> tuple[Grown, bool]:
    """The chains after sweeps over everything they have, and whether the callback has stopped them."""
    sampler, chains = _begun(model, grown, corpus)
    schedule = model._schedule(until, grown.seed)
    outcome, _ = model._run(sampler, chains, schedule, grown.sweep, None, callback)
    chains = sorted(chains, key=lambda chain: chain.index)
    arrays = [dict(sampler.to_arrays(chain)) for chain in chains]
    return Grown(sampler, arrays, grown.seed, outcome.sweep), outcome.stopped == "callback"


def _open_spares(
    model: GibbsModel[Any, Any],
    grown: Grown,
    corpus: Corpus,
    n_old: int,
    n_topics: int,
    n_spare: int,
    weight: float,
    executor: Executor,
) -> Grown:
    """The chains with more topics, which begin one after the other with what is not explained yet."""
    everything = np.arange(corpus.n_docs)
    wide = add_documents(_maker(model, grown), grown, corpus, everything, executor, weight)
    sampler = model._sampler_like(wide.sampler, corpus, (n_old,))

    def run(index: int) -> Arrays:
        arrays, k = wide.arrays[index], n_topics
        # Twice as often as there are topics: some of what is not explained belongs to a topic opened before.
        for attempt in range(2 * n_spare):
            at = unexplained(corpus, arrays["topic"], arrays["beta"], n_old, n_topics, n_topics + n_spare)
            if not len(at):
                break
            like = most_like(corpus, arrays["topic"], at, n_topics, k)
            if like is None and k == n_topics + n_spare:
                break
            arrays["topic"][at] = k if like is None else like
            k += like is None
            chain = sampler.restore(index, arrays, [])
            sample_new(sampler, chain, wide, (corpus.n_docs << 20) + (1 + attempt << 10), _SWEEPS_PER_SPARE)
            arrays = dict(sampler.to_arrays(chain))
            if np.count_nonzero(arrays["topic"] == k - 1) < _FEWEST_TOKENS:
                break  # nothing came of it, and the next would begin with the same
        return arrays

    return Grown(sampler, list(executor.map(run, range(len(wide.arrays)))), wide.seed, wide.sweep)


def _gains(part: Corpus, unseen: Corpus, n_topics: int, n_spare: int, grown: Grown, index: int) -> list[Gain]:
    arrays = grown.arrays[index]
    rng = np.random.default_rng(new_stream(grown.seed, index, grown.sweep, _HALF_STREAM))
    return gains(part, arrays["topic"], arrays["beta"], n_topics, n_topics + n_spare, unseen, rng)


def checked_joined(joined: Joined, n_spare: int) -> Joined:
    """The joined corpus, unless nothing can be learned from what was added."""
    added = joined.added
    if n_spare and not added.n_docs:
        raise ModelError("spare topics form in new documents, and there are none")
    if added.n_docs and not added.n_tokens:
        raise ModelError(
            f"the {added.n_docs:,} new documents have no words that the model knows, and no new ones in enough of "
            "them: min_df=1 takes all"
        )
    return joined


__all__ = ["UpdateReport", "checked_joined", "run_update"]
