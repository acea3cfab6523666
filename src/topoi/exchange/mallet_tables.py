"""MALLET's two tables: keys, the leading words of topics, and doc-topics, the mixtures of documents."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.lines import MAX_LINE_BYTES, LineReader
from topoi.corpus.vocabulary import object_array
from topoi.corpus.writing import whole_file
from topoi.errors import CorpusError
from topoi.exchange.contents import identifiers, leading_words, mixture_blocks, posterior_of, priors

_MOST_TOPICS = 2**16 - 1
# Older versions list pairs of topic and share, under this title, and may leave small shares out.
_PAIRS = "#doc"
# Empty cells that a file of pairs may have for each that it fills: a few pairs must not become a matrix of gigabytes.
_MOST_EMPTY = 1000
_ROUNDING = 1e-3
_LONGEST_SHOWN = 60
# The number of a line, and its fields.
_Row = tuple[int, list[str]]


def to_mallet_keys(model: Any, path: str | Path, n_words: int = 20) -> None:
    r"""Write the topics' leading words as MALLET's keys: topic, alpha and words, a line for each topic.

    Parameters
    ----------
    model : fitted model or view
        A model with topics.
    path : str or Path
        The file, replaced if it exists.
    n_words : int
        Words of each topic, the most probable first; those of which a topic has no token are left out, as in MALLET.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell"]])
    >>> model = topoi.LDA.from_assignments(corpus, [0, 0, 1], n_topics=2, alpha=0.5)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "keys.txt"
    >>> topoi.exchange.to_mallet_keys(model, path)
    >>> path.read_text().splitlines()
    ['0\t0.5\tsun star', '1\t0.5\tcell']
    """
    alpha = priors(model)[0]
    lists = leading_words(model, n_words)
    lines = [f"{k}\t{_short(alpha[k])}\t{' '.join(words)}\n" for k, words in enumerate(lists)]
    with whole_file(path) as stream:
        stream.write("".join(lines).encode())


def _short(value: float) -> str:
    """A number with five decimals, as MALLET writes alpha; a smaller one with five digits, so that it is not zero."""
    return f"{value:.5f}".rstrip("0").rstrip(".") if value >= 1e-4 else f"{value:.5g}"


def to_mallet_doc_topics(model: Any, path: str | Path) -> None:
    r"""Write the documents' mixtures as MALLET's doc-topics: number, id, and the share of every topic.

    This is the form of MALLET 2.0.8 and later, without a title.

    Parameters
    ----------
    model : fitted model or view
        A model with topics. Of a view of a pachinko, regression, aspect, kernel, PLSI or correlated topic model, shares
        have the three digits that a store keeps of them; load the model for all.
    path : str or Path
        The file, replaced if it exists.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell"]])
    >>> model = topoi.LDA.from_assignments(corpus, [0, 0, 1], n_topics=2, alpha=0.5)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "doc-topics.txt"
    >>> topoi.exchange.to_mallet_doc_topics(model, path)
    >>> path.read_text().splitlines()
    ['0\t0\t0.8333333333333334\t0.16666666666666666', '1\t1\t0.25\t0.75']
    """
    posterior_of(model)
    names = [" ".join(name.split()) for name in identifiers(model)]
    with whole_file(path) as stream:
        rows = itertools.chain.from_iterable(block.tolist() for block in mixture_blocks(model))
        for d, (name, shares) in enumerate(zip(names, rows, strict=True)):
            numbers = "\t".join(map(repr, shares))
            stream.write(f"{d}\t{name}\t{numbers}\n".encode())


def read_mallet_keys(
    path: str | Path, *, encoding: str = "utf-8", max_line_bytes: int = MAX_LINE_BYTES
) -> pd.DataFrame:
    r"""Read the file of ``mallet train-topics --output-topic-keys``.

    Parameters
    ----------
    path : str or Path
        The file. One that is damaged or something else is a ``CorpusError`` that names the line.
    encoding : str
        Encoding of the words.
    max_line_bytes : int
        Longer lines are an error.

    Returns
    -------
    DataFrame
        topic, alpha, and words, a list.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "keys.txt"
    >>> _ = path.write_text("0\t0.5\tsun star \n1\t0.25\tcell gene \n")
    >>> topoi.exchange.read_mallet_keys(path)
       topic  alpha         words
    0      0   0.50   [sun, star]
    1      1   0.25  [cell, gene]
    """
    alphas: list[float] = []
    lists = []
    for number, fields in _rows(path, encoding, max_line_bytes):
        if len(fields) != 3 or fields[0] != str(len(alphas)) or len(alphas) == _MOST_TOPICS:
            raise CorpusError(
                f"a line of keys is topic {len(alphas)}, alpha and words, separated by tabs", path, number
            )
        alphas.append(_number(fields[1], path, number))
        lists.append(fields[2].split())
    if not alphas:
        raise CorpusError("the file is empty; keys are a line for each topic", path)
    columns = {"topic": np.arange(len(alphas)), "alpha": alphas, "words": pd.Series(object_array(lists), dtype=object)}
    return pd.DataFrame(columns)


def read_mallet_doc_topics(
    path: str | Path, *, encoding: str = "utf-8", max_line_bytes: int = MAX_LINE_BYTES
) -> pd.DataFrame:
    r"""Read the file of ``mallet train-topics --output-doc-topics``, of older versions and of newer ones.

    Shares that the file leaves out (``--doc-topics-threshold``) are zero.

    Parameters
    ----------
    path : str or Path
        The file. One that is damaged or something else is a ``CorpusError`` that names the line.
    encoding : str
        Encoding of the documents' names.
    max_line_bytes : int
        Longer lines are an error.

    Returns
    -------
    DataFrame
        Documents × topics; the index has the documents' names, the columns are the topics.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "doc-topics.txt"
    >>> _ = path.write_text("0\tsky.txt\t0.75\t0.25\n1\tlife.txt\t0.5\t0.5\n")
    >>> topoi.exchange.read_mallet_doc_topics(path)
                 0     1
    id
    sky.txt   0.75  0.25
    life.txt  0.50  0.50
    """
    rows = _rows(path, encoding, max_line_bytes)
    first = next(rows, None)
    if first is None:
        raise CorpusError("the file is empty; doc-topics are a line for each document", path)
    if first[1][0].startswith(_PAIRS):
        names, matrix = _from_pairs(rows, path)
    else:
        names, matrix = _from_shares(itertools.chain([first], rows), path)
    return pd.DataFrame(matrix, index=pd.Index(names, dtype=object, name="id"), columns=range(matrix.shape[1]))


def _from_shares(rows: Iterable[_Row], path: str | Path) -> tuple[list[str], NDArray[np.float64]]:
    """Names and mixtures of lines with the share of every topic."""
    names: list[str] = []
    found: list[NDArray[np.float64]] = []
    for number, fields in rows:
        found.append(_shares(_document(fields, names, path, number), path, number))
        if len(found[-1]) != len(found[0]):
            raise CorpusError(f"there are {len(found[-1])} topics, and {len(found[0])} before", path, number)
    return names, np.array(found)


def _from_pairs(rows: Iterable[_Row], path: str | Path) -> tuple[list[str], NDArray[np.float64]]:
    """Names and mixtures of lines with pairs of topic and share."""
    names: list[str] = []
    found = [_pairs(_document(fields, names, path, number), path, number) for number, fields in rows]
    if not names:
        raise CorpusError("there are no documents after the title", path)
    n_topics = 1 + max(max(row, default=0) for row in found)
    n_cells, n_given = len(found) * n_topics, sum(map(len, found))
    if n_cells > _MOST_EMPTY * max(n_given, 1):
        raise CorpusError(f"{n_given:,} shares of {len(found):,} documents × {n_topics:,} topics: too few", path)
    matrix = np.zeros((len(found), n_topics))
    for d, row in enumerate(found):
        matrix[d, list(row)] = list(row.values())
    return names, matrix


def _document(fields: list[str], names: list[str], path: str | Path, number: int) -> list[str]:
    """Fields after a document's number, which is checked, and its name, which is added to ``names``."""
    if len(fields) < 2 or fields[0] != str(len(names)):
        raise CorpusError(f"here a line is document {len(names)}, its name and its topics, by tabs", path, number)
    names.append(fields[1])
    return fields[2:]


def _rows(path: str | Path, encoding: str, max_line_bytes: int) -> Iterator[_Row]:
    """Lines as fields, without the empty one that a tab at the end of a line makes."""

    def stop(problem: CorpusError) -> None:
        raise problem

    for number, line in LineReader(path, stop, encoding, max_line_bytes).lines():
        text = line.rstrip("\r")
        if text.strip():
            yield number, text.removesuffix("\t").split("\t")


def _shares(fields: Sequence[str], path: str | Path, number: int) -> NDArray[np.float64]:
    try:
        found = np.array(fields, np.float64)
    except ValueError:
        raise CorpusError("a share is not a number; shares are separated by tabs", path, number) from None
    if not ((found >= 0.0) & (found <= 1.0 + _ROUNDING)).all():
        raise CorpusError("a share is not between 0 and 1", path, number)
    return found


def _pairs(fields: Sequence[str], path: str | Path, number: int) -> dict[int, float]:
    found: dict[int, float] = {}
    for topic, share in itertools.zip_longest(fields[::2], fields[1::2], fillvalue=""):
        if not (topic.isascii() and topic.isdigit() and len(topic) <= 5) or int(topic) >= _MOST_TOPICS:
            raise CorpusError(f"{topic[:_LONGEST_SHOWN]!r} is not the number of a topic", path, number)
        if int(topic) in found:
            raise CorpusError(f"topic {topic} is there twice", path, number)
        found[int(topic)] = float(_shares([share], path, number)[0])
    return found


def _number(text: str, path: str | Path, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 < value < 1e30:
        raise CorpusError(f"{text[:_LONGEST_SHOWN]!r} is not a number above zero", path, line)
    return value
