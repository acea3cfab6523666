"""Whole exports for the command line: one file or one folder for each format."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from topoi.corpus.writing import whole_file
from topoi.errors import CorpusError, StoreError
from topoi.exchange.contents import posterior_of, words_of
from topoi.exchange.folders import new_folder
from topoi.exchange.gensim_forms import bags
from topoi.exchange.mallet_state import to_mallet_state
from topoi.exchange.mallet_tables import to_mallet_doc_topics, to_mallet_keys
from topoi.exchange.matrices import to_octis, to_pyldavis

_STATE, _KEYS, _DOC_TOPICS = "state.gz", "keys.txt", "doc-topics.txt"
_DICTIONARY, _BAGS = "dictionary.txt", "corpus.mm"


def write_mallet(model: Any, folder: Path, replace: bool = False) -> list[str]:
    """Write a model's state, keys and doc-topics to a folder; without a state if its words have no topics.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> from topoi.exchange.files import write_mallet
    >>> model = topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]])
    >>> write_mallet(model, pathlib.Path(tempfile.mkdtemp()) / "mallet")
    ['state.gz', 'keys.txt', 'doc-topics.txt']
    """
    writers = {_STATE: to_mallet_state, _KEYS: to_mallet_keys, _DOC_TOPICS: to_mallet_doc_topics}
    names = list(writers) if posterior_of(model).tokens_have_topics else [_KEYS, _DOC_TOPICS]
    with new_folder(folder, list(writers), replace) as made:
        for name in names:
            writers[name](model, made / name)
    return names


def write_gensim(model: Any, folder: Path, replace: bool = False) -> list[str]:
    """Write words and documents for ``Dictionary.load_from_text`` and ``MmCorpus``; gensim itself is not needed.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> from topoi.exchange.files import write_gensim
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "gensim"
    >>> write_gensim(topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]), folder)
    ['dictionary.txt', 'corpus.mm']
    >>> (folder / "corpus.mm").read_text().splitlines()[:3]
    ['%%MatrixMarket matrix coordinate real general', '2 2 4', '1 1 1']
    """
    words = words_of(model)
    for word in words:
        if "\t" in word or "\n" in word:
            raise CorpusError(f"the word {word!r} has a tab or a line end, which separate columns in a dictionary")
    n_documents, n_cells, frequency = 0, 0, np.zeros(len(words), np.int64)
    for bag in bags(model):
        n_documents, n_cells = n_documents + 1, n_cells + len(bag)
        frequency[[w for w, _ in bag]] += 1
    with new_folder(folder, [_DICTIONARY, _BAGS], replace) as made:
        lines = [f"{w}\t{word}\t{frequency[w]}\n" for w, word in enumerate(words)]
        (made / _DICTIONARY).write_text(f"{n_documents}\n{''.join(lines)}", encoding="utf-8", newline="\n")
        with (made / _BAGS).open("w", encoding="ascii", newline="\n") as stream:
            stream.write(f"%%MatrixMarket matrix coordinate real general\n{n_documents} {len(words)} {n_cells}\n")
            stream.writelines(_cells(model))
    return [_DICTIONARY, _BAGS]


def _cells(model: Any) -> Iterator[str]:
    """Lines of a Matrix Market file, which counts from 1."""
    for d, bag in enumerate(bags(model), start=1):
        yield "".join([f"{d} {w + 1} {times}\n" for w, times in bag])


def write_pyldavis(model: Any, path: Path, replace: bool = False) -> list[str]:
    """Write the arguments of ``pyLDAvis.prepare`` to a .json or .npz file.

    Examples
    --------
    >>> import json, pathlib, tempfile, topoi
    >>> from topoi.exchange.files import write_pyldavis
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pyldavis.json"
    >>> write_pyldavis(topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]), path)
    ['pyldavis.json']
    >>> json.loads(path.read_text())["doc_lengths"]
    [3, 3]
    """
    return _write_values(lambda: to_pyldavis(model), path, replace)


def write_octis(model: Any, path: Path, replace: bool = False) -> list[str]:
    """Write a model's output, as OCTIS takes it, to a .json or .npz file; in the latter short topics end in ``""``.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile, topoi
    >>> from topoi.exchange.files import write_octis
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "octis.npz"
    >>> write_octis(topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]), path)
    ['octis.npz']
    >>> np.load(path)["topic-document-matrix"].shape
    (2, 2)
    """
    return _write_values(lambda: to_octis(model), path, replace)


def _write_values(values: Callable[[], Mapping[str, Any]], path: Path, replace: bool) -> list[str]:
    writers = {".json": _write_json, ".npz": _write_arrays}
    if path.suffix not in writers:
        raise StoreError(f"{path} ends in neither .json nor .npz; name a file that does")
    if path.exists() and not replace:
        raise StoreError(f"{path} exists; choose another file, or replace it (--force)")
    found = values()
    with whole_file(path) as stream:
        writers[path.suffix](found, stream)
    return [path.name]


def _write_json(values: Mapping[str, Any], stream: Any) -> None:
    plain = {name: each.tolist() if isinstance(each, np.ndarray) else each for name, each in values.items()}
    stream.write(json.dumps(plain, allow_nan=False, ensure_ascii=False).encode())


def _write_arrays(values: Mapping[str, Any], stream: Any) -> None:
    np.savez_compressed(stream, **{name: _array(each) for name, each in values.items()})


def _array(value: Any) -> Any:
    """Lists of words of unequal length are filled up with empty ones: an array of objects would be a pickle."""
    if not (isinstance(value, list) and value and isinstance(value[0], list)):
        return np.asarray(value)
    longest = max(map(len, value))
    return np.array([row + [""] * (longest - len(row)) for row in value])
