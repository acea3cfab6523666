"""One document of a corpus, as a view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from topoi.corpus.corpus import Corpus


class Document:
    """View of one document: its words, text, authors and metadata, looked up in the corpus on access.

    Examples
    --------
    >>> from topoi import Corpus
    >>> document = Corpus.from_tokens([["red", "fish"]], authors=["Ann"], titles=["Fish"])[0]
    >>> document.title, document.words, document.authors
    ('Fish', ['red', 'fish'], ['Ann'])
    """

    __slots__ = ("_corpus", "index")

    def __init__(self, corpus: Corpus, index: int) -> None:
        self._corpus = corpus
        self.index = index

    @property
    def _span(self) -> slice:
        return slice(self._corpus.doc_start[self.index], self._corpus.doc_start[self.index + 1])

    def _field(self, name: str) -> Any:
        frame = self._corpus.documents
        return frame[name].iat[self.index] if name in frame else None

    @property
    def id(self) -> str:
        """The document's id."""
        return self._field("id")

    @property
    def title(self) -> Any:
        """The title, or None."""
        return self._field("title")

    @property
    def date(self) -> Any:
        """The date, or None."""
        return self._field("date")

    @property
    def text(self) -> str | None:
        """The original text, if it is known."""
        return None if self._corpus.texts is None else self._corpus.texts[self.index]

    @property
    def tokens(self) -> np.ndarray:
        """The word ids in reading order."""
        return self._corpus.tokens[self._span]

    @property
    def words(self) -> list[str]:
        """The words in reading order."""
        return self._corpus.words[self.tokens].tolist()

    @property
    def offsets(self) -> list[tuple[int, int]] | None:
        """Character offsets of each word in the text, or None."""
        corpus = self._corpus
        if corpus.token_start is None or corpus.token_end is None:
            return None
        return list(zip(corpus.token_start[self._span].tolist(), corpus.token_end[self._span].tolist(), strict=True))

    @property
    def authors(self) -> list[str]:
        """The names of the authors."""
        corpus = self._corpus
        span = slice(corpus.doc_author_start[self.index], corpus.doc_author_start[self.index + 1])
        return corpus.authors[corpus.doc_author[span]].tolist()

    @property
    def metadata(self) -> dict[str, Any]:
        """All columns of ``corpus.documents`` for this document."""
        return {name: self._field(name) for name in map(str, self._corpus.documents)}

    def __len__(self) -> int:
        return len(self.tokens)

    def __repr__(self) -> str:
        title = f" {self.title!r}" if isinstance(self.title, str) else ""
        by = f" by {', '.join(self.authors)}" if self.authors else ""
        return f"<Document {self.id!r}:{title}{by}, {len(self)} tokens>"
