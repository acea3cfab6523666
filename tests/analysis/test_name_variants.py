"""Names that may be one person's, tried on names of the ACL anthology."""

from __future__ import annotations

import pytest

from topoi.analysis.name_variants import NameIndex, are_compatible, parse_name

SAME = [
    ("Christopher D. Manning", "Christopher Manning"),
    ("Christopher D. Manning", "Christopher D Manning"),
    ("Lluís Màrquez", "Lluis Marquez"),
    ("Sean O'Brien", "Sean O’brien"),
    ("Grzegorz Chrupala", "Grzegorz Chrupała"),
    ("José Camacho-Collados", "Jose Camacho Collados"),
    ("Gertjan van Noord", "van Noord, Gertjan"),
    ("Horst-Udo Hain", "H.-U. Hain"),
    ("Andrew Ng", "Andrew Y. Ng"),
    ("Yahui Zhao", "Zhao Yahui"),
    ("Robert L. Logan IV", "Robert Logan"),
    ("Jordan, Michael I.", "Michael Jordan"),
    ("Martin Russell", "M. Russell"),
]
DIFFERENT = [
    ("Daniel Jurafsky", "Dan Jurafsky"),  # nicknames are guesses
    ("Michael I. Jordan", "Michael B. Jordan"),
    ("Wei Wang", "Wen Wang"),
    ("Wei Wang", "Wei Wang 0001"),
    ("Wang", "Wei Wang"),
    ("Anna Schmidt", "Anna Schmitt"),
    ("A. Lee", "Lee A."),
    ("Kevin Knight", "Keith Knight"),
    ("", "x"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_names_that_agree(one, other):
    assert are_compatible(parse_name(one), parse_name(other)) and are_compatible(parse_name(other), parse_name(one))
    index = NameIndex([one, "Somebody Else", other])
    assert index.variants(0) == [2] and index.variants(2) == [0] and index.variants(1) == []


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_names_that_do_not(one, other):
    assert NameIndex([one, other]).variants(0) == NameIndex([one, other]).variants(1) == []


def test_what_fits_two_says_nothing():
    names = ["Y. Zhang", "Yang Zhang", "Yue Zhang", "Yue F. Zhang"]
    index = NameIndex(names)
    assert index.variants(0) == [] and index.variants(1) == []
    assert index.variants(2) == [3] and index.variants(3) == [2]


def test_accents_agree_whoever_else_is_there():
    index = NameIndex(["J. Pérez", "J. Perez", "José Pérez", "Juan Pérez"])
    assert index.variants(0) == [1] and index.variants(2) == []


def test_order_and_letters():
    index = NameIndex(["Zoë Adams", "Bell, Ann", "Åke Bell", "李 明", "123"])
    assert index.order() == [4, 0, 2, 1, 3]
    assert list(index.initials()) == ["A", "B", "B", "明", "#"]


def test_hostile_names_are_names():
    index = NameIndex(["<script>alert(1)</script>", "x" * 1_000_000, ",", ",,,", "\0", "'", "a, ", ", a"])
    assert all(index.variants(number) == [] for number in range(8))
    assert len(index.names[1].family) <= 300
