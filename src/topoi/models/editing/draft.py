"""Edits tried on a copy of a chain: assignments, prior weights and settings change, the fitted model does not.

A draft holds what a chain is restored from. ``apply`` makes one edit, ``settled`` sweeps over the documents concerned
while all others stay, and ``run`` over everything.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.pieces import take_rows
from topoi.engine.gibbs import Chain
from topoi.engine.loop import SweepInfo
from topoi.engine.shards import resolve_shards
from topoi.errors import ModelError
from topoi.models.catalogue import CorpusCatalogue
from topoi.models.editing import rules
from topoi.models.editing.glance import Glance, take_glance
from topoi.models.editing.records import Edit, retired_topics
from topoi.models.editing.splitting import restricted_problem, split_tokens
from topoi.models.growing import Arrays, Grown, sample_new
from topoi.models.guidance.settings import SETTINGS

if TYPE_CHECKING:
    from topoi.models.gibbs import GibbsModel

# Part of its prior weight that a topic keeps when it is merged into another: priors are positive.
_LEFT = 1e-3
# Sweeps over the documents concerned, before all documents are swept: fewer if they have very many words.
_MOST_SWEEPS, _FEWEST_SWEEPS, _WORK = 10, 3, 10_000_000
# Numbers of random streams beyond those of any shard: of splits, and of sweeps over the documents concerned.
_SPLIT_STREAM, _SWEEP_KEY = 2**62 + 2**32, 2**60


class Draft:
    """A chain to be edited, as arrays; ``model`` is a copy with the settings that the edited model will have.

    ``topics`` and ``documents`` are those concerned so far: a mask of documents. Sweeps over all documents are made by
    ``n_jobs`` threads, as many as the model has if nothing is said; its settings stay.
    """

    def __init__(self, model: GibbsModel[Any, Any], n_jobs: int | None = None) -> None:
        self._n_jobs = n_jobs
        self.model = copy.copy(model)
        # What is told about documents by their numbers is told by their ids: they are put into another order.
        self.model.set_params(**model._grown_settings(model.corpus_.n_words, 0), n_chains=1)
        self.sampler: Any = model._sampler
        self._chains = model._chains
        self.corpus = model.corpus_
        self.arrays: Arrays = dict(self.sampler.to_arrays(model._chains[0]))
        if "order" in self.arrays:
            raise ModelError("documents are still coming into the chain (sparse=True); run resume before edits")
        # Edits change arrays in place.
        self.before: Arrays = {"topic": np.array(self.arrays["topic"])}
        self.seed, self.sweep = model._seed, model.n_iter_
        self.edits = model.edits_
        self.n_pending = 0
        self.topics: set[int] = set()
        self.documents = np.zeros(self.corpus.n_docs, bool)
        self._given_sweeps: int | None = None

    def is_of(self, model: GibbsModel[Any, Any]) -> bool:
        """Whether the model is still what it was when the draft was opened."""
        return model._chains is self._chains

    @property
    def n_topics(self) -> int:
        """Topics, retired ones included."""
        return int(self.sampler.n_topics)

    @property
    def retired(self) -> list[int]:
        """Topics that were merged into others."""
        return retired_topics(self.edits)

    @property
    def changed(self) -> bool:
        """Whether anything but names has changed."""
        return bool(self.topics)

    def size(self, topic: int) -> int:
        """Tokens of a topic."""
        return int(np.count_nonzero(self.arrays["topic"] == topic))

    def main_topic(self, document: int) -> int:
        """The topic of most of a document's words; a ``ModelError`` if it has none."""
        start = self.corpus.doc_start
        own = self.arrays["topic"][start[document] : start[document + 1]]
        if not len(own):
            raise ModelError(f"document {document} has no words")
        return int(np.bincount(own).argmax())

    def new_numbers(self, n: int) -> list[int]:
        """Numbers for new topics: those of retired ones first, then the next."""
        return [*self.retired, *range(self.n_topics, self.n_topics + n)][:n]

    def apply(self, edit: Edit) -> None:
        """Make one edit, which was checked."""
        makers: dict[str, Callable[[Edit], None]] = {
            "merge": self._merge,
            "split": self._split,
            "rename": lambda _: None,
            "ban": self._ban,
            "pin": self._pin,
            "freeze": self._freeze,
            "send": self._send,
        }
        makers[edit.kind](edit)
        self.edits = [*self.edits, edit]
        self.n_pending += 1

    def _concern(self, topics: Sequence[int], tokens: NDArray[np.bool_]) -> None:
        """Note topics, and the documents of tokens, given as a mask."""
        self.topics |= set(topics)
        doc = np.searchsorted(self.corpus.doc_start, np.flatnonzero(tokens), side="right") - 1
        self.documents[doc] = True

    def _tell(self, rule: Callable[..., dict[str, Any]], *given: Any, needed: bool = True) -> None:
        """Change the guidance; tokens that are now where they may not be are drawn anew."""
        settings = self.model.get_params(deep=False)
        if not set(SETTINGS) <= settings.keys():
            if not needed:
                return
            raise ModelError(f"{type(self.model).__name__} takes no guidance of topics, which this edit needs")
        told = {name: settings[name] for name in SETTINGS}
        told |= rule(told, self._names, *given)
        # Sparse schemes take no guidance; the exact sampler draws from what they approximate.
        exact = {"sparse": False} if settings.get("sparse") and any(told.values()) else {}
        self.model.set_params(**told, **exact)
        self._restart()

    @property
    def _names(self) -> Sequence[str]:
        """Names by which guidance knows the first topics."""
        told = self.sampler.guidance
        return () if told is None else tuple(told.names)

    def _restart(self) -> None:
        """Another sampler, of the present settings, and arrays that fit it."""
        sampler = self.model._sampler_like(self.sampler, self.corpus, 1)
        self.arrays = dict(sampler.to_arrays(sampler.restore(0, self.arrays, [])))
        self.sampler = sampler

    def _merge(self, edit: Edit) -> None:
        kept, *gone = edit.topics
        topic = self.arrays["topic"]
        self._concern(edit.topics, np.isin(topic, edit.topics))
        for k in gone:
            topic[topic == k] = kept
            self.arrays = self.sampler.with_weight_moved(self.arrays, k, kept, 1.0 - _LEFT, fresh=False)
            self._tell(rules.retired, k, kept)
            topic = self.arrays["topic"]

    def _split(self, edit: Edit) -> None:
        source, *new = edit.topics
        at = np.flatnonzero(self.arrays["topic"] == source)
        self._concern(edit.topics, self.arrays["topic"] == source)
        n_new = max(edit.topics) + 1 - self.n_topics
        if n_new > 0:
            self._widen(n_new)
        self._tell(rules.divided, source, new, needed=False)
        for left, k in zip(range(len(new) + 1, 1, -1), new, strict=True):
            self.arrays = self.sampler.with_weight_moved(self.arrays, source, k, 1.0 / left, fresh=True)
        topics = np.array(edit.topics)
        problem = restricted_problem(self.sampler, self.arrays, self.corpus.tokens, at, topics)
        found = split_tokens(problem, self.seed, self.sweep, _SPLIT_STREAM + self._key)
        self.arrays["topic"][at] = topics[found]

    def _ban(self, edit: Edit) -> None:
        (k,) = edit.topics
        self._concern(edit.topics, (self.arrays["topic"] == k) & self._are(edit.words))
        self._tell(rules.banned, k, edit.words)

    def _pin(self, edit: Edit) -> None:
        (k,) = edit.topics
        elsewhere = (self.arrays["topic"] != k) & self._are(edit.words)
        self._concern([k, *np.unique(self.arrays["topic"][elsewhere]).tolist()], elsewhere)
        self._tell(rules.pinned, k, edit.words)

    def _freeze(self, edit: Edit) -> None:
        (k,) = edit.topics
        self._concern(edit.topics, self.arrays["topic"] == k)
        if len(self.topics) > 1:
            # Tokens that an edit before this one has sent away are anywhere until they are sampled.
            tokens = self.corpus.tokens[self.settled()["topic"] == k]
            times = np.bincount(tokens, minlength=self.corpus.n_words)
        else:
            times = np.rint(self.model.chains_[0].source.word_rows(np.arange(self.corpus.n_words))[:, k])
        words = np.flatnonzero(times)
        names = [str(word) for word in self.corpus.words[words]]
        self._tell(rules.frozen, k, dict(zip(names, times[words].astype(int).tolist(), strict=True)))

    def _send(self, edit: Edit) -> None:
        source, *target = edit.topics
        d = CorpusCatalogue(self.corpus).find_document(str(edit.document))
        assert d is not None
        topic = self.arrays["topic"][self.corpus.doc_start[d] : self.corpus.doc_start[d + 1]]
        topic[topic == source] = target[0] if target else source
        self.topics |= set(edit.topics)
        self.documents[d] = True
        self._tell(rules.kept_away, source, edit.document)

    def _are(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Tokens of some words, as a mask."""
        return np.isin(self.corpus.tokens, [self.corpus.vocabulary.index(word) for word in words])

    @property
    def _key(self) -> int:
        """Number of edits that are not undone, by which random streams are told apart."""
        return sum(not edit.undone for edit in self.edits)

    def _widen(self, n_new: int) -> None:
        """Add topics."""
        self.model.set_params(**self.model._topic_settings(n_new))
        wide = self.model._sampler_like(self.sampler, self.corpus, 1)
        self.arrays = self.arrays | wide.widened(self.arrays, self.sampler, 1.0)
        self.sampler = wide

    def settled(self, watch: Callable[[], None] = lambda: None) -> Arrays:
        """Arrays after sweeps over the documents concerned, given all others; ``watch`` is called before each."""
        docs, n_docs = np.flatnonzero(self.documents), self.corpus.n_docs
        rest = np.flatnonzero(~self.documents)
        if not len(docs):
            return self.arrays
        order = np.concatenate([rest, docs])
        names = list(self.sampler.sampled)
        ordered = self.corpus.subset(order)
        sampler = self.model._sampler_like(self.sampler, ordered, (len(rest),) if len(rest) else 1)
        how = self.corpus.scratch
        _, taken = take_rows(self.corpus.doc_start, order, [self.arrays[name] for name in names], how)
        chain = sampler.restore(0, self.arrays | dict(zip(names, taken, strict=True)), [])
        grown = Grown(sampler, [], self.seed, self.sweep)
        for number in range(self._n_sweeps()):
            watch()
            sample_new(sampler, chain, grown, _SWEEP_KEY + (self._key << 10) + number, 1, shard=int(len(rest) > 0))
        found = sampler.to_arrays(chain)
        back = np.argsort(order)
        _, taken = take_rows(ordered.doc_start, back, [found[name] for name in names], how)
        assert n_docs == len(back)
        return self.arrays | dict(zip(names, taken, strict=True))

    def _n_sweeps(self) -> int:
        """Sweeps over the documents concerned."""
        if self._given_sweeps is not None:
            return self._given_sweeps
        n_tokens = int(self.corpus.doc_lengths[self.documents].sum())
        return min(max(_WORK // max(n_tokens, 1), _FEWEST_SWEEPS), _MOST_SWEEPS)

    def without_edits(self, model: GibbsModel[Any, Any], documents: NDArray[np.bool_]) -> Draft:
        """A draft of the model as it is, whose documents concerned are swept as often as those of this one."""
        plain = Draft(model, self._n_jobs)
        plain.documents, plain._given_sweeps = documents, self._n_sweeps()
        return plain

    def chain(self, arrays: Arrays) -> tuple[Any, Chain]:
        """Sampler and chain of some arrays; trace and samples begin anew: earlier ones are of other topics."""
        n_shards = resolve_shards(self.model.n_shards, self.corpus.n_tokens, self.corpus.n_docs)
        sampler = self.model._sampler_like(self.sampler, self.corpus, n_shards)
        chain = sampler.restore(0, arrays, [])
        # Samples are counted from an even sweep.
        chain.sweep, chain.seed, chain.since = self.sweep, self.seed, self.sweep - self.sweep % 2
        chain.trace.append((self.sweep, sampler.log_joint(chain)))
        return sampler, chain

    def run(
        self,
        arrays: Arrays,
        n_iter: int,
        callback: Callable[[SweepInfo], Any] | None = None,
        progress: bool | None = None,
        look: Callable[[SweepInfo, Callable[[], Glance]], Any] | None = None,
    ) -> GibbsModel[Any, Any]:
        """The edited model after ``n_iter`` sweeps over everything; the fitted one stays as it is.

        ``look`` is called after each sweep with a function that looks at the chain as it is then.
        """
        edited = copy.copy(self.model)
        edited.progress = self.model.progress if progress is None else progress
        edited.n_jobs = self.model.n_jobs if self._n_jobs is None else self._n_jobs
        sampler, chain = self.chain(arrays)
        running = [chain]
        if look is not None:
            callback = self._looking(sampler, running, callback, look)
        outcome, settled = edited._run(
            sampler, running, edited._schedule(self.sweep + n_iter, self.seed), self.sweep, None, callback
        )
        edited.n_jobs = self.model.n_jobs
        edited._sampler, edited._chains = sampler, running
        edited._settled = running if settled is running else settled
        edited._settings = edited._settings_of_fit()
        edited._finish(outcome, self.sweep)
        # The one chain that goes on is the one that was first.
        edited.chains_[0].remember_names(*self.model.chains_[0].names_known)
        return edited

    def _looking(
        self,
        sampler: Any,
        running: list[Chain],
        callback: Callable[[SweepInfo], Any] | None,
        look: Callable[[SweepInfo, Callable[[], Glance]], Any],
    ) -> Callable[[SweepInfo], Any]:
        """A callback that lets somebody look at the chain."""
        before = self.before["topic"]

        def glance() -> Glance:
            now = sampler.to_arrays(running[0])["topic"]
            return take_glance(self.corpus, sorted(self.topics), before, now, int(sampler.n_topics))

        def watch(info: SweepInfo) -> Any:
            look(info, glance)
            return None if callback is None else callback(info)

        return watch
