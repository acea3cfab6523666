"""MALLET's keys and doc-topics, in and out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exchange.samples import MALLET, WITH_TOPICS, corpus
from topoi.errors import CorpusError, ModelError, TopoiError
from topoi.exchange import (
    read_mallet_doc_topics,
    read_mallet_keys,
    read_mallet_state,
    to_mallet_doc_topics,
    to_mallet_keys,
)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_keys_of_mallet_are_those_of_its_state(tmp_path: Path) -> None:
    told = read_mallet_keys(MALLET / "keys.txt")
    model = read_mallet_state(MALLET / "state.gz")
    to_mallet_keys(model, tmp_path / "keys.txt", n_words=7)
    ours = read_mallet_keys(tmp_path / "keys.txt")
    assert ours["topic"].tolist() == told["topic"].tolist() == [0, 1, 2, 3]
    assert ours["alpha"].tolist() == told["alpha"].tolist()
    counts = model.chains_[0].counts.word_topic
    number = {word: w for w, word in enumerate(model.corpus_.words)}
    for k in range(4):
        # Words with as many tokens may stand in any order.
        by_count = [[int(counts[number[word], k]) for word in frame["words"][k]] for frame in (ours, told)]
        assert by_count[0] == by_count[1] and len(ours["words"][k]) == 7


@pytest.mark.parametrize("name", WITH_TOPICS)
def test_keys_of_every_family(name: str, given: Any, models: dict[str, Any], tmp_path: Path) -> None:
    posterior, words = models[name].chains_[0], corpus().words
    counts = posterior.source.word_rows(np.arange(len(words)))
    n_words = 9 if name == "LDA" else 4
    to_mallet_keys(given(name), tmp_path / "keys.txt", n_words=n_words)
    frame = read_mallet_keys(tmp_path / "keys.txt")
    assert frame["topic"].tolist() == list(range(posterior.n_topics))
    for k, listed in enumerate(frame["words"]):
        order = np.argsort(-posterior.topic_word[k], kind="stable")
        assert listed == [words[w] for w in order if counts[w, k] >= 0.5][:n_words]
    if name == "LDA":
        assert min(map(len, frame["words"])) < 9, "some topics have fewer words"
    np.testing.assert_allclose(frame["alpha"], posterior.alpha, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("name", WITH_TOPICS)
def test_doc_topics_of_every_family(name: str, given: Any, models: dict[str, Any], tmp_path: Path) -> None:
    to_mallet_doc_topics(given(name), tmp_path / "doc-topics.txt")
    frame = read_mallet_doc_topics(tmp_path / "doc-topics.txt")
    assert frame.index.tolist() == corpus().documents["id"].tolist()
    np.testing.assert_allclose(frame.to_numpy().sum(axis=1), 1.0, rtol=1e-12)
    kept = np.flatnonzero(corpus().doc_lengths)
    np.testing.assert_allclose(frame.to_numpy()[kept], models[name].chains_[0].doc_topic[kept], rtol=2e-3, atol=1e-6)


def test_doc_topics_of_the_model_have_all_digits(models: dict[str, Any], tmp_path: Path) -> None:
    to_mallet_doc_topics(models["LDA"], tmp_path / "doc-topics.txt")
    frame = read_mallet_doc_topics(tmp_path / "doc-topics.txt")
    np.testing.assert_allclose(frame.to_numpy(), models["LDA"].doc_topic_, rtol=1e-14)


def test_pairs_with_a_threshold_leave_zeros(tmp_path: Path) -> None:
    text = "#doc name topic proportion ...\n0\ta b\t2\t0.75\t0\t0.25\t\r\n1\tc\t1\t0.5\t\r\n2\td\t\r\n"
    frame = read_mallet_doc_topics(write(tmp_path / "pairs.txt", text))
    assert frame.index.tolist() == ["a b", "c", "d"]
    assert frame.to_numpy().tolist() == [[0.25, 0.0, 0.75], [0.0, 0.5, 0.0], [0.0, 0.0, 0.0]]


WRONG_KEYS = [
    ("", None, "empty"),
    ("0\t0.5\tsun\n2\t0.5\tcell\n", 2, "topic 1"),
    ("0\t0.5\n", 1, "alpha and words"),
    ("0\tx\tsun\n", 1, "'x' is not a number above zero"),
    ("0\tnan\tsun\n", 1, "'nan' is not"),
    ("0\t0\tsun\n", 1, "'0' is not"),
]
WRONG_SHARES = [
    ("", None, "empty"),
    ("0\ta\t0.5\t0.5\n1\tb\t0.5\n", 2, "1 topics, and 2 before"),
    ("0\ta\t0.5\t0.5\n2\tb\t0.5\t0.5\n", 2, "document 1"),
    ("0\n", 1, "document 0, its name"),
    ("0\ta\tx\n", 1, "not a number"),
    ("0\ta\t0.5\tnan\n", 1, "between 0 and 1"),
    ("0\ta\t-0.5\t1.5\n", 1, "between 0 and 1"),
    ("#doc name topic proportion ...\n", None, "no documents"),
    ("#doc name\n0\ta\tx\t0.5\n", 2, "'x' is not the number of a topic"),
    ("#doc name\n0\ta\t99999\t0.5\n", 2, "'99999' is not the number"),
    ("#doc name\n0\ta\t\u0663\t0.5\n", 2, "is not the number of a topic"),
    ("#doc name\n0\ta\t1\n", 2, "not a number"),
    ("#doc name\n0\ta\t1\t0.5\t1\t0.5\n", 2, "twice"),
    ("#doc name\n0\ta\t65000\t1\n", None, "too few"),
]


@pytest.mark.parametrize(("text", "line", "message"), WRONG_KEYS)
def test_wrong_keys_are_named_with_their_line(text: str, line: int | None, message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "keys.txt", text)
    with pytest.raises(CorpusError) as caught:
        read_mallet_keys(path)
    assert message in str(caught.value) and (caught.value.path, caught.value.line) == (str(path), line)


@pytest.mark.parametrize(("text", "line", "message"), WRONG_SHARES)
def test_wrong_shares_are_named_with_their_line(text: str, line: int | None, message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "doc-topics.txt", text)
    with pytest.raises(CorpusError) as caught:
        read_mallet_doc_topics(path)
    assert message in str(caught.value) and (caught.value.path, caught.value.line) == (str(path), line)


@pytest.mark.parametrize("name", ["keys.txt", "doc-topics.txt"])
def test_damaged_tables_are_read_or_refused(name: str, tmp_path: Path) -> None:
    from exchange.test_mallet_state import mutated

    read = read_mallet_keys if name == "keys.txt" else read_mallet_doc_topics
    rng, body, refused = np.random.default_rng(1), (MALLET / name).read_bytes(), 0
    for _ in range(200):
        (tmp_path / name).write_bytes(mutated(body, rng))
        try:
            read(tmp_path / name)
        except TopoiError:
            refused += 1
    assert 20 < refused < 200


def test_numbers_of_words_are_checked(models: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="n_words"):
        to_mallet_keys(models["LDA"], tmp_path / "keys.txt", n_words=0)
    assert not list(tmp_path.iterdir())
