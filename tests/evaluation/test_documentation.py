"""The examples of docs/evaluation.md run, one after the other, on a small collection."""

import re
from pathlib import Path

import numpy as np
import pytest

import topoi

PAGE = Path(__file__).parents[2] / "docs" / "evaluation.md"


def small_collection(name, unit):
    rng = np.random.default_rng(0)
    rows = [[f"w{w}" for w in rng.integers(0, 30, 20)] for _ in range(240)]
    return topoi.Corpus.from_tokens(rows, metadata={"party": ["Whig", "Tory"] * 120})


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not part of an installed package")
def test_the_examples_run(monkeypatch):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    monkeypatch.setattr(topoi, "load_dataset", small_collection)
    names: dict = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert len(blocks) == 6 and names["found"]["predicted"].isin(["Whig", "Tory"]).all()
    assert names["rows"]["n_words"].sum() == names["test"].n_tokens
    assert set(names["frame"]["name"]) == {"5 topics", "20 topics"}
