"""Files and folders that are written whole or not at all: beside their place first, then renamed into it."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from topoi.errors import StoreError

UNFINISHED = ".part"


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """Yield a stream whose content becomes the file at ``path`` when the block ends without an error.

    Until then, and after an error or a power cut, there is the old file or none. An ``OSError`` is a ``StoreError``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from topoi.corpus.writing import whole_file
    >>> path = pathlib.Path(tempfile.mkdtemp(), "one.txt")
    >>> with whole_file(path) as stream:
    ...     _ = stream.write(b"one")
    >>> path.read_text()
    'one'
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "a device or a pipe"
        raise StoreError(f"cannot write {path}: it is {kind}; name a file")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}{UNFINISHED}")
    try:
        stream = open(temporary, "xb")
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from error
    try:
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise StoreError(f"cannot write {path}: {error.strerror or error}") from error
        raise


@contextmanager
def whole_folder(target: str | Path) -> Iterator[Path]:
    """Yield an empty folder that takes the place of ``target``, old contents and all, when the block ends.

    After an error there is the old folder or none. What a killed writer left beside it, the next one removes.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from topoi.corpus.writing import whole_folder
    >>> target = pathlib.Path(tempfile.mkdtemp(), "notes")
    >>> with whole_folder(target) as made:
    ...     _ = (made / "one.txt").write_text("one")
    >>> [path.name for path in target.iterdir()]
    ['one.txt']
    """
    target = Path(target).resolve()
    made = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(target)
        made = Path(tempfile.mkdtemp(prefix=f".{target.name}-", suffix=UNFINISHED, dir=target.parent))
        with _lock(made):
            yield made
            os.chmod(made, 0o755)
            _put_in_place(made, target)
    except BaseException as error:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
        if isinstance(error, OSError):
            raise StoreError(f"cannot write {target}: {error.strerror or error}") from error
        raise


def _remove_abandoned(target: Path) -> None:
    """Remove unfinished folders whose writers are gone."""
    for left in target.parent.iterdir():
        if left.name.startswith(f".{target.name}-") and left.name.endswith(UNFINISHED) and left.is_dir():
            with _lock(left) as gone:
                if gone:
                    shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _lock(folder: Path) -> Iterator[bool]:
    """Lock a folder as long as this process lives; False where another has it, or locks are not known."""
    try:
        import fcntl  # not on Windows
    except ImportError:
        yield False
        return
    file = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(file)


def _put_in_place(made: Path, target: Path) -> None:
    before = made.with_name(f"{made.name}-before")
    if target.exists():
        os.rename(target, before)
    try:
        os.rename(made, target)
    except BaseException:
        if before.exists():
            os.rename(before, target)
        raise
    shutil.rmtree(before, ignore_errors=True)
