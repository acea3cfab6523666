"""Folders of exported files: new, or in place of an earlier export, and never over anything else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from topoi.corpus.writing import whole_folder
from topoi.errors import StoreError

_SHOWN = 3


@contextmanager
def new_folder(target: str | Path, names: Sequence[str], replace: bool = False) -> Iterator[Path]:
    """Yield an empty folder for files of these names, which becomes ``target`` when all of them are written.

    A folder that is there must be empty, or with ``replace`` have no other files than these.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from topoi.exchange.folders import new_folder
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "export"
    >>> with new_folder(target, ["keys.txt"]) as folder:
    ...     _ = (folder / "keys.txt").write_text("0")
    >>> (target / "keys.txt").exists()
    True
    """
    target = Path(target)
    check_free(target, names, replace)
    with whole_folder(target) as made:
        yield made


def check_free(target: Path, names: Sequence[str], replace: bool) -> None:
    """Refuse a folder that has something else in it, or an earlier export unless it may be replaced."""
    if not target.exists():
        return
    if not target.is_dir():
        raise StoreError(f"{target} is a file; name a folder to write to")
    there = sorted(entry.name for entry in target.iterdir())
    others = [name for name in there if name not in names or not (target / name).is_file()]
    if others:
        shown = ", ".join(others[:_SHOWN]) + (", …" if len(others) > _SHOWN else "")
        raise StoreError(f"{target} is a folder with other things in it ({shown}); name a new one")
    if there and not replace:
        raise StoreError(f"{target} holds an earlier export; choose another folder, or replace it (--force)")
