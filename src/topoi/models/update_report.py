"""Report of an update: what was added, how topics have moved, and which spare topics have earned their place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from topoi.corpus.joining import Joined
from topoi.errors import ModelError
from topoi.models.spare_topics import Gain, doc_topics

if TYPE_CHECKING:
    from topoi.models.gibbs import GibbsModel

_N_WORDS, _N_RISEN, _SHOWN = 10, 5, 5
# A new document is one of a topic's if so many of its words, and this part of them, are in the topic.
_FEWEST_WORDS, _LEAST_PART = 2, 0.1
# Standard errors by which a gain must exceed zero, and documents that a new topic must have.
_ERRORS, _FEWEST_DOCS = 2.0, 3
_ROWS = 10_000
COLUMNS = (
    *("topic", "new", "n_tokens", "share_before", "share_since", "documents_since", "drift", "words", "risen"),
    *("gain", "gain_error", "earned"),
)


@dataclass(frozen=True)
class UpdateReport:
    """What an update has changed.

    Attributes
    ----------
    n_docs, n_tokens, n_authors, n_words : int
        Documents added, their tokens, and authors and words that are new.
    n_known : int
        Documents skipped because the corpus had them.
    n_left_out, n_tokens_left_out : int
        New words that were too rare to become part of the vocabulary, and their tokens.
    n_held_out : int
        New documents that spare topics were judged by, before they were added.
    n_sweeps, seconds
        Sweeps over everything, and the time of the update.
    topics : DataFrame
        A row per topic: topic, new (whether it was a spare one), n_tokens, share_before (of the old documents' words,
        before), share_since (of the new documents' words), documents_since (new documents with a tenth of their words
        in it), drift (half the sum of absolute differences of its words' probabilities: 0 the same, 1 others
        altogether), words, risen (words that gained most); and for spare topics gain, the gain in log likelihood per
        word of held-out documents by having it, gain_error, its standard error, and earned: whether the gain is two
        standard errors above zero, and three documents have the topic.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]] * 10)
    >>> model = topoi.LDA(2, n_iter=20, random_state=0).fit(corpus)
    >>> report = model.update([["a", "b", "e"]] * 4, n_iter=5).update_report_
    >>> report.n_docs, report.n_words, report.topics["documents_since"].sum() >= 4
    (4, 1, np.True_)
    """

    n_docs: int
    n_tokens: int
    n_authors: int
    n_words: int
    n_known: int
    n_left_out: int
    n_tokens_left_out: int
    n_held_out: int
    n_sweeps: int
    seconds: float = 0.0
    some_words: list[str] = field(default_factory=list)
    topics: pd.DataFrame = field(default_factory=pd.DataFrame)

    def _replace_seconds(self, seconds: float) -> UpdateReport:
        return replace(self, seconds=seconds)

    def __str__(self) -> str:
        lines = [f"{_count(self.n_docs, 'document')} ({self.n_tokens:,} words of text) added"]
        if self.n_known:
            lines.append(f"{_count(self.n_known, 'document')} there already, skipped")
        if self.n_authors:
            lines.append(f"{_count(self.n_authors, 'new author')}")
        if self.n_words:
            lines.append(f"{_count(self.n_words, 'new word')}: {_some(self.some_words, self.n_words)}")
        if self.n_left_out:
            tokens = _count(self.n_tokens_left_out, "time")
            lines.append(f"{_count(self.n_left_out, 'new word')}, used {tokens}, too rare and left out")
        lines += [_about_spare(row) for row in _records(self.topics[self.topics["new"]])]
        old = self.topics[~self.topics["new"]]
        for title, rows in (("grew most", _by_growth(old, 1)), ("shrank most", _by_growth(old, -1))):
            for row in _records(rows):
                shares = f"{100 * row['share_before']:.1f}% → {100 * row['share_since']:.1f}%"
                lines.append(f"topic {row['topic']} {title}, {shares}: {' '.join(row['words'][:_SHOWN])}")
        for row in _records(old.nlargest(1, "drift")):
            if row["risen"]:
                lines.append(f"topic {row['topic']} moved most ({row['drift']:.2f}), towards {' '.join(row['risen'])}")
        return "\n  ".join(lines)

    def to_dict(self, topics: bool = True) -> dict[str, Any]:
        """The report as JSON can hold it; ``topics=False`` leaves out the rows of old topics.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.LDA(2, n_iter=5, random_state=0).fit([[2, 1], [1, 2]]).update([[1, 1]], n_iter=2)
        >>> model.update_report_.to_dict()["n_docs"]
        1
        """
        plain = {name: value for name, value in asdict(replace(self, topics=pd.DataFrame())).items()}
        frame = self.topics if topics else self.topics[self.topics["new"]]
        rows = [{name: _plain(value) for name, value in row.items()} for row in _records(frame)]
        return plain | {"topics": rows}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> UpdateReport:
        """Rebuild the report from the result of ``to_dict``.

        Examples
        --------
        >>> import topoi
        >>> from topoi.models.update_report import UpdateReport
        >>> model = topoi.LDA(2, n_iter=5, random_state=0).fit([[2, 1], [1, 2]]).update([[1, 1]], n_iter=2)
        >>> UpdateReport.from_dict(model.update_report_.to_dict()).topics.equals(model.update_report_.topics)
        True
        """
        try:
            rows = plain["topics"]
            return cls(**{**plain, "topics": _frame({name: [row[name] for row in rows] for name in COLUMNS})})
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"the saved report of an update cannot be read: {error}") from None


def make_report(
    before: GibbsModel[Any, Any],
    after: GibbsModel[Any, Any],
    joined: Joined,
    n_iter: int,
    gains: list[Gain],
    n_held_out: int,
) -> UpdateReport:
    """Compare two states of a model: the first chain of the second with the same chain before."""
    now = after.chains_[0]
    then = next(chain for chain in before.chains_ if chain.index == now.index)
    corpus, n_old, n_topics = joined.corpus, before.corpus_.n_docs, int(then.n_topics)
    topic = after._sampler.to_arrays(after._settled[0])["topic"]
    n_spare = int(now.n_topics) - n_topics
    docs_since, share_since = _since(corpus, n_old, topic, int(now.n_topics))
    p, q = np.zeros((int(now.n_topics), corpus.n_words)), now.topic_word
    p[:n_topics, : then.topic_word.shape[1]] = then.topic_word
    drift = np.where(np.arange(len(q)) < n_topics, 0.5 * np.abs(p - q).sum(axis=1), np.nan)
    totals = np.asarray(then.topic_totals, np.float64)
    judged = [*gains, *[Gain(float("nan"), float("nan"), 0)] * (n_spare - len(gains))]
    nothing = [float("nan")] * n_topics
    earned = [
        bool(gain.mean > _ERRORS * gain.error and docs_since[n_topics + s] >= _FEWEST_DOCS)
        for s, gain in enumerate(judged)
    ]
    words = corpus.words
    rows = {
        "topic": list(range(len(q))),
        "new": [k >= n_topics for k in range(len(q))],
        "n_tokens": np.rint(now.topic_totals).astype(np.int64).tolist(),
        "share_before": [*(totals / max(totals.sum(), 1.0)).tolist(), *[0.0] * n_spare],
        "share_since": share_since.tolist(),
        "documents_since": docs_since.tolist(),
        "drift": drift.tolist(),
        "words": [words[np.argsort(-row, kind="stable")[:_N_WORDS]].tolist() for row in q],
        "risen": [_risen(words, p[k], q[k]) if k < n_topics else [] for k in range(len(q))],
        "gain": [*nothing, *(gain.mean for gain in judged)],
        "gain_error": [*nothing, *(gain.error for gain in judged)],
        "earned": [*[None] * n_topics, *earned],
    }
    added = joined.added
    counted = (added.n_docs, added.n_tokens, len(added.authors), len(added.words), added.n_known)
    numbers = np.bincount(corpus.tokens[corpus.doc_start[n_old] :], minlength=corpus.n_words)[-len(added.words) :]
    most = np.argsort(-numbers, kind="stable")[:_N_WORDS].tolist() if added.words else []
    return UpdateReport(
        *counted,
        added.n_left_out,
        added.n_tokens_left_out,
        n_held_out,
        n_iter,
        some_words=[added.words[w] for w in most],
        topics=_frame(rows),
    )


def _since(corpus: Any, n_old: int, topic: Any, n_topics: int) -> tuple[Any, Any]:
    """New documents of every topic, and its share of their words."""
    docs, tokens = np.zeros(n_topics, np.int64), np.zeros(n_topics)
    for first in range(n_old, corpus.n_docs, _ROWS):
        some = np.arange(first, min(first + _ROWS, corpus.n_docs))
        counts = doc_topics(corpus, some, topic, n_topics)
        least = np.maximum(_FEWEST_WORDS, _LEAST_PART * corpus.doc_lengths[some])[:, None]
        docs += (counts >= least).sum(axis=0)
        tokens += counts.sum(axis=0)
    return docs, tokens / max(tokens.sum(), 1.0)


def _risen(words: Any, p: Any, q: Any) -> list[str]:
    """Words whose probability grew most, and by a tenth at least."""
    order = np.argsort(p - q, kind="stable")[:_N_RISEN]
    return [str(words[w]) for w in order if q[w] > 1.1 * p[w]]


def _frame(rows: dict[str, list[Any]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    kinds = {"gain": "float64", "gain_error": "float64", "drift": "float64", "new": "bool", "earned": "boolean"}
    return frame.astype(kinds)


def _plain(value: Any) -> Any:
    if value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return None
    return value.item() if isinstance(value, np.generic) else value


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _about_spare(row: dict[str, Any]) -> str:
    verdict = "has earned its place" if row["earned"] else "has not earned its place"
    docs = _count(int(row["documents_since"]), "new document")
    judged = f", gain {row['gain']:.4f} ± {row['gain_error']:.4f} per held-out word"
    gain = "" if np.isnan(row["gain"]) else judged
    return f"topic {row['topic']} is new and {verdict}: {docs}{gain}: {' '.join(row['words'][:_SHOWN])}"


def _by_growth(frame: pd.DataFrame, sign: int) -> pd.DataFrame:
    change = sign * (frame["share_since"] - frame["share_before"])
    return frame[change > 0].loc[lambda some: (change[some.index]).nlargest(1).index]


def _some(words: list[str], n: int) -> str:
    return ", ".join(words[:_SHOWN]) + (", …" if n > _SHOWN else "")


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
