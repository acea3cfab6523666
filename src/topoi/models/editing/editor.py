"""``Editor``: edits of a fitted model in memory, from the first try to the last undo."""

from __future__ import annotations

import copy
import datetime
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from topoi.engine.loop import SweepInfo
from topoi.errors import ModelError, NotFoundError
from topoi.models.base import FittedModel
from topoi.models.catalogue import CorpusCatalogue
from topoi.models.editing.draft import Draft
from topoi.models.editing.glance import Glance
from topoi.models.editing.preview import Preview, make_preview
from topoi.models.editing.records import Edit, given_names, history_frame, retired_topics
from topoi.models.gibbs import GibbsModel
from topoi.models.growing import Arrays
from topoi.models.validation import whole_number

# States that are kept to go back to.
MOST_STATES = 10
_MOST_NEW = 20
_LONGEST_LABEL = 1000


class Editor:
    """Edits of a fitted model: tried on a copy, shown by ``preview``, made by ``commit``, taken back by ``undo``.

    Made by ``topoi.edit(model)``. Methods that edit return the editor, so that several can follow each other; a wrong
    one raises an error and changes nothing. Numbers of topics never change: a topic that is merged into another is
    retired and stays empty, until a split takes its number.

    An edit is of the best chain: a model of several chains has one after the first commit, since topics of different
    chains do not correspond.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 5)
    >>> model = topoi.LDA(3, n_iter=20, random_state=0).fit(corpus)
    >>> editor = topoi.edit(model)
    >>> model = editor.merge(0, 1).rename(0, "both").commit(n_iter=5)
    >>> editor.history()["text"].tolist()
    ['merge 1 into 0', "call 0 'both'"]
    >>> model = editor.undo()
    >>> editor.history()["undone"].tolist()
    [True, True]
    """

    def __init__(self, model: FittedModel, who: str = "", n_jobs: int | None = None) -> None:
        check_is_fitted(model, "n_iter_")
        why = model.why_not_edited()
        if why is not None or not isinstance(model, GibbsModel):
            raise ModelError(f"{type(model).__name__} cannot be edited: {why}; see docs/editing.md for models that can")
        self._model: GibbsModel[Any, Any] = model
        self._who = str(who)
        self._n_jobs = n_jobs
        self._draft: Draft | None = None
        self._settled: Arrays | None = None
        # States before commits, by step.
        self._before: dict[int, dict[str, Any]] = {}
        # What previews compare with, and the chains that it is of.
        self._now: tuple[Any, GibbsModel[Any, Any]] | None = None

    def __repr__(self) -> str:
        texts = "; ".join(edit.text for edit in self.pending) or "no edits"
        return f"<Editor of {type(self._model).__name__}: {texts}>"

    @property
    def model(self) -> Any:
        """The model as it is; edits that are not committed have not changed it."""
        return self._model

    @property
    def pending(self) -> list[Edit]:
        """Edits that are not committed yet.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.LDA(3, n_iter=5, random_state=0).fit([[2, 1], [1, 2]])
        >>> [edit.text for edit in topoi.edit(model).merge(0, 2).pending]
        ['merge 2 into 0']
        """
        draft = self._draft
        return [] if draft is None else draft.edits[len(draft.edits) - draft.n_pending :]

    @property
    def retired(self) -> list[int]:
        """Topics that were merged into others, pending edits included."""
        return retired_topics(self._model.edits_ if self._draft is None else self._draft.edits)

    def merge(self, topic: int, *others: int) -> Self:
        """Give the words of other topics to ``topic``; the others are retired: they stay empty, and ids never shift.

        Prior weights are added, as those of a Dirichlet are when two of its parts become one.

        Parameters
        ----------
        topic : int
            The topic that stays.
        *others : int
            Topics that go, one or more.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 5)
        >>> model = topoi.LDA(3, alpha=0.1, n_iter=20, random_state=0).fit(corpus)
        >>> model = topoi.edit(model).merge(0, 1).commit(n_iter=5)
        >>> int(model.topic_sizes()["n_words"][1])
        0
        """
        if not others:
            raise ModelError(f"merge topic {topic} with which other? Name it: merge({topic}, …)")
        numbers = [self._topic(k) for k in (topic, *others)]
        if len(set(numbers)) < len(numbers):
            raise ModelError(f"a topic cannot be merged with itself: {', '.join(map(str, numbers))}")
        return self._apply(Edit("merge", tuple(numbers)))

    def split(self, topic: int, into: int = 2) -> Self:
        """Split a topic by a short restricted Gibbs run over its words alone; the largest part keeps the number.

        New topics take the numbers of retired ones, or else the next. The run draws from the model's own conditional,
        with the topics of all other words fixed; sweeps after the commit decide what becomes of the parts.

        Parameters
        ----------
        topic : int
            The topic.
        into : int
            Number of parts.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 5)
        >>> model = topoi.LDA(3, alpha=0.1, n_iter=20, random_state=0).fit(corpus)
        >>> topoi.edit(model).merge(0, 1, 2).split(0)
        <Editor of LDA: merge 1 and 2 into 0; split 0: new 1>
        """
        number, n_new = self._topic(topic), whole_number("into", into, 2) - 1
        if n_new >= _MOST_NEW:
            raise ModelError(f"into is {into}; a topic is split into at most {_MOST_NEW} parts at a time")
        draft = self._open()
        if draft.size(number) < into:
            raise ModelError(f"topic {number} has {draft.size(number)} words of text: nothing to split into {into}")
        return self._apply(Edit("split", (number, *draft.new_numbers(n_new))))

    def rename(self, topic: int, label: str | None) -> Self:
        """Give a topic a name; None or an empty text takes it away. In a store it becomes the topic's label.

        Parameters
        ----------
        topic : int
            The topic.
        label : str or None
            The name, at most 1,000 characters.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 5)
        >>> model = topoi.LDA(3, alpha=0.1, n_iter=20, random_state=0).fit(corpus)
        >>> model = topoi.edit(model).rename(0, "nature").commit()
        >>> model.topic_labels()[0]
        'nature'
        """
        text = "" if label is None else str(label).strip()
        if len(text) > _LONGEST_LABEL or "\0" in text:
            raise ModelError(f"a name has at most {_LONGEST_LABEL} characters and no null character")
        return self._apply(Edit("rename", (self._topic(topic),), label=text))

    def ban(self, topic: int, words: str | Iterable[str]) -> Self:
        """Forbid a topic some words: their prior there becomes zero, and tokens that are there go elsewhere.

        Parameters
        ----------
        topic : int
            The topic.
        words : str or list of str
            Words of the vocabulary.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 5)
        >>> model = topoi.LDA(3, alpha=0.1, n_iter=20, random_state=0).fit(corpus)
        >>> model = topoi.edit(model).ban(0, ["sun", "star"]).commit()
        >>> model.topic_word_[0, corpus.words == "sun"].tolist()
        [0.0]
        """
        return self._apply(Edit("ban", (self._topic(topic),), words=self._words(words)))

    def pin(self, topic: int, words: str | Iterable[str]) -> Self:
        """Allow some words in a topic only, or only in it and others that they are pinned to.

        Parameters
        ----------
        topic : int
            The topic.
        words : str or list of str
            Words of the vocabulary.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 5)
        >>> model = topoi.LDA(3, alpha=0.1, n_iter=20, random_state=0).fit(corpus)
        >>> model = topoi.edit(model).pin(0, "sun").commit()
        >>> model.topic_word_[1:, corpus.words == "sun"].tolist()
        [[0.0], [0.0]]
        """
        return self._apply(Edit("pin", (self._topic(topic),), words=self._words(words)))

    def freeze(self, topic: int) -> Self:
        """Hold a topic at its present words: each counts twenty times as often as it is there, in the prior.

        Documents may still take up the topic, or leave it; its words hardly change.

        Parameters
        ----------
        topic : int
            The topic.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 5)
        >>> model = topoi.LDA(3, alpha=0.1, n_iter=20, random_state=0).fit(corpus)
        >>> topoi.edit(model).freeze(0)
        <Editor of LDA: freeze 0>
        """
        number = self._topic(topic)
        if not self._open().size(number):
            raise ModelError(f"topic {number} has no words of text: nothing to hold")
        return self._apply(Edit("freeze", (number,)))

    def send(self, document: int | str, to: int | None = None, away_from: int | None = None) -> Self:
        """Forbid a document a topic; its words there begin in another, and sweeps decide where they end.

        Parameters
        ----------
        document : int or str
            Number or id of the document.
        to : int, optional
            Where its words begin; if not given, anywhere.
        away_from : int, optional
            The topic that it may no longer use; if not given, the one that most of its words are in.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 5)
        >>> model = topoi.LDA(3, alpha=0.1, n_iter=20, random_state=0).fit(corpus)
        >>> topoi.edit(model).send("3", to=1)
        <Editor of LDA: send document '3' away from 0 to 1>
        """
        d = self._document(document)
        identifier = str(self._model.corpus_.documents["id"].iloc[d])
        if CorpusCatalogue(self._model.corpus_).find_document(identifier) != d:
            raise ModelError(f"several documents have the id {identifier!r}; edits know documents by their ids")
        source = self._open().main_topic(d) if away_from is None else self._topic(away_from)
        target = () if to is None else (self._topic(to),)
        if source in target:
            raise ModelError(f"document {identifier!r} cannot be sent away from topic {source} and to it")
        return self._apply(Edit("send", (source, *target), document=identifier))

    def discard(self) -> Self:
        """Drop edits that are not committed.

        Examples
        --------
        >>> import topoi
        >>> editor = topoi.edit(topoi.LDA(3, n_iter=5, random_state=0).fit([[2, 1], [1, 2]])).merge(0, 2)
        >>> editor.discard().pending
        []
        """
        self._draft = self._settled = None
        return self

    def preview(self, n_iter: int = 0, watch: Callable[[], None] | None = None) -> Preview:
        """What the edits would change: words, documents and likelihood before and after. The model stays as it is.

        Documents concerned are sampled a few times, given all others, as they are at the beginning of a commit.
        Documents that move are compared with the same number of sweeps without the edits.

        Parameters
        ----------
        n_iter : int
            Sweeps over all documents besides, as ``commit`` does them.
        watch : callable, optional
            Called at every step; what it raises ends the preview, and the edits stay as they are.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 5)
        >>> model = topoi.LDA(3, alpha=0.1, n_iter=20, random_state=0).fit(corpus)
        >>> preview = topoi.edit(model).merge(0, 1).preview()
        >>> preview.topics[["topic", "state"]].values.tolist()
        [[0, 'kept'], [1, 'retired']]
        """
        whole_number("n_iter", n_iter, 0)
        step = watch or (lambda: None)
        draft = self._open()
        before = self._at_one_state()
        step()
        each = None if watch is None else lambda info: step()
        after = draft.run(self._settle(step), n_iter, each, progress=False) if draft.changed else before
        step()

        def unedited(documents: NDArray[np.bool_]) -> NDArray[Any]:
            plain = draft.without_edits(self._model, documents)
            arrays = plain.settled(step)
            if not n_iter:
                return arrays["topic"]
            swept = plain.run(arrays, n_iter, each, progress=False)
            return np.asarray(swept._sampler.to_arrays(swept._chains[0])["topic"])

        return make_preview(before, after, self.pending, sorted(draft.topics), draft.retired, draft.documents, unedited)

    def commit(
        self,
        n_iter: int = 20,
        callback: Callable[[SweepInfo], Any] | None = None,
        look: Callable[[SweepInfo, Callable[[], Glance]], Any] | None = None,
    ) -> Any:
        """Make the edits, sample the documents concerned given all others, then all documents; return the model.

        The model itself is changed, at the very end: a commit that fails leaves it as it was. Sweep numbers go on;
        ``trace_`` and averages begin anew. Edits of names alone need no sweeps.

        Parameters
        ----------
        n_iter : int
            Sweeps over all documents, from the edited state.
        callback : callable, optional
            Called with a ``SweepInfo`` after each sweep; a true result ends the sweeps.
        look : callable, optional
            Called before ``callback`` with the same and a function that returns a ``Glance`` at the topics concerned,
            to show how they settle.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 5)
        >>> model = topoi.LDA(3, alpha=0.1, n_iter=20, random_state=0).fit(corpus)
        >>> editor = topoi.edit(model).merge(0, 1)
        >>> model = editor.commit(n_iter=5)
        >>> model.n_iter_, editor.pending
        (25, [])
        """
        whole_number("n_iter", n_iter, 0)
        draft = self._draft and self._open()
        if draft is None or not draft.n_pending:
            raise ModelError("there is nothing to commit: edit first, as by editor.merge(3, 7)")
        start = time.perf_counter()
        model, pending = self._model, self.pending
        if draft.changed:
            edited = draft.run(self._settle(), n_iter, callback, look=look)
            edited._seconds = edited.fit_info_["seconds"] = model._seconds + time.perf_counter() - start
        else:
            edited, n_iter = copy.copy(model), 0
        self._refresh()
        step = 1 + max((edit.step for edit in model.edits_), default=0)
        made: dict[str, Any] = {
            "step": step,
            "n_iter": n_iter,
            "seed": model._seed,
            "who": self._who,
            "created": _now(),
        }
        first = 1 + len(model._edits)
        records = [replace(edit, number=first + i, **made).to_dict() for i, edit in enumerate(pending)]
        note_edits(edited, [*model._edits, *records])
        before = dict(model.__dict__)
        self._finish(step, edited)
        self._keep(step, before)
        return model

    def _refresh(self) -> None:
        """Take over edits that were made elsewhere; in memory there are none."""

    def _keep(self, step: int, before: dict[str, Any]) -> None:
        """Keep what the model was before a commit."""
        self._before[step] = before
        for old in sorted(self._before)[:-MOST_STATES]:
            del self._before[old]

    def _finish(self, step: int, edited: GibbsModel[Any, Any]) -> None:
        """Change the model to what a commit, or an undo, has made of it."""
        _become(self._model, edited)
        self.discard()

    def undo(self) -> Any:
        """Take the last commit back: assignments, settings and estimates become what they were, to the last bit.

        Edits that are not committed are dropped. The history keeps what was undone. Return the model.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 5)
        >>> model = topoi.LDA(3, alpha=0.1, n_iter=20, random_state=0).fit(corpus)
        >>> editor = topoi.edit(model).rename(0, "nature")
        >>> model = editor.commit()
        >>> model = editor.undo()
        >>> editor.names()
        {}
        """
        self._refresh()
        step = last_step(self._model.edits_)
        edited = copy.copy(self._model)
        edited.__dict__.clear()
        edited.__dict__.update(self._state_before(step))
        note_edits(edited, marked_undone(self._model._edits, step))
        self._finish(step, edited)
        self._before.pop(step, None)
        return self._model

    def _state_before(self, step: int) -> dict[str, Any]:
        if step not in self._before:
            raise ModelError(
                f"step {step} cannot be undone: an editor in memory knows the last {MOST_STATES} states before its own "
                "commits; a store keeps those of all programs: topoi.edit(store)"
            )
        if self._before[step]["corpus_"] is not self._model.corpus_:
            raise ModelError(f"step {step} cannot be undone: the model has been updated by new documents since")
        return self._before[step]

    def history(self) -> pd.DataFrame:
        """Edits of the model, the first one first.

        Columns are number, step (of the commit), created, who, kind, text, topics, words, document, label, n_iter,
        undone.

        Examples
        --------
        >>> import topoi
        >>> editor = topoi.edit(topoi.LDA(2, n_iter=5, random_state=0).fit([[2, 1], [1, 2]]))
        >>> model = editor.rename(1, "numbers").commit()
        >>> editor.history()[["step", "kind", "label"]].values.tolist()
        [[1, 'rename', 'numbers']]
        """
        return history_frame(self._model.edits_)

    def names(self) -> dict[int, str]:
        """Names that edits have given to topics.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.LDA(2, n_iter=5, random_state=0).fit([[2, 1], [1, 2]])
        >>> topoi.edit(model).rename(1, "numbers").names()
        {1: 'numbers'}
        """
        edits = self._model.edits_ if self._draft is None else self._draft.edits
        return {topic: name for topic, name in given_names(edits).items() if name}

    def _open(self) -> Draft:
        if self._draft is None:
            self._draft = Draft(self._model, self._n_jobs)
        if not self._draft.is_of(self._model):
            raise ModelError(
                "the model has been changed since the first of these edits; discard() them and edit it anew"
            )
        return self._draft

    def _apply(self, edit: Edit) -> Self:
        draft = self._open()
        # A draft that fails half-way is dropped: the edits before it are made again.
        pending = self.pending
        try:
            draft.apply(edit)
        except BaseException:
            self.discard()
            for each in pending:
                self._apply(each)
            raise
        self._settled = None
        return self

    def _settle(self, watch: Callable[[], None] = lambda: None) -> Arrays:
        """Arrays of the draft after sweeps over the documents concerned, made once."""
        if self._settled is None:
            self._settled = self._open().settled(watch)
        return self._settled

    def _at_one_state(self) -> GibbsModel[Any, Any]:
        """The model as its best chain's last state alone gives it, to compare like with like; made once."""
        if self._now is None or self._now[0] is not self._model._chains:
            draft = Draft(self._model, self._n_jobs)
            self._now = self._model._chains, draft.run(draft.arrays, 0, progress=False)
        return self._now[1]

    def _topic(self, topic: object) -> int:
        """A topic's number, checked."""
        draft = self._open()
        if isinstance(topic, bool) or not isinstance(topic, int | np.integer) or not 0 <= topic < draft.n_topics:
            raise NotFoundError(f"there is no topic {topic!r}; topics are numbered 0 to {draft.n_topics - 1}")
        if topic in draft.retired:
            raise ModelError(f"topic {topic} is retired: it was merged into another; edit that one, or undo")
        return int(topic)

    def _words(self, words: str | Iterable[str]) -> tuple[str, ...]:
        """Words of the vocabulary, checked."""
        given = [words] if isinstance(words, str) else list(words)
        if not given:
            raise ModelError("no words were given")
        vocabulary = self._model.vocabulary_
        return tuple(dict.fromkeys(str(vocabulary.words[vocabulary.index(str(word))]) for word in given))

    def _document(self, document: object) -> int:
        """Number of a document, given by number or id."""
        catalogue = CorpusCatalogue(self._model.corpus_)
        if isinstance(document, str):
            found = catalogue.find_document(document)
            if found is None:
                raise NotFoundError(f"there is no document {document!r}{catalogue.near_documents(document)}")
            return found
        if isinstance(document, bool) or not isinstance(document, int | np.integer):
            raise ModelError(f"a document is named by its number or its id, not by {document!r}")
        if not 0 <= document < catalogue.size:
            raise NotFoundError(f"there is no document {document}; documents are numbered 0 to {catalogue.size - 1}")
        return int(document)


def last_step(edits: list[Edit]) -> int:
    """Number of the last commit that is not undone; a ``ModelError`` if there is none."""
    steps = [edit.step for edit in edits if not edit.undone]
    if not steps:
        raise ModelError("there is nothing to undo: the model has no edits")
    return max(steps)


def marked_undone(records: list[dict[str, Any]], step: int) -> list[dict[str, Any]]:
    """Records in which the edits of a step are marked as undone."""
    return [record | {"undone": True} if record["step"] == step else record for record in records]


def note_edits(model: GibbsModel[Any, Any], records: list[dict[str, Any]]) -> None:
    """Give a model the records of its edits."""
    model._edits = records
    model.fit_info_ = model.fit_info_ | {"edits": records}


def _become(model: GibbsModel[Any, Any], edited: GibbsModel[Any, Any]) -> None:
    model.__dict__.clear()
    model.__dict__.update(edited.__dict__)


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
