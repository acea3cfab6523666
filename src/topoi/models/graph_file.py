"""A graph of topics as a JSON file: written by ``topoi structure --prune``, read by ``topoi fit --dag``."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Any

from topoi.errors import ModelError, StoreError
from topoi.models.dag import Dag, as_dag

_LARGEST = 16 * 2**20


def read_graph(path: Path) -> Dag:
    """The graph in a file: a nested object of nodes and their children, or a list of pairs [parent, child].

    ``"<words>"`` among children makes a node draw words as well. Errors name the file.
    """
    if path.is_dir():
        raise ModelError(f"{path} is a folder; name a JSON file with a graph")
    if not path.exists():
        raise FileNotFoundError(2, "No such file", str(path))
    if not path.is_file():
        raise ModelError(f"{path} is not a file")  # reading a pipe would block for ever
    if path.stat().st_size > _LARGEST:
        raise ModelError(f"{path} is larger than {_LARGEST >> 20} MB; a graph of that size cannot be fitted")
    try:
        graph = json.loads(path.read_bytes().decode("utf-8-sig"), object_pairs_hook=_no_key_twice)
    except json.JSONDecodeError as error:
        raise ModelError(f"{path}, line {error.lineno}: this is not JSON ({error.msg})") from error
    except UnicodeDecodeError as error:
        raise ModelError(f"{path} is not a text in UTF-8 ({error.reason} at byte {error.start:,})") from error
    except RecursionError as error:
        raise ModelError(f"{path} is nested too deeply; list edges as pairs [parent, child] instead") from error
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error
    if not isinstance(graph, dict | list):
        raise ModelError(f"{path} holds {_named(graph)}; it must be an object of nodes, or a list of [parent, child]")
    try:
        return as_dag(graph)
    except RecursionError as error:
        raise ModelError(f"{path} is nested too deeply; list edges as pairs [parent, child] instead") from error
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object with distinct keys; of duplicates, JSON would silently keep the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ModelError(f"the node {twice!r} stands twice in one place; put its children together")
    return found


def _named(value: Any) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"


def write_graph(path: Path, dag: Dag) -> None:
    """Write a graph as a list of edges, one per line, atomically."""
    text = "[\n" + ",\n".join(json.dumps(edge, ensure_ascii=False) for edge in dag.to_plain()) + "\n]\n"
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        with open(temporary, "xb") as stream:
            stream.write(text.encode("utf-8"))
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)
