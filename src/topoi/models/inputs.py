"""User input as kernels read it: a corpus in the model's ids, lists of authors, and limits of exact counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import occurrences
from topoi.corpus.vocabulary import Vocabulary
from topoi.engine.samples import MOST_SAMPLES
from topoi.errors import ModelError
from topoi.models.notices import warn_user

# Whole numbers up to this one are exact in float32; adding one to it changes nothing.
EXACT_IN_FLOAT32 = 2**24
# Counts of all averaged samples are summed in 32 bits.
MOST_TOKENS = (2**32 - 1) // MOST_SAMPLES


def counts_corpus(matrix: Any, words: Iterable[object] | None = None) -> Corpus:
    """A corpus from a validated matrix of counts; fractions are a ``ModelError``.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.inputs import counts_corpus
    >>> counts_corpus(np.array([[2, 0], [1, 1]])).n_tokens
    4
    """
    import scipy.sparse

    matrix = scipy.sparse.csr_matrix(matrix)
    whole = np.rint(matrix.data)
    broken = np.flatnonzero(whole != matrix.data)
    if len(broken):
        raise ModelError(
            f"the matrix holds fractions, {matrix.data[broken[0]]:g} for one, but words are counted in whole numbers; "
            "pass counts, from CountVectorizer, not TfidfVectorizer"
        )
    # Explicit zeros in the matrix are harmless; removing them would change the caller's index arrays.
    whole = scipy.sparse.csr_matrix((whole.astype(np.int64), matrix.indices, matrix.indptr), shape=matrix.shape)
    return Corpus.from_counts(whole, [str(w) for w in (range(matrix.shape[1]) if words is None else words)])


class Aligned(NamedTuple):
    """A corpus in a model's ids, and a mask of the tokens that were kept."""

    corpus: Corpus
    kept: NDArray[np.bool_]


def align(corpus: Corpus, vocabulary: Vocabulary, authors: NDArray[Any] | None) -> Aligned:
    """The corpus in the model's word and author ids.

    Words that the model does not know are left out, with one warning; so are unknown authors, if the model has authors:
    a document that loses all its authors is treated as one without. ``authors=None`` leaves all authors as they are.
    """
    if not isinstance(corpus, Corpus):
        raise ModelError(f"pass a topoi.Corpus, not {type(corpus).__name__}")
    authors = corpus.authors if authors is None else authors
    same_words = corpus.vocabulary is vocabulary or np.array_equal(corpus.words, vocabulary.words)
    same_authors = corpus.authors is authors or np.array_equal(corpus.authors, authors)
    if same_words and same_authors:
        return Aligned(corpus, np.ones(corpus.n_tokens, bool))
    known = {name: a for a, name in enumerate(authors)}
    author_id = np.array([known.get(name, -1) for name in corpus.authors], np.int64)
    aligned = _renumbered(corpus, vocabulary, authors, author_id)
    lost = corpus.n_tokens - aligned.corpus.n_tokens
    if lost and lost == len(corpus.tokens):
        raise ModelError("none of these documents' words is in the model's vocabulary")
    if lost:
        warn_user(f"{lost:,} of {len(corpus.tokens):,} tokens are words the model does not know: they are left out")
    unknown = int((author_id[np.unique(corpus.doc_author)] < 0).sum()) if len(corpus.doc_author) else 0
    if unknown and len(authors):
        warn_user(f"{unknown:,} authors are not known to the model: they are left out")
    return aligned


def restrict(corpus: Corpus, vocabulary: Vocabulary) -> Corpus:
    """The corpus reduced to the words of a vocabulary, in its numbers; authors stay as they are.

    Examples
    --------
    >>> import topoi
    >>> from topoi.corpus.vocabulary import Vocabulary
    >>> from topoi.models.inputs import restrict
    >>> restrict(topoi.Corpus.from_tokens([["a", "b"], ["b", "c"]]), Vocabulary(["c", "b"])).tokens.tolist()
    [1, 1, 0]
    """
    return _renumbered(corpus, vocabulary, corpus.authors, np.arange(corpus.n_authors)).corpus


def _renumbered(corpus: Corpus, vocabulary: Vocabulary, authors: NDArray[Any], author_id: NDArray[np.int64]) -> Aligned:
    """The corpus with new word and author ids; those without a new id are left out."""
    word_id = np.array([vocabulary.index(w) if w in vocabulary else -1 for w in corpus.words], np.int64)
    tokens, doc_start, kept = _renumber(corpus.tokens, corpus.doc_start, word_id)
    doc_author, author_start, _ = _renumber(corpus.doc_author, corpus.doc_author_start, author_id)
    renumbered = Corpus(
        tokens=tokens,
        doc_start=doc_start,
        vocabulary=vocabulary,
        doc_author=doc_author,
        doc_author_start=author_start,
        authors=authors,
        documents=corpus.documents,
        texts=corpus.texts,
        token_start=None if corpus.token_start is None else corpus.token_start[kept],
        token_end=None if corpus.token_end is None else corpus.token_end[kept],
    )
    return Aligned(renumbered, kept)


def _renumber(
    values: NDArray[Any], start: NDArray[Any], new_id: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    """Ragged rows in new ids, without entries whose new id is -1."""
    new = new_id[values] if len(values) else np.zeros(0, np.int64)
    kept = new >= 0
    row = np.repeat(np.arange(len(start) - 1), np.diff(start))
    lengths = np.bincount(row[kept], minlength=len(start) - 1)
    return new[kept].astype(np.int32), np.concatenate(([0], np.cumsum(lengths))).astype(np.int64), kept


def checked_observed(observed: ArrayLike, n_tokens: int) -> NDArray[np.bool_]:
    """Return ``observed`` as one boolean per token, checked."""
    if np.shape(observed) != (n_tokens,):
        raise ModelError(f"observed has {np.size(observed)} values for {n_tokens} tokens; pass one per token")
    return np.ascontiguousarray(observed, bool)


@dataclass(frozen=True)
class WeightedAuthors:
    """Each document's possible authors with their weights; row ``n_shared`` is the document's private author.

    ``fictitious`` says that documents with named authors have a private one too, whose prior probability is
    ``fictitious_weight``; None is the same as that of a named one.
    """

    author: NDArray[np.int32]
    start: NDArray[np.int64]
    weight: NDArray[np.float32]
    n_shared: int
    fictitious: bool = False
    fictitious_weight: float | None = None

    @property
    def private_slot(self) -> NDArray[np.int64]:
        """For each document the position of its private author in its list, or -1."""
        slot = np.full(len(self.start) - 1, -1, np.int64)
        where = np.flatnonzero(self.author == self.n_shared)
        doc = np.searchsorted(self.start, where, side="right") - 1
        slot[doc] = where - self.start[doc]
        return slot

    @property
    def all_private(self) -> bool:
        """Whether every document has a private author and no other: the model is LDA."""
        return len(self.author) == len(self.start) - 1 and bool((self.author == self.n_shared).all())

    @classmethod
    def private(cls, n_docs: int, n_shared: int = 0) -> WeightedAuthors:
        """One private author per document."""
        return cls(np.full(n_docs, n_shared, np.int32), np.arange(n_docs + 1), np.ones(n_docs, np.float32), n_shared)

    @classmethod
    def from_csr(
        cls, author: NDArray[Any], start: NDArray[Any], n_shared: int, fictitious: bool, weight: float | None
    ) -> WeightedAuthors:
        """The documents' own authors; a private one for documents without any, and for all if ``fictitious``.

        With a ``weight`` the private author has that prior probability and the others share the rest evenly.
        """
        lengths = np.diff(start)
        extra = (lengths == 0) | fictitious
        new_start = np.concatenate(([0], np.cumsum(lengths + extra))).astype(np.int64)
        authors = np.full(new_start[-1], n_shared, np.int32)
        own = np.ones(len(authors), bool)
        own[new_start[1:][extra] - 1] = False
        authors[own] = author
        weights = np.ones(len(authors), np.float32)
        if weight is not None:
            shared = fictitious & (lengths > 0)
            share = np.repeat(np.where(shared, (1.0 - weight) / np.maximum(lengths, 1), 1.0), lengths + extra)
            weights = np.where(own, share, np.repeat(np.where(shared, weight, 1.0), lengths + extra))
        return cls(authors, new_start, weights.astype(np.float32), n_shared, fictitious, weight)


def word_count_type(corpus: Corpus) -> type[Any]:
    """Type of the counts of words per topic; an error for words, or documents, that are too large for any.

    Examples
    --------
    >>> import topoi
    >>> from topoi.models.inputs import word_count_type
    >>> word_count_type(topoi.Corpus.from_tokens([["a", "b"], ["a"]])).__name__
    'float32'
    """
    longest = int(corpus.doc_lengths.max(initial=0))
    if longest > EXACT_IN_FLOAT32:
        raise ModelError(f"a document has {longest:,} words; cut it into parts of at most {EXACT_IN_FLOAT32:,}")
    times = occurrences(corpus.tokens, corpus.n_words)
    if not len(times):
        return np.float32
    word = int(times.argmax())
    what = f"the word {str(corpus.words[word])!r} occurs {times[word]:,} times"
    return count_type(int(times[word]), what, "drop the commonest words (max_df or stop_words)")


def author_count_type(corpus: Corpus, lists: WeightedAuthors) -> type[Any]:
    """Type of the counts of authors per topic; an error for authors of too many tokens."""
    tokens = np.repeat(corpus.doc_lengths, np.diff(lists.start))
    may_write = np.bincount(lists.author, tokens, lists.n_shared + 1)[:-1]
    if not len(may_write):
        return np.float32
    most = int(may_write.max())
    name = repr(str(corpus.authors[may_write.argmax()])) if lists.n_shared == corpus.n_authors else "one author"
    what = f"the documents of {name} have {most:,} words"
    return count_type(most, what, "divide them among several names, by years for instance")


def count_type(most: int, what: str, remedy: str) -> type[Any]:
    """Type in which counts up to ``most`` are exact: float32, or int32 beyond 2**24; an error that says what to do.

    Examples
    --------
    >>> from topoi.models.inputs import count_type
    >>> [count_type(n, "a word", "drop it").__name__ for n in (2**24, 2**24 + 1)]
    ['float32', 'int32']
    """
    if most > MOST_TOKENS:
        raise ModelError(f"{what}; at most {MOST_TOKENS:,} can be counted: {remedy}")
    return np.float32 if most <= EXACT_IN_FLOAT32 else np.int32
