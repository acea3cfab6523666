"""What edits would change: words and sizes of topics, documents that move, likelihood, before and after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.models.catalogue import CorpusCatalogue
from topoi.models.editing.glance import N_WORDS, telling_words
from topoi.models.editing.records import Edit
from topoi.models.posterior import Posterior

if TYPE_CHECKING:
    from topoi.corpus.corpus import Corpus
    from topoi.models.gibbs import GibbsModel

_SHOWN = 5
# A document moves if this part of its words changes topics; so many are listed, and so many words scored, at most.
_LEAST_PART, _MOST_LISTED, _MOST_SCORED = 0.1, 100, 50_000
# Words × topics in memory at a time.
_CELLS = 2**22


@dataclass(frozen=True)
class Preview:
    """What edits would change; the model is as it was.

    Attributes
    ----------
    edits : list of Edit
        The edits that are not committed yet.
    topics : DataFrame
        A row for each topic concerned: topic, state ("kept", "new" or "retired"), n_tokens_before, n_tokens_after,
        words_before, words_after (the ten most telling ones).
    documents : DataFrame
        Documents that move, those with the most moving words first, at most a hundred: document, id, title and year if
        there are any, n_tokens, n_moved, part, source, target (the topics that lose and gain most of their words).
        n_moved is how many words leave their topic for another, on balance, less those that do so in as many sweeps
        without the edit.
    n_documents : int
        How many documents move: by a tenth of their words or more, and at least twice as much as without the edit.
    log_likelihood_before, log_likelihood_after : float
        Log likelihood per word of the documents concerned, of some of them if they are many.
    log_joint_before, log_joint_after : float
        Log joint probability of all words and their topics, per word.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 5)
    >>> preview = topoi.edit(topoi.LDA(3, n_iter=20, random_state=0).fit(corpus)).merge(0, 1).preview()
    >>> preview.topics[["topic", "state"]].values.tolist()
    [[0, 'kept'], [1, 'retired']]
    """

    edits: list[Edit]
    topics: pd.DataFrame
    documents: pd.DataFrame
    n_documents: int
    log_likelihood_before: float
    log_likelihood_after: float
    log_joint_before: float
    log_joint_after: float

    def __repr__(self) -> str:
        lines = ["; ".join(edit.text for edit in self.edits) or "nothing to do"]
        for row in self.topics.to_dict("records"):
            sizes = f"{row['n_tokens_before']:,} → {row['n_tokens_after']:,} words of text"
            note = "" if row["state"] == "kept" else f", {row['state']}"
            lines.append(f"  topic {row['topic']}{note}, {sizes}")
            before, after = (" ".join(row[name][:N_WORDS]) for name in ("words_before", "words_after"))
            lines += [f"    before: {before}"] * bool(before) + [f"    after:  {after}"] * bool(after)
        lines.append(
            f"  {self.n_documents:,} document{'' if self.n_documents == 1 else 's'} move{_listed(self.documents)}"
        )
        values = (
            ("likelihood", "log likelihood per word of the documents concerned"),
            ("joint", "log joint per word"),
        )
        for name, title in values:
            before, after = (getattr(self, f"log_{name}_{when}") for when in ("before", "after"))
            lines.append(f"  {title}: {before:.4f} → {after:.4f}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The preview as JSON can hold it.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.LDA(2, n_iter=5, random_state=0).fit([[2, 1], [1, 2]])
        >>> topoi.edit(model).merge(0, 1).preview().to_dict()["edits"][0]["kind"]
        'merge'
        """
        return {
            "edits": [{**edit.to_dict(), "text": edit.text} for edit in self.edits],
            "topics": _plain_rows(self.topics),
            "documents": _plain_rows(self.documents),
            "n_documents": self.n_documents,
            "log_likelihood_before": self.log_likelihood_before,
            "log_likelihood_after": self.log_likelihood_after,
            "log_joint_before": self.log_joint_before,
            "log_joint_after": self.log_joint_after,
        }


def make_preview(
    before: GibbsModel[Any, Any],
    after: GibbsModel[Any, Any],
    edits: Sequence[Edit],
    topics: Sequence[int],
    retired: Sequence[int],
    concerned: NDArray[np.bool_],
    unedited: Callable[[NDArray[np.bool_]], NDArray[Any]],
) -> Preview:
    """Compare two models of one corpus, each at one state of one chain.

    ``unedited`` gives the topics of all tokens after as many sweeps over some documents without the edits.
    """
    corpus, then, now = before.corpus_, before.chains_[0], after.chains_[0]
    old, new = (_topics_of(model) for model in (before, after))
    listed, n_documents = _moving(corpus, old, new, unedited)
    docs = np.flatnonzero(concerned)
    step = -(-int(corpus.doc_lengths[docs].sum()) // _MOST_SCORED)
    docs = docs[:: max(step, 1)]
    joints = [float(model.trace_["log_joint_per_token"].iloc[-1]) for model in (before, after)]
    likelihoods = [_log_likelihood(corpus, posterior, docs) for posterior in (then, now)]
    return Preview(
        list(edits), _topic_frame(then, now, corpus, topics, retired), listed, n_documents, *likelihoods, *joints
    )


def _topics_of(model: GibbsModel[Any, Any]) -> NDArray[np.uint16]:
    return np.asarray(model._sampler.to_arrays(model._settled[0])["topic"])


def _topic_frame(
    then: Posterior, now: Posterior, corpus: Corpus, topics: Sequence[int], retired: Sequence[int]
) -> pd.DataFrame:
    times = np.bincount(corpus.tokens, minlength=corpus.n_words)
    rows = []
    for k in sorted(topics):
        old = k < then.n_topics and then.topic_totals[k] > 0
        state = "retired" if k in retired else ("kept" if old else "new")
        rows.append(
            {
                "topic": k,
                "state": state,
                "n_tokens_before": int(round(then.topic_totals[k])) if old else 0,
                "n_tokens_after": int(round(now.topic_totals[k])),
                "words_before": _words(then, corpus, k, times) if old else [],
                "words_after": _words(now, corpus, k, times) if now.topic_totals[k] > 0 else [],
            }
        )
    columns = ["topic", "state", "n_tokens_before", "n_tokens_after", "words_before", "words_after"]
    return pd.DataFrame(rows, columns=columns)


def _words(posterior: Posterior, corpus: Corpus, topic: int, times: NDArray[Any]) -> list[str]:
    """The most telling of a topic's own words."""
    counts = np.asarray(posterior.source.word_rows(np.arange(corpus.n_words))[:, topic], np.float64)
    return telling_words(corpus, counts, times)


class _Net:
    """Words that documents' topics gain or lose: pairs of a document and a topic whose count differs, by document."""

    def __init__(self, corpus: Corpus, old: NDArray[Any], new: NDArray[Any]) -> None:
        at = np.flatnonzero(old != new)
        doc = np.searchsorted(corpus.doc_start, at, side="right") - 1
        n_topics = 1 + int(max(old.max(initial=0), new.max(initial=0)))
        key, place = np.unique(
            np.concatenate([doc * n_topics + new[at], doc * n_topics + old[at]]), return_inverse=True
        )
        gain = np.bincount(place[: len(at)], minlength=len(key)) - np.bincount(place[len(at) :], minlength=len(key))
        self._doc, self._topic, self._gain = key // n_topics, key % n_topics, gain
        # Of each document: what some topics gain, others lose.
        self.moved = np.bincount(self._doc, np.maximum(gain, 0), corpus.n_docs).astype(np.int64)

    def ends(self, document: int) -> tuple[int, int]:
        """The topics that lose and gain most words of a document."""
        own = slice(*np.searchsorted(self._doc, [document, document + 1]))
        gain, topic = self._gain[own], self._topic[own]
        return int(topic[gain.argmin()]), int(topic[gain.argmax()])


def _moving(
    corpus: Corpus, old: NDArray[Any], new: NDArray[Any], unedited: Callable[[NDArray[np.bool_]], NDArray[Any]]
) -> tuple[pd.DataFrame, int]:
    """Documents of which a part of the words changes topics by the edit, those with most such words first."""
    lengths, net = corpus.doc_lengths, _Net(corpus, old, new)
    perhaps = (net.moved > 0) & (net.moved >= _LEAST_PART * lengths)
    noise = np.zeros(corpus.n_docs, np.int64)
    if perhaps.any():
        noise[perhaps] = _Net(corpus, old, unedited(perhaps)).moved[perhaps]
    moved = net.moved - noise
    docs = np.flatnonzero(perhaps & (moved >= _LEAST_PART * lengths) & (moved >= noise) & (moved > 0))
    shown = docs[np.argsort(-moved[docs], kind="stable")][:_MOST_LISTED]
    ends = [net.ends(d) for d in shown.tolist()]
    frame = pd.DataFrame(
        CorpusCatalogue(corpus).document_columns(shown)
        | {
            "n_tokens": lengths[shown],
            "n_moved": moved[shown],
            "part": moved[shown] / np.maximum(lengths[shown], 1),
            "source": [source for source, _ in ends],
            "target": [target for _, target in ends],
        }
    )
    return frame, len(docs)


def _log_likelihood(corpus: Corpus, posterior: Posterior, docs: NDArray[np.int64]) -> float:
    """Log likelihood per word of some training documents: their mixtures times their topics' words."""
    total, n = 0.0, 0
    step = max(_CELLS // (posterior.n_topics * max(int(corpus.doc_lengths[docs].max(initial=1)), 1)), 1)
    for first in range(0, len(docs), step):
        some = docs[first : first + step]
        shares = posterior.documents.shares(some) if posterior.mixtures_are_counts else posterior.doc_topic[some]
        tokens = [corpus.tokens[corpus.doc_start[d] : corpus.doc_start[d + 1]] for d in some.tolist()]
        words, place = np.unique(np.concatenate(tokens), return_inverse=True)
        row = np.repeat(np.arange(len(some)), [len(each) for each in tokens])
        columns = posterior.word_columns(words.astype(np.int64))
        total += float(np.log(np.einsum("ik,ik->i", shares[row], columns.T[place])).sum())
        n += len(place)
    return total / n if n else 0.0


def _listed(documents: pd.DataFrame) -> str:
    names = documents["id"].astype(str).tolist()
    return ("" if not names else ": ") + ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")


def _plain_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records") if len(frame) else []
    return [{str(name): _plain(value) for name, value in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
