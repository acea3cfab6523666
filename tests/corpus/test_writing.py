"""Files and folders are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from topoi.corpus.writing import whole_file, whole_folder
from topoi.errors import StoreError


def test_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    with whole_file(path) as stream:
        stream.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_error_leaves_the_old_file(error: type[BaseException], tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    with pytest.raises(error), whole_file(path) as stream:
        stream.write(b"new")
        raise error
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_places_that_are_no_files_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, message in [
        (tmp_path, "it is a folder"),
        (tmp_path / "pipe", "it is a device or a pipe"),
        (Path(os.devnull), "it is a device or a pipe"),
        (tmp_path / "none" / "a.txt", "No such file"),
    ]:
        with pytest.raises(StoreError, match=message), whole_file(path) as stream:
            stream.write(b"new")
    assert not Path(os.devnull).is_file()


def test_folder_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "site"
    target.mkdir()
    (target / "old.txt").write_text("old")
    with pytest.raises(ValueError), whole_folder(target) as made:
        (made / "new.txt").write_text("new")
        raise ValueError
    assert [path.name for path in target.iterdir()] == ["old.txt"] and list(tmp_path.iterdir()) == [target]
    with whole_folder(target) as made:
        (made / "new.txt").write_text("new")
        assert (target / "old.txt").exists()
    assert [path.name for path in target.iterdir()] == ["new.txt"] and list(tmp_path.iterdir()) == [target]


def test_folder_in_a_place_that_is_none_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write"), whole_folder(tmp_path / "file" / "site"):
        pass
