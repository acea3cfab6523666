"""Arrays of samples are packed in small parts, and rows of a document are read from the parts that have them."""

import sqlite3

import numpy as np
import pytest

from topoi.errors import StoreError
from topoi.store.arrays import get_arrays, get_rows, put_arrays

NAMES = ["chain0_samples_topic", "chain0_samples_slot"]
SHAPE = (150_001, 7)


@pytest.fixture(scope="module")
def stored():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE array (array_id INTEGER PRIMARY KEY, model_id, name, dtype, shape)")
    connection.execute("CREATE TABLE array_part (array_id, part, data, PRIMARY KEY (array_id, part))")
    rng = np.random.default_rng(0)
    arrays = {name: rng.integers(0, 200, SHAPE).astype(dtype) for name, dtype in zip(NAMES, ("u1", "<u2"), strict=True)}
    put_arrays(connection, 3, arrays)
    assert connection.execute("SELECT count(*) FROM array_part").fetchone()[0] > 5
    return connection, arrays


def test_arrays_come_back_whole(stored):
    connection, arrays = stored
    found = get_arrays(connection, 3)
    assert all((found[name] == array).all() and found[name].dtype == array.dtype for name, array in arrays.items())


# A part has half a megabyte: 74,898 rows of the first array, 37,449 of the second.
@pytest.mark.parametrize(
    ("first", "last"), [(0, 1), (37_440, 37_460), (74_890, 74_905), (0, 150_001), (150_000, 150_001)]
)
def test_rows_are_those_of_the_array(stored, first, last):
    connection, arrays = stored
    found = get_rows(connection, 3, NAMES, SHAPE, range(first, last))
    for name, rows in zip(NAMES, found, strict=True):
        np.testing.assert_array_equal(rows, arrays[name][first:last])


def test_no_rows_are_an_empty_matrix(stored):
    assert [rows.shape for rows in get_rows(stored[0], 3, NAMES, SHAPE, range(5, 5))] == [(0, 7), (0, 7)]


def test_another_shape_or_name_or_model_is_refused(stored):
    connection, _ = stored
    for model, names, shape in ((3, NAMES, (10, 7)), (3, ["chain1_samples_topic"], SHAPE), (4, NAMES, SHAPE)):
        with pytest.raises(StoreError, match="there is no array"):
            get_rows(connection, model, names, shape, range(1))
