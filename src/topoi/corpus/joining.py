"""Joining of two corpora: the numbers of the first stay, words, authors and documents of the second come after them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.analysis import Analysis, document_frequencies
from topoi.corpus.mapped import Scratch, release
from topoi.corpus.metadata import column
from topoi.corpus.phrases import join_pairs
from topoi.corpus.pieces import ranges
from topoi.corpus.scan import Scan
from topoi.corpus.stored_texts import joined_texts
from topoi.corpus.vocabulary import Vocabulary, object_array, renumber
from topoi.errors import CorpusError

if TYPE_CHECKING:
    from topoi.corpus.corpus import Corpus

MIN_DF = 2
# A new word in a larger share of the new documents is looked for in old ones: it may have been too common for them.
_COMMON = float(Analysis.max_df)
_OLD_TEXTS_LOOKED_AT = 1000
_SHOWN = 3


@dataclass(frozen=True)
class Added:
    """Account of what one corpus has added to another.

    Attributes
    ----------
    n_docs, n_tokens : int
        New documents, and their tokens that have a place in the vocabulary.
    words, authors : list of str
        New words and new authors, in the order of their numbers.
    n_left_out, n_tokens_left_out : int
        Words of the new documents that did not become part of the vocabulary, and their tokens.
    n_known : int
        Documents that were skipped, because the corpus had their ids already.
    """

    n_docs: int
    n_tokens: int
    words: list[str] = field(default_factory=list)
    authors: list[str] = field(default_factory=list)
    n_left_out: int = 0
    n_tokens_left_out: int = 0
    n_known: int = 0


class Joined(NamedTuple):
    """The whole corpus, and what was added."""

    corpus: Corpus
    added: Added


class _Encoded(NamedTuple):
    """New documents in the words of a wider vocabulary."""

    vocabulary: Vocabulary
    tokens: NDArray[Any]
    doc_start: NDArray[Any]
    token_start: NDArray[Any] | None
    token_end: NDArray[Any] | None
    n_left_out: int = 0
    n_tokens_left_out: int = 0


def join_corpora(
    old: Corpus, new: Corpus, min_df: int | None = MIN_DF, known: str = "error", analyse: bool | None = None
) -> Joined:
    """Join two corpora; see ``Corpus.extended``.

    ``analyse`` tells whether the new texts are read again with the analyser of ``old``; None does so if there are any
    and if their words were chosen for them alone.

    Examples
    --------
    >>> from topoi import Corpus
    >>> from topoi.corpus.joining import join_corpora
    >>> old, new = Corpus.from_tokens([["sun", "star"]]), Corpus.from_tokens([["star", "moon"]])
    >>> join_corpora(old, new, min_df=1).added.words
    ['moon']
    """
    if min_df is not None and (isinstance(min_df, bool) or not isinstance(min_df, int | np.integer) or min_df < 1):
        raise CorpusError(f"min_df is {min_df!r}; it is a number of new documents, 1 or more, or None for no new words")
    new, n_known = _without_known(old, new, known)
    if analyse is None:
        analyse = new.texts is not None and new.vocabulary != old.vocabulary
    encoded = (_read_again if analyse else _by_words)(old, new, min_df)
    doc_author, names = _authors(old, new)
    texts = None
    if old.texts is not None and new.texts is not None and encoded.token_start is not None:
        texts = joined_texts(old.texts, new.texts)
    has_texts = texts is not None
    offsets = (old.token_start, old.token_end) if has_texts else (None, None)
    added = Added(
        new.n_docs,
        len(encoded.tokens),
        encoded.vocabulary.words[old.n_words :].tolist(),
        names[old.n_authors :],
        encoded.n_left_out,
        encoded.n_tokens_left_out,
        n_known,
    )
    notes = [*old.report.notes, f"{new.n_docs:,} documents added to {old.n_docs:,}"]
    if old.texts is not None and not has_texts and new.n_docs:
        notes.append("texts are left out: the added documents have none")
    corpus = type(old)(
        tokens=_after(old.tokens, encoded.tokens, old.scratch),
        doc_start=np.concatenate([old.doc_start, old.doc_start[-1] + encoded.doc_start[1:]]),
        vocabulary=encoded.vocabulary,
        doc_author=np.concatenate([old.doc_author, doc_author]),
        doc_author_start=np.concatenate([old.doc_author_start, old.doc_author_start[-1] + new.doc_author_start[1:]]),
        authors=names,
        documents=_documents(old.documents, new.documents),
        texts=texts,
        token_start=_with_offsets(offsets[0], encoded.token_start, old.scratch),
        token_end=_with_offsets(offsets[1], encoded.token_end, old.scratch),
        report=replace(
            old.report,
            n_read=old.n_docs + new.n_docs,
            n_empty_texts=old.report.n_empty_texts + new.report.n_empty_texts,
            n_without_authors=old.report.n_without_authors + int((np.diff(new.doc_author_start) == 0).sum()),
            notes=notes,
        ),
        scratch=old.scratch,
    )
    return Joined(corpus, added)


def _without_known(old: Corpus, new: Corpus, known: str) -> tuple[Corpus, int]:
    """The new documents whose ids are new; numbers that stand in for missing ids go on after those of ``old``."""
    if known not in ("error", "skip"):
        raise CorpusError(f'known is {known!r}; it can be "error" or "skip"')
    ids = new.documents["id"].tolist()
    there = set(old.documents["id"])
    twice = [d for d, name in enumerate(ids) if name in there]
    if not twice:
        return new, 0
    if ids == [str(d) for d in range(new.n_docs)]:
        renumbered = new._copy()
        first = max((int(name) + 1 for name in there if name.isdecimal()), default=0)
        later = pd.Series([str(first + d) for d in range(new.n_docs)], dtype="str")
        renumbered.documents = new.documents.assign(id=later)
        return renumbered, 0
    if known == "error":
        shown = ", ".join(repr(ids[d]) for d in twice[:_SHOWN])
        more = f" and {len(twice) - _SHOWN:,} more" if len(twice) > _SHOWN else ""
        raise CorpusError(
            f'the corpus has documents with these ids already: {shown}{more}; known="skip" leaves them out of '
            "the new ones, or give others"
        )
    return new.subset(np.setdiff1d(np.arange(new.n_docs), twice)), len(twice)


def _read_again(old: Corpus, new: Corpus, min_df: int | None) -> _Encoded:
    """Read the new texts with the analyser of the old ones, and choose new words."""
    analyzer = old.vocabulary.analyzer
    texts = list(new.texts or ())
    scan = join_pairs(analyzer.scan(texts), analyzer.phrases)
    count = np.bincount(scan.tokens, minlength=len(scan.words))
    df = document_frequencies(scan.tokens, scan.doc_start, len(scan.words))
    unknown = {
        word: w
        for w, word in enumerate(scan.words)
        if count[w] and word not in old.vocabulary and word not in analyzer.stop_words
    }
    chosen = [] if min_df is None else [word for word, w in unknown.items() if df[w] >= min_df]
    common = [word for word in chosen if df[unknown[word]] > _COMMON * len(texts)]
    chosen = sorted(set(chosen) - _too_common(old, common))
    vocabulary = Vocabulary([*old.words, *chosen], analyzer) if chosen else old.vocabulary
    new_id = np.array([vocabulary.index(word) if word in vocabulary else -1 for word in scan.words], np.int32)
    found = renumber(scan, new_id)
    left_out = [w for word, w in unknown.items() if new_id[w] < 0]
    tokens_left_out = int(count[left_out].sum()) if left_out else 0
    return _Encoded(vocabulary, *found[:4], len(left_out), tokens_left_out)


def _too_common(old: Corpus, words: Sequence[str]) -> set[str]:
    """Those of the words that old texts are full of: they were left out of the vocabulary for that (``max_df``)."""
    if not words or old.texts is None or not old.n_docs:
        return set(words) if old.texts is None else set()
    some = np.unique(np.linspace(0, old.n_docs - 1, _OLD_TEXTS_LOOKED_AT).astype(np.int64))
    analyzer = old.vocabulary.analyzer
    scan: Scan = join_pairs(analyzer.scan([old.texts[d] for d in some]), analyzer.phrases)
    df = document_frequencies(scan.tokens, scan.doc_start, len(scan.words))
    share = dict(zip(scan.words, (df / len(some)).tolist(), strict=True))
    # Half of the limit: these are some of the texts, and the limit may have been lower.
    return {word for word in words if share.get(word, 0.0) > 0.5 * _COMMON}


def _by_words(old: Corpus, new: Corpus, min_df: int | None) -> _Encoded:
    """The new documents' words as they are, in old and new numbers."""
    offsets = new.token_start, new.token_end
    if new.vocabulary is old.vocabulary or np.array_equal(new.words, old.words):
        return _Encoded(old.vocabulary, new.tokens, new.doc_start, *offsets)
    count = np.bincount(new.tokens, minlength=new.n_words)
    df = document_frequencies(new.tokens, new.doc_start, new.n_words)
    unknown = [w for w, word in enumerate(new.words) if count[w] and word not in old.vocabulary]
    chosen = [] if min_df is None else [w for w in unknown if df[w] >= min_df]
    vocabulary = old.vocabulary
    if chosen:
        vocabulary = Vocabulary([*old.words, *sorted(str(new.words[w]) for w in chosen)], old.vocabulary.analyzer)
    new_id = np.array([vocabulary.index(word) if word in vocabulary else -1 for word in new.words], np.int64)
    ids = new_id[new.tokens] if new.n_tokens else np.zeros(0, np.int64)
    kept = ids >= 0
    before = np.concatenate(([0], np.cumsum(kept)))
    left_out = sorted(set(unknown) - set(chosen))
    token_start, token_end = (None if each is None else each[kept] for each in offsets)
    return _Encoded(
        vocabulary,
        ids[kept].astype(np.int32),
        before[new.doc_start].astype(np.int64),
        token_start,
        token_end,
        len(left_out),
        int(count[left_out].sum()) if left_out else 0,
    )


def _authors(old: Corpus, new: Corpus) -> tuple[NDArray[np.int32], list[str]]:
    """Authors of the new documents in old and new numbers, and the names of all."""
    ids = {name: a for a, name in enumerate(old.authors.tolist())}
    writes = np.unique(new.doc_author)
    place = np.full(new.n_authors, -1, np.int32)
    place[writes] = [ids.setdefault(new.authors[a], len(ids)) for a in writes.tolist()]
    return place[new.doc_author] if len(writes) else np.zeros(0, np.int32), list(ids)


def _after(first: NDArray[Any], second: NDArray[Any], scratch: Scratch) -> NDArray[Any]:
    """One array after the other, in memory or in a file."""
    made = scratch.zeros(len(first) + len(second), first.dtype)
    for part in ranges(len(first)):
        made[part] = first[part]
        release(first[part], made[part])
    made[len(first) :] = second
    return made


def _with_offsets(first: NDArray[Any] | None, second: NDArray[Any] | None, scratch: Scratch) -> NDArray[Any] | None:
    return None if first is None or second is None else _after(first, second, scratch)


def _documents(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """Rows of both frames, with the columns of both; what one does not have is missing there."""
    columns = {}
    for name in [*old.columns, *(name for name in new.columns if name not in old.columns)]:
        if name in old and name in new and old[name].dtype == new[name].dtype:
            columns[name] = pd.concat([old[name], new[name]], ignore_index=True)
            continue
        parts = [frame[name] if name in frame else pd.Series([None] * len(frame), dtype=object) for frame in (old, new)]
        columns[name] = column(object_array([value for part in parts for value in part.tolist()]).tolist())
    return pd.DataFrame(columns, index=pd.RangeIndex(len(old) + len(new)))
