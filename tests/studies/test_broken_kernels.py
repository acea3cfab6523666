"""When a mistake that a test has noticed counts as noticed, and when it is tried again."""

from __future__ import annotations

from pathlib import Path

import pytest
from studies.broken_kernels import TESTS, Mistake, Record, digest_of

MISTAKE = Mistake("half of it", "src/topoi/a.py", "return 1", "return 0", family="evaluation")
TEST = "test_a.py::test_one[two words]"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("src/topoi/a.py", "src/topoi/b.py", "tests/evaluation/test_a.py", "tests/evaluation/test_b.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ("src/topoi/a.py", False),
        ("tests/evaluation/test_a.py", False),
        ("src/topoi/b.py", True),
        ("tests/evaluation/test_b.py", True),
    ],
)
def test_the_file_of_the_mistake_and_that_of_its_test_decide(root: Path, changed: str, same: bool) -> None:
    before = digest_of(MISTAKE, TEST, root)
    (root / changed).write_text("another")
    assert (digest_of(MISTAKE, TEST, root) == before) is same


def test_another_wrong_line_is_another_mistake(root: Path) -> None:
    assert digest_of(MISTAKE._replace(wrong="return 2"), TEST, root) != digest_of(MISTAKE, TEST, root)


def test_a_mistake_that_no_single_test_noticed_rests_on_all_of_the_family(root: Path) -> None:
    ended = "the tests did not end in 180 s"
    before = digest_of(MISTAKE, ended, root)
    (root / "tests" / "evaluation" / TESTS["evaluation"][0]).write_text("another")
    assert digest_of(MISTAKE, ended, root) != before


def test_a_record_knows_what_was_noticed(tmp_path: Path) -> None:
    record = Record(tmp_path / "noticed.json")
    assert not record.is_known(MISTAKE)
    record.add(MISTAKE, "")
    assert not Record(record.path).is_known(MISTAKE)  # tried, and no test noticed it
    record.add(MISTAKE, TEST)
    again = Record(record.path)
    assert again.is_known(MISTAKE) and again.likely(MISTAKE) == [TEST]
    assert not again.is_known(MISTAKE._replace(wrong="return 2"))
