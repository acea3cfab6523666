"""Models that can be guided: their settings, and a report of how far the data agreed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.checked_json import read_json
from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import occurrences
from topoi.errors import ModelError
from topoi.models.guidance.documents import DocLabels, DocumentsOfTopics, documents_told
from topoi.models.guidance.guidance import Guidance
from topoi.models.guidance.settings import SETTINGS, Seeds, WordsOfTopics, resolve_guidance
from topoi.models.posterior import Posterior

_LARGEST_FILE = 10 * 2**20


class Guided:
    """Settings that guide topics, mixed into the families that take them; see ``docs/guidance.md``."""

    seeds: Seeds | None
    seed_strength: int | None
    ban: WordsOfTopics | None
    pin: WordsOfTopics | None
    doc_labels: DocLabels | None
    doc_ban: DocumentsOfTopics | None
    corpus_: Corpus
    chains_: list[Any]
    _sampler: Any

    def _guidance(self, corpus: Corpus, n_topics: int) -> Guidance | None:
        """What the settings say about the topics of this corpus; None if nothing."""
        return resolve_guidance(corpus, n_topics, **{name: getattr(self, name) for name in SETTINGS})

    def _told_of_documents(self) -> dict[str, Any]:
        """Settings that mean the same for more documents: about documents by their ids, and the strength of seeds."""
        found = documents_told({name: getattr(self, name) for name in SETTINGS}, self.corpus_)
        told = self._sampler.guidance
        return found if told is None or not self.seeds else found | {"seed_strength": told.strength}

    def _plain_settings(self, settings: dict[str, Any]) -> dict[str, Any]:
        # Seeds as a list of pairs: JSON would not keep the order of a dict's keys, by which topics are numbered.
        found: dict[str, Any] = super()._plain_settings(settings)  # type: ignore[misc]
        if isinstance(found.get("seeds"), Mapping):
            found["seeds"] = [list(pair) for pair in found["seeds"].items()]
        return found

    def restore_bundle(self, corpus: Corpus, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Restore what ``save`` wrote."""
        if isinstance(self.seeds, list):
            if not all(isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in self.seeds):
                raise ModelError("the saved seeds are not pairs of a topic and its words")
            self.seeds = dict(self.seeds)
        return super().restore_bundle(corpus, meta, arrays)  # type: ignore[misc,no-any-return]

    def guidance_report(self) -> pd.DataFrame:
        """How far the data agreed with the seeds: one row for each seed word in its topic.

        Columns: topic, name (of the topic), word, strength (phantom tokens), n_words (real tokens of the word in the
        topic), share (of all the word's tokens), rank (of the word among the topic's, by probability), and expected,
        the share that the topic would have if the word were spread as all words are. A seed whose share is near
        ``expected`` was not taken up by the documents.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"] * 5, ["cell", "gene"] * 5] * 5)
        >>> model = topoi.LDA(2, alpha=0.1, seeds={"life": ["cell"]}, n_iter=50, random_state=0).fit(corpus)
        >>> model.guidance_report()[["name", "word", "n_words", "share", "rank"]].values.tolist()
        [['life', 'cell', 25, 1.0, 1]]
        >>> model.topic_labels()[0]
        'life'
        """
        check_is_fitted(self, "n_iter_")
        first: Posterior = self.chains_[0]
        told, names = first.source.phantoms, guided_names(first)
        if told is None:
            return _report(np.zeros((0, 3), np.int64), [], np.zeros(0), np.zeros(0), [], np.zeros(0))
        order = np.lexsort((np.arange(len(told.word)), told.topic))
        word, topic, times = told.word[order], told.topic[order], told.times[order]
        distinct, place = np.unique(word, return_inverse=True)
        in_topic = first.source.word_rows(distinct)[place, topic]
        every = occurrences(self.corpus_.tokens, self.corpus_.n_words)[word]
        sizes = first.topic_totals
        rank = [int(first.words_before(int(w))[k]) + 1 for w, k in zip(word, topic, strict=True)]
        cells = np.stack([topic, word, times], axis=1)
        named = [names[k] if k < len(names) else str(k) for k in topic.tolist()]
        expected = sizes[topic] / max(float(sizes.sum()), 1.0)
        return _report(cells, named, in_topic, every, rank, expected, self.corpus_.words)


def guided_names(first: Posterior) -> tuple[str, ...]:
    """Names that the settings gave to the first topics of a chain in memory."""
    return () if first.guidance is None else first.guidance.names


def _report(
    cells: NDArray[np.int64],
    names: list[str],
    in_topic: NDArray[Any],
    every: NDArray[Any],
    rank: list[int],
    expected: NDArray[Any],
    words: Any = None,
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "topic": cells[:, 0],
            "name": names,
            "word": [] if words is None else [str(words[w]) for w in cells[:, 1]],
            "strength": cells[:, 2],
            "n_words": np.rint(in_topic).astype(np.int64),
            "share": in_topic / np.maximum(every, 1),
            "rank": rank,
            "expected": expected,
        }
    )


def read_guidance(path: str | Path) -> dict[str, Any]:
    """Guidance from a JSON file: a mapping of names to lists of words, for the command line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from topoi.models.guidance.model import read_guidance
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "seeds.json"
    >>> _ = path.write_text('{"trade": ["tariff", "import"]}')
    >>> read_guidance(path)
    {'trade': ['tariff', 'import']}
    """
    path = Path(path)
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise ValueError(f"it is larger than {_LARGEST_FILE // 2**20} megabytes")
        found = read_json(path.read_text("utf-8-sig"), distinct=True)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON: {error}") from None
    except OSError as error:
        raise ValueError(f"it cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text") from None
    if not isinstance(found, Mapping):
        raise ValueError('it has no mapping of topics to words, as in {"trade": ["tariff"]}')
    return dict(found)
