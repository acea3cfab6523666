"""MALLET's state: the same model, the same lines, the same log joint, and clear errors for anything else."""

from __future__ import annotations

import gzip
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import topoi
from exchange.samples import MALLET, NO_STATE, SAMPLED, corpus, lines_of
from topoi.errors import CorpusError, ModelError, StoreError, TopoiError
from topoi.exchange import read_mallet_doc_topics, read_mallet_state, to_mallet_state
from topoi.models.registry import models as registered
from web.conftest import client_of

# What MALLET says of tests/exchange/mallet/state.gz; see the README there.
MALLET_SAYS = -4095.71582374317
MALLET_PRINTS = "-3.11936"
HEADER = ["#doc source pos typeindex type topic", "#alpha : 0.5 0.25 ", "#beta : 0.0625"]
TOKENS = ["0 NA 0 0 sun 0", "0 NA 1 1 star 0", "0 NA 2 0 sun 1", "2 NA 0 2 café 1"]


def write(path: Path, lines: list[str] | bytes, packed: bool = True) -> Path:
    body = lines if isinstance(lines, bytes) else "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(body, mtime=0) if packed else body)
    return path


def logs_of_gamma() -> list[Callable[[float], float]]:
    """The function itself, and MALLET's ``Dirichlet.logGammaStirling``."""

    def stirling(z: float) -> float:
        shift = 0
        while z < 2:
            z, shift = z + 1, shift + 1
        result = 0.5 * math.log(2 * math.pi) + (z - 0.5) * math.log(z) - z
        result += 1 / (12 * z) - 1 / (360 * z**3) + 1 / (1260 * z**5)
        for _ in range(shift):
            z -= 1
            result -= math.log(z)
        return result

    return [math.lgamma, stirling]


def model_log_likelihood(lines: list[str], log_gamma: Callable[[float], float]) -> float:
    """What MALLET's ``modelLogLikelihood`` computes, term by term, from the lines of a state."""
    alpha = [float(each) for each in lines[1].partition(":")[2].split()]
    beta = float(lines[2].partition(":")[2])
    rows = [line.split(" ") for line in lines[3:]]
    types = {row[3] for row in rows}
    of_document: dict[str, Counter[int]] = {}
    type_topic, of_topic = Counter[tuple[str, int]](), Counter[int]()
    for doc, _, _, index, _, topic in rows:
        of_document.setdefault(doc, Counter())[int(topic)] += 1
        type_topic[index, int(topic)] += 1
        of_topic[int(topic)] += 1
    result = len(of_document) * log_gamma(sum(alpha))
    for counts in of_document.values():
        for topic, n in counts.items():
            result += log_gamma(alpha[topic] + n) - log_gamma(alpha[topic])
        result -= log_gamma(sum(alpha) + sum(counts.values()))
    for n in type_topic.values():
        result += log_gamma(beta + n)
    for topic in range(len(alpha)):
        result -= log_gamma(beta * len(types) + of_topic[topic])
    result += log_gamma(beta * len(types)) * len(alpha)
    return result - log_gamma(beta) * len(type_topic)


def log_joint(model: Any) -> float:
    return float(model.trace_["log_joint"].iloc[0])


# The log joint.


def test_log_joint_of_a_state_of_mallet_is_mallets() -> None:
    exact, as_mallet = (model_log_likelihood(lines_of(MALLET / "state.gz"), each) for each in logs_of_gamma())
    ours = read_mallet_state(MALLET / "state.gz")
    assert as_mallet == pytest.approx(MALLET_SAYS, rel=1e-13), "the formula is MALLET's"
    assert log_joint(ours) == pytest.approx(exact, rel=1e-9), "and the number is ours"
    # MALLET's logarithm of gamma has six digits.
    assert log_joint(ours) == pytest.approx(MALLET_SAYS, rel=1e-7)
    assert f"{log_joint(ours) / ours.corpus_.n_tokens:.5f}" == MALLET_PRINTS


@pytest.mark.parametrize("seed", range(5))
def test_log_joint_of_any_state_is_that_of_the_definition(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    alpha, topics = rng.choice([0.125, 0.5, 1.5, 4.0], 6), rng.integers(6, size=400)
    words = [f"{w} w{w}" for w in range(30)]
    lines = [HEADER[0], f"#alpha : {' '.join(map(str, alpha))}", "#beta : 0.0625"]
    for d in range(20):
        chosen = [*rng.integers(30, size=20)] if d else list(range(20))
        lines += [f"{d} NA {i} {words[w]} {topics[20 * d + i]}" for i, w in enumerate(chosen)]
    lines += [f"20 NA {i} {words[20 + i]} 0" for i in range(10)]  # so that every word has been seen
    model = read_mallet_state(write(tmp_path / "state.gz", lines))
    assert log_joint(model) == pytest.approx(model_log_likelihood(lines, math.lgamma), rel=1e-12)


# There and back.


def test_state_comes_back_line_by_line(tmp_path: Path) -> None:
    to_mallet_state(read_mallet_state(MALLET / "state.gz"), tmp_path / "back.gz")
    assert lines_of(tmp_path / "back.gz") == lines_of(MALLET / "state.gz")


def test_state_comes_back_from_a_store_too(tmp_path: Path) -> None:
    read_mallet_state(MALLET / "state.gz").save(tmp_path / "papers.topoi")
    to_mallet_state(topoi.view(tmp_path / "papers.topoi"), tmp_path / "back.gz")
    assert lines_of(tmp_path / "back.gz") == lines_of(MALLET / "state.gz")


@pytest.mark.parametrize("packed", [True, False])
def test_numbers_and_order_of_words_are_kept(packed: bool, tmp_path: Path) -> None:
    model = read_mallet_state(write(tmp_path / "state", HEADER + TOKENS, packed))
    assert model.corpus_.words.tolist() == ["sun", "star", "café"]
    assert model.corpus_.tokens.tolist() == [0, 1, 0, 2] and model.corpus_.doc_lengths.tolist() == [3, 0, 1]
    assert model.chains_[0].assignments.topic.tolist() == [0, 0, 1, 1]
    assert model.alpha_.tolist() == [0.5, 0.25] and set(model.beta_) == {0.0625}
    assert model.corpus_.texts is None and model.n_iter_ == 0
    to_mallet_state(model, tmp_path / "back.gz")
    assert lines_of(tmp_path / "back.gz") == HEADER + TOKENS


def test_lines_of_windows_sources_with_spaces_and_other_encodings_are_read(tmp_path: Path) -> None:
    lines = HEADER + ["0 file:/my papers/a.txt 0 0 café 0", "1 b.txt 0 0 café 1"]
    body = "".join(f"{line}\r\n" for line in lines).encode("latin-1")
    model = read_mallet_state(write(tmp_path / "state.gz", body), encoding="latin-1")
    assert model.corpus_.words.tolist() == ["café"]
    assert model.corpus_.documents["id"].tolist() == ["file:/my papers/a.txt", "b.txt"]
    to_mallet_state(model, tmp_path / "back.gz")
    assert lines_of(tmp_path / "back.gz")[3:] == ["0 file:/my_papers/a.txt 0 0 café 0", "1 b.txt 0 0 café 1"]


def test_signs_of_formats_are_signs_like_others(tmp_path: Path) -> None:
    documents = topoi.Corpus.from_tokens([["%d", "100%"]], ids=["a%20b%s{}"])
    to_mallet_state(topoi.LDA.from_assignments(documents, [1, 0], 2), tmp_path / "state.gz")
    assert lines_of(tmp_path / "state.gz")[3:] == ["0 a%20b%s{} 0 0 %d 1", "0 a%20b%s{} 1 1 100% 0"]


def test_priors_have_the_digits_that_were_given(tmp_path: Path) -> None:
    documents = topoi.Corpus.from_tokens([["a", "b"]])
    for alpha, beta, header in [
        (0.1, 0.01, ["#alpha : 0.1 0.1 ", "#beta : 0.01"]),
        ([0.1, 1 / 3], [0.5, 0.25], ["#alpha : 0.1 0.3333333333333333 ", "#beta : 0.375"]),
        (None, 0.3, ["#alpha : 25.0 25.0 ", "#beta : 0.3"]),
    ]:
        model = topoi.LDA.from_assignments(documents, [0, 1], 2, alpha=alpha, beta=beta)
        model.save(tmp_path / "model.topoi", replace_file=True)
        for each in (model, topoi.view(tmp_path / "model.topoi")):
            to_mallet_state(each, tmp_path / "state.gz")
            assert lines_of(tmp_path / "state.gz")[1:3] == header
    # What has been learned is not what was given.
    learned = topoi.LDA(2, alpha=0.1, learn_alpha=True, n_iter=40, random_state=0).fit(corpus())
    to_mallet_state(learned, tmp_path / "state.gz")
    written = [float(each) for each in lines_of(tmp_path / "state.gz")[1].split()[2:]]
    assert written != [0.1, 0.1] and written == pytest.approx(learned.alpha_.tolist(), rel=1e-7)


def test_sources_that_repeat_are_no_ids(tmp_path: Path) -> None:
    lines = HEADER + ["0 all.txt 0 0 sun 0", "1 all.txt 0 0 sun 1"]
    documents = read_mallet_state(write(tmp_path / "state.gz", lines)).corpus_.documents
    assert documents["id"].tolist() == ["0", "1"] and documents["source"].tolist() == ["all.txt"] * 2


def test_words_that_no_line_has_keep_their_place(tmp_path: Path) -> None:
    model = read_mallet_state(write(tmp_path / "state.gz", HEADER + ["0 NA 0 3 #1 0"]))
    assert model.corpus_.words.tolist() == ["#0", "##1", "#2", "#1"] and model.corpus_.tokens.tolist() == [3]


def test_doc_topics_name_the_documents(tmp_path: Path) -> None:
    names = "".join(f"{d}\t{name}\t0.5\t0.5\n" for d, name in enumerate(["a", "b", "c", "d"]))
    (tmp_path / "names.txt").write_text(names, encoding="utf-8")
    state = write(tmp_path / "state.gz", HEADER + TOKENS)
    found = read_mallet_state(state, tmp_path / "names.txt").corpus_
    assert found.documents["id"].tolist() == ["a", "b", "c", "d"] and found.doc_lengths.tolist() == [3, 0, 1, 0]
    (tmp_path / "names.txt").write_text(names[: names.index("2\t")], encoding="utf-8")
    with pytest.raises(CorpusError, match="2 documents, but the state names 3"):
        read_mallet_state(state, tmp_path / "names.txt")


# A model like any other.


def test_model_that_was_read_does_what_a_fitted_one_does(tmp_path: Path) -> None:
    model = read_mallet_state(MALLET / "state.gz", MALLET / "doc-topics.txt", random_state=0)
    assert type(model) is registered()["LDA"].model_class
    assert {"wheat", "barn"} <= set(model.top_words(3, topic=0)["word"])
    shares = model.transform([["wheat", "barn", "meadow"] * 5])
    assert shares[0].argmax() == 0
    model.save(tmp_path / "papers.topoi")
    loaded, view = topoi.load(tmp_path / "papers.topoi"), topoi.view(tmp_path / "papers.topoi")
    assert np.array_equal(loaded.topic_word_, model.topic_word_) and loaded.trace_.equals(model.trace_)
    assert view.top_words(3)["word"].tolist() == model.top_words(3)["word"].tolist()
    model.resume(20)
    assert model.n_iter_ == 20 and np.array_equal(loaded.resume(20).topic_word_, model.topic_word_)
    assert model.perplexity(model.corpus_) < 30
    client = client_of(tmp_path / "papers.topoi")
    for page in ("/", "/topic/0", "/document/7", "/documents?q=wheat", "/word/0", "/parse?text=wheat%20barn"):
        assert client.get(f"/m/LDA{page}").status_code == 200, page


def test_doc_topics_of_mallet_are_those_of_its_state() -> None:
    told = read_mallet_doc_topics(MALLET / "doc-topics.txt")
    model = read_mallet_state(MALLET / "state.gz", MALLET / "doc-topics.txt")
    assert model.corpus_.documents["id"].tolist() == told.index.tolist()
    np.testing.assert_allclose(model.doc_topic_, told.to_numpy(), rtol=1e-6)


# Models of other families.


@pytest.mark.parametrize("name", SAMPLED)
def test_state_of_every_sampler_has_all_words(name: str, given: Any, models: dict[str, Any], tmp_path: Path) -> None:
    to_mallet_state(given(name), tmp_path / "state.gz")
    lines, documents, posterior = lines_of(tmp_path / "state.gz"), corpus(), models[name].chains_[0]
    rows = [line.split(" ") for line in lines[3:]]
    assert [int(row[3]) for row in rows] == documents.tokens.tolist()
    assert [int(row[5]) for row in rows] == posterior.assignments.topic.tolist()
    assert {row[1] for row in rows if row[0] == "7"} == {"paper_7"} and not [row for row in rows if row[0] == "5"]
    np.testing.assert_allclose([float(each) for each in lines[1].split()[2:]], posterior.alpha, rtol=1e-7)
    again = read_mallet_state(tmp_path / "state.gz")
    assert again.n_topics == posterior.n_topics and again.corpus_.n_tokens == documents.n_tokens


@pytest.mark.parametrize("name", NO_STATE)
def test_models_whose_words_have_no_topics_say_so(name: str, given: Any, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=f"{name} gives documents mixtures and no single word a topic"):
        to_mallet_state(given(name), tmp_path / "state.gz")
    assert not list(tmp_path.iterdir())


def test_only_fitted_models_with_topics_are_written(tmp_path: Path) -> None:
    documents = corpus()
    unfit = topoi.LDA(2)
    without = topoi.AuthorModel(n_iter=2, random_state=0).fit(documents)
    for wrong, message in [(documents, "this is Corpus"), (without, "has no topics"), (unfit, "not fitted")]:
        with pytest.raises(ValueError, match=message):
            to_mallet_state(wrong, tmp_path / "state.gz")


# Nothing is half-written.


def test_word_with_a_space_is_refused_and_the_old_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "state.gz"
    path.write_bytes(b"old")
    model = topoi.LDA(2, n_iter=2, random_state=0).fit(topoi.Corpus.from_tokens([["new york", "a"], ["b"]]))
    with pytest.raises(ModelError, match="'new york' has a space"):
        to_mallet_state(model, path)
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_failing_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.gz"
    path.write_bytes(b"old")
    model = read_mallet_state(MALLET / "state.gz")

    def full(self: Any, body: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(gzip.GzipFile, "write", full)
    with pytest.raises(StoreError, match="No space left"):
        to_mallet_state(model, path)
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


# Files that are not states.

WRONG = {
    "nothing": (b"", 1, "begins with nothing"),
    "another title": (["#doc source pos type topic", *HEADER[1:], *TOKENS], 1, "begins with '#doc source"),
    "a text": (["Dear Sir,"], 1, "not with 'Dear Sir,'"),
    "no alpha": ([HEADER[0], HEADER[2], *TOKENS], 2, "'#alpha : …', not '#beta"),
    "empty alpha": ([HEADER[0], "#alpha : ", HEADER[2], *TOKENS], 2, "#alpha"),
    "wrong alpha": ([HEADER[0], "#alpha : 0.5 x", HEADER[2], *TOKENS], 2, "'x' is not a number above zero"),
    # MALLET writes this where its optimisation has gone astray.
    "negative alpha": ([HEADER[0], "#alpha : -1.001 -1.001", HEADER[2]], 2, "'-1.001' is not a number above zero"),
    "alpha that is no number": ([HEADER[0], "#alpha : NaN 1", HEADER[2]], 2, "'NaN' is not"),
    "endless alpha": ([HEADER[0], "#alpha : 1e999 1", HEADER[2]], 2, "'1e999' is not"),
    "too many topics": ([HEADER[0], "#alpha : " + "1 " * 65536, HEADER[2]], 2, "65,536 topics"),
    "no beta": ([*HEADER[:2], *TOKENS], 3, "'#beta : …', not '0 NA 0"),
    "two betas": ([*HEADER[:2], "#beta : 0.1 0.2", *TOKENS], 3, "2 numbers, not one"),
    "header only": (HEADER, None, "no words"),
    "nothing after alpha": (HEADER[:2], 3, "#beta"),
    "too few columns": ([*HEADER, TOKENS[0], "0 NA 1 star 0"], 5, "six columns"),
    "empty line": ([*HEADER, TOKENS[0], "", *TOKENS[1:]], 5, "six columns"),
    "document that is no number": ([*HEADER, "x NA 0 0 sun 0"], 4, "document is 'x'"),
    "negative document": ([*HEADER, "-1 NA 0 0 sun 0"], 4, "document is '-1'"),
    "position that is no number": ([*HEADER, "0 NA x 0 sun 0"], 4, "position 'x'"),
    "typeindex that is no number": ([*HEADER, "0 NA 0 0.5 sun 0"], 4, "typeindex is '0.5'"),
    "huge typeindex": ([*HEADER, f"0 NA 0 {'9' * 5000} sun 0"], 4, "typeindex is '999"),
    "typeindex beyond bounds": ([*HEADER, "0 NA 0 2147483648 sun 0"], 4, "from 0 to 2147483647"),
    "far typeindex": ([*HEADER, "0 NA 0 2147483647 sun 0"], None, "1 words, with numbers up to 2,147,483,647"),
    "topic that is no number": ([*HEADER, "0 NA 0 0 sun x"], 4, "topic 'x' is not one of 0 to 1"),
    "topic beyond alpha": ([*HEADER, "0 NA 0 0 sun 2"], 4, "topic '2' is not one of 0 to 1"),
    "negative topic": ([*HEADER, "0 NA 0 0 sun -1"], 4, "topic '-1'"),
    "documents out of order": ([*HEADER, "1 NA 0 0 sun 0", "0 NA 0 0 sun 0"], 5, "document 0 comes after 1"),
    "two sources": ([*HEADER, "1 a 0 0 sun 0", "1 b 1 0 sun 0"], 5, "or has two sources"),
    "far document": ([*HEADER, "2000000000 NA 0 0 sun 0"], 4, "too many have no words"),
    "lost line": ([*HEADER, TOKENS[0], TOKENS[2]], 5, "position '2' follows 0 in document 0"),
    "two words of one number": ([*HEADER, TOKENS[0], "0 NA 1 0 moon 0"], 5, "names 'moon', and 'sun' before"),
    "two numbers of one word": ([*HEADER, TOKENS[0], "0 NA 1 7 sun 0"], 5, "typeindex 7, and 0 before"),
    "no word": ([*HEADER, "0 NA 0 0  0"], 4, "there is no word"),
    "not UTF-8": ("\n".join([*HEADER, "0 NA 0 0 café 0"]).encode("latin-1"), 4, "is not utf-8"),
    "cut line": ("\n".join([*HEADER, *TOKENS]).encode()[:-8], 7, "six columns"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_file_is_named_with_its_line(case: str, tmp_path: Path) -> None:
    lines, line, message = WRONG[case]
    path = write(tmp_path / "wrong-state.gz", lines)
    with pytest.raises(CorpusError) as caught:
        read_mallet_state(path)
    assert message in str(caught.value), str(caught.value)
    assert caught.value.path == str(path) and caught.value.line == line
    assert len(str(caught.value)) < 500


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    whole = (MALLET / "state.gz").read_bytes()
    bomb = gzip.compress("\n".join(HEADER).encode() + b"\n" + b"0 NA 0 0 sun 0 " * 14_000_000, 9)
    for body, message in [
        (whole[: len(whole) // 2], "truncated"),
        (whole[:200] + b"\xff" * 20 + whole[220:], "damaged"),
        (bomb, "longer than 10,000,000 bytes"),
    ]:
        with pytest.raises(CorpusError, match=message):
            read_mallet_state(write(tmp_path / "state.gz", body, packed=False))
    with pytest.raises(CorpusError, match="cannot be read"):
        read_mallet_state(tmp_path / "nowhere.gz")
    with pytest.raises(CorpusError, match="cannot be read"):
        read_mallet_state(tmp_path)


def mutated(body: bytes, rng: np.random.Generator) -> bytes:
    """Bytes with a few changed, lost, doubled or moved."""
    found = bytearray(body)
    for _ in range(rng.integers(1, 4)):
        at, n = int(rng.integers(len(found))), int(rng.integers(1, 30))
        kind = rng.integers(5)
        if kind == 0:
            found[at] = int(rng.integers(256))
        elif kind == 1:
            del found[at : at + n]
        elif kind == 2:
            found[at:at] = found[at : at + n]
        elif kind == 3:
            found[at:at] = bytes(rng.choice(list(b"0123456789 \n#:-.\x00\xff"), n).astype(np.uint8))
        else:
            there = int(rng.integers(len(found)))
            found[at : at + n], found[there : there + n] = found[there : there + n], found[at : at + n]
    return bytes(found)


def test_damaged_states_are_read_or_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    body = "\n".join(lines_of(MALLET / "state.gz")[:60]).encode()
    refused = 0
    for turn in range(300):
        packed = turn % 3 == 0
        damaged = mutated(gzip.compress(body), rng) if packed else mutated(body, rng)
        try:
            model = read_mallet_state(write(tmp_path / "state", damaged, packed=False))
        except TopoiError:
            refused += 1
        else:
            assert np.isfinite(log_joint(model)) and model.corpus_.n_tokens == len(model.chains_[0].assignments.topic)
    assert 100 < refused < 300
