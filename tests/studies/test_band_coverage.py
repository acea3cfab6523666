"""Intervals of shares hold what they say, on one small corpus of the study."""

import numpy as np
import pytest

study = pytest.importorskip("studies.band_coverage", reason="the studies are not part of an installed package")


def test_intervals_of_documents_hold_the_truth():
    rows, mass = study.documents(0, study.FAMILIES["LDA"], with_mass=True)
    large = [row["held"] for row in rows if row["large"]]
    assert len(large) > 500 and 0.85 < np.mean(large) < 0.95
    assert 0.88 < np.mean(mass) < 0.93


def test_intervals_of_authors_hold_the_truth_and_narrow_with_words():
    table = study.by_size(study.authors(0), study.AUTHOR_DOCUMENTS)
    assert all(0.75 < table[str(n)]["held"] <= 1 for n in study.AUTHOR_DOCUMENTS)
    assert table["1"]["width_large"] > 2 * table["20"]["width_large"]
