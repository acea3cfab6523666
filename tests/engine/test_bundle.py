"""Bundle files: what was written comes back, and nothing else ever does."""

import io
import json
import os
import warnings
import zipfile

import numpy as np
import pytest

import topoi.engine.checkpoint as bundle
from engine.processes import start_python
from topoi.engine.checkpoint import read_bundle, remove_unfinished, write_bundle
from topoi.errors import StoreError

META = {"name": "demo", "numbers": [1, 2.5, None], "text": "ü"}
ARRAYS = {
    "int": np.arange(12, dtype=np.int64).reshape(3, 4),
    "fortran": np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
    "small": np.array([0, 65535], np.uint16),
    "truth": np.array([True, False]),
    "scalar": np.array(2.5),
    "empty": np.zeros((0, 3)),
    "strided": np.arange(10)[::3],
}


def same(read):
    assert read.meta == META
    assert set(read.arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        got = read.arrays[name]
        assert got.dtype == array.dtype and got.shape == array.shape and np.array_equal(got, array), name


def raw_bundle(path, arrays, manifest=None, method=zipfile.ZIP_STORED, level=None):
    """A file made by hand: ``arrays`` maps names to the bytes of their members."""
    whole = {"format": "topoi-bundle", "version": 1, "kind": "model", "arrays": sorted(arrays), "meta": {}}
    with zipfile.ZipFile(path, "w", method, compresslevel=level) as archive:
        archive.writestr("manifest.json", json.dumps(whole | (manifest or {})))
        for name, data in arrays.items():
            archive.writestr(f"{name}.npy", data)
    return path


def npy(array, **kw):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, **kw)
    return stream.getvalue()


def npy_header(shape, dtype="<i8", data=b""):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"shape": shape, "fortran_order": False, "descr": dtype})
    return stream.getvalue() + data


@pytest.mark.parametrize("compress", [False, True])
def test_round_trip_keeps_every_bit_type_and_shape(tmp_path, compress):
    path = tmp_path / "x.topoi"
    write_bundle(path, "model", META, ARRAYS, compress)
    same(read_bundle(path, "model"))
    assert [p.name for p in tmp_path.iterdir()] == ["x.topoi"]


def test_file_mode_follows_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        write_bundle(tmp_path / "x", "model", {}, {})
    finally:
        os.umask(old)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("disk full"), ValueError])
@pytest.mark.parametrize("where", ["write_array", "replace"])
def test_exception_in_the_middle_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, error, where):
    path = tmp_path / "x.topoi"
    write_bundle(path, "model", META, ARRAYS)

    def fail(*args, **kw):
        raise error

    monkeypatch.setattr(*((np.lib.format, where) if where == "write_array" else (bundle.os, where)), fail)
    with pytest.raises(StoreError if isinstance(error, OSError) else error):
        write_bundle(path, "model", {}, {"int": np.zeros(5)})
    monkeypatch.undo()
    same(read_bundle(path, "model"))
    assert [p.name for p in tmp_path.iterdir()] == ["x.topoi"]


KILLED = """
import os, signal, sys, numpy as np
from topoi.engine import checkpoint
def write(member, array, **kw):
    member.write(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
np.lib.format.write_array = write
checkpoint.write_bundle(sys.argv[1], "model", {}, {"x": np.zeros(3)})
"""


def test_kill_in_the_middle_leaves_the_old_file_and_its_remains_can_be_removed(tmp_path):
    path = tmp_path / "x.topoi"
    write_bundle(path, "model", META, ARRAYS)
    (tmp_path / ".y.topoi.1.part").touch()
    process = start_python(KILLED, path)
    process.communicate()
    assert process.returncode == -9
    same(read_bundle(path, "model"))
    assert len(list(tmp_path.iterdir())) == 3
    remove_unfinished(path)
    assert sorted(p.name for p in tmp_path.iterdir()) == [".y.topoi.1.part", "x.topoi"]


@pytest.mark.parametrize("place", ["missing/x.topoi", "file/x.topoi", "folder"])
def test_place_that_cannot_be_written_is_a_store_error(tmp_path, place):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match=place):
        write_bundle(tmp_path / place, "model", {}, {})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]


def test_read_only_folder_is_a_store_error(tmp_path, monkeypatch):
    """Root may write anywhere, so the refusal is played."""

    def refuse(*args, **kw):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(StoreError, match=r"x\.topoi: Permission denied"):
        write_bundle(tmp_path / "x.topoi", "model", {}, {})


OBJECTS = {
    "objects": np.array([{}, None], object),
    "records with objects": np.array([(1, "a")], [("n", int), ("o", object)]),
    "strings": np.array(["a"]),
    "dates": np.array(["2020-01-01"], "datetime64[D]"),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_only_numbers_are_written(tmp_path, name):
    with pytest.raises(StoreError, match="refused"):
        write_bundle(tmp_path / "x", "model", {}, {"a": OBJECTS[name]})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("meta", [{"a": float("nan")}, {"a": object()}])
def test_settings_that_json_cannot_hold_are_a_store_error(tmp_path, meta):
    with pytest.raises(StoreError, match="cannot write"):
        write_bundle(tmp_path / "x", "model", meta, {})
    assert list(tmp_path.iterdir()) == []


class Bomb:
    def __reduce__(self):
        return os.system, ("touch exploded",)


@pytest.mark.parametrize("name", ["pickle", *OBJECTS])
def test_only_numbers_are_read_and_no_pickle_is_opened(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    array = np.array([Bomb()], object) if name == "pickle" else OBJECTS[name]
    path = raw_bundle(tmp_path / "x", {"a": npy(array, allow_pickle=True)})
    with pytest.raises(StoreError, match=r"x: .*refused"):
        read_bundle(path, "model")
    assert not (tmp_path / "exploded").exists()


def write_foreign(path, name):
    if name == "missing":
        return
    if name == "folder":
        path.mkdir()
        return
    write_bundle(path, "model", META, ARRAYS)
    data = path.read_bytes()
    path.write_bytes({"empty": b"", "text": b"hello" * 100, "half": data[: len(data) // 2], "tail": data[50:]}[name])


@pytest.mark.parametrize("name", ["missing", "folder", "empty", "text", "half", "tail"])
def test_foreign_and_truncated_files_are_store_errors_that_name_the_file(tmp_path, name):
    path = tmp_path / "strange.topoi"
    write_foreign(path, name)
    with pytest.raises(StoreError, match=r"strange\.topoi"):
        read_bundle(path, "model")


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ({"version": 2}, "newer"),
        ({"version": 0}, "version"),
        ({"version": "1"}, "version"),
        ({"kind": "checkpoint"}, "holds a checkpoint, not a model"),
        ({"format": "other"}, "not a topoi file"),
        ({"arrays": None}, "damaged"),
        ({"arrays": [["a"]]}, "damaged"),
        ({"arrays": ["a", "a"]}, "damaged"),
        ({"arrays": ["missing"]}, "damaged"),
        ({"arrays": ["../a"]}, "damaged"),
        ({"meta": [1]}, "damaged"),
    ],
)
def test_manifest_is_checked(tmp_path, manifest, message):
    path = raw_bundle(tmp_path / "x.topoi", {"a": npy(np.zeros(2))}, manifest)
    with pytest.raises(StoreError, match=rf"x\.topoi.*{message}"):
        read_bundle(path, "model")


@pytest.mark.parametrize("text", [b"{", b"[1]", b"null", b"\xff\xfe", b"[" * 100_000])
def test_manifest_that_is_no_manifest(tmp_path, text):
    with zipfile.ZipFile(tmp_path / "x.topoi", "w") as archive:
        archive.writestr("manifest.json", text)
    with pytest.raises(StoreError, match=r"x\.topoi"):
        read_bundle(tmp_path / "x.topoi", "model")


MEMBERS = {
    "promises more": npy_header((10**12,), data=b"\0" * 80),
    "promises less": npy_header((5,), data=b"\0" * 80),
    "negative": npy_header((-1,), data=b""),
    "two negatives": npy_header((-2, -5), data=b"\0" * 80),
    "overflows": npy_header((2**62, 4), data=b""),
    "no size": npy_header((10**15,), dtype="|V0"),
    "no header": b"abc",
    "bad header": npy_header((1,), data=b"\0" * 8).replace(b"'descr'", b"'dascr'"),
    "nothing": b"",
}


@pytest.mark.parametrize("name", MEMBERS)
def test_array_whose_header_lies_is_refused(tmp_path, name):
    path = raw_bundle(tmp_path / "x.topoi", {"a": MEMBERS[name]})
    with pytest.raises(StoreError, match=r"x\.topoi"):
        read_bundle(path, "model")


def test_zip_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    data = npy_header((2**23,), data=b"\0" * 2**26)
    path = raw_bundle(tmp_path / "x.topoi", {"a": data}, method=zipfile.ZIP_DEFLATED, level=9)
    assert path.stat().st_size < 100_000
    monkeypatch.setattr(np.lib.format, "read_array", lambda *a, **k: pytest.fail("unpacked"))
    with pytest.raises(StoreError, match="would unpack to"):
        read_bundle(path, "model")


def test_our_own_most_compressible_arrays_are_not_taken_for_bombs(tmp_path):
    zeros = {"slot": np.zeros(5_000_000, np.uint16)}
    write_bundle(tmp_path / "x", "model", {}, zeros, compress=True)
    assert np.array_equal(read_bundle(tmp_path / "x", "model").arrays["slot"], zeros["slot"])


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_other_compressions_are_refused(tmp_path, method):
    path = raw_bundle(tmp_path / "x.topoi", {"a": npy(np.zeros(100))}, method=method)
    with pytest.raises(StoreError, match="compressed"):
        read_bundle(path, "model")


@pytest.mark.parametrize("compress", [False, True])
def test_flipped_bytes_give_a_store_error_or_the_right_data(tmp_path, compress):
    path = tmp_path / "x.topoi"
    write_bundle(path, "model", META, ARRAYS, compress)
    good = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy remarks on headers that look like Python 2's
        for at in range(int(compress), len(good), 3):
            bad = bytearray(good)
            bad[at] ^= int(rng.integers(1, 256))
            path.write_bytes(bytes(bad))
            try:
                same(read_bundle(path, "model"))
            except StoreError as error:
                refused += 1
                assert "x.topoi" in str(error)
    assert refused > len(good) / 12
