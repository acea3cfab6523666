"""What every registered family promises, one test a promise.

A new family in ``src/topoi/models`` is tested here without a line of its own. Each is fitted once, to a few documents,
with the small settings of its ``family.py``.
"""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import topoi
from topoi.errors import TopoiError
from topoi.models import contract, registry
from web.addresses import html, twin
from web.conftest import client_of

N_ITER = 8
SUBJECTS = ("ship harbor sail anchor captain", "wheat harvest plough farmer barley", "judge verdict trial jury appeal")
MODELS = {model.name: model for family in registry.built_in() for model in family.models}
NAMES = list(MODELS)
WITH_TOPICS = [name for name, model in MODELS.items() if model.posterior]


def takes(name: str, setting: str) -> bool:
    return setting in inspect.signature(MODELS[name].model_class).parameters


def make(name: str, **options: Any) -> Any:
    settings = MODELS[name].small | {"n_iter": N_ITER, "random_state": 0, "progress": False, "evaluate_every": 1}
    # Models that stop where they have converged must not do so here.
    settings |= {"tol": 0.0} if takes(name, "tol") else {}
    return MODELS[name].model_class(**settings | options)


def small_corpus() -> topoi.Corpus:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(SUBJECTS[d % 3].split(), 6 + d % 4)) for d in range(24)]
    authors = [["Drake", "Cook", "Tull", "Coke"][d % 3 : d % 3 + 1 + d % 2] for d in range(24)]
    return topoi.Corpus.from_texts(texts, authors=authors, dates=[1900 + d for d in range(24)], min_df=1, max_df=1.0)


@pytest.fixture(scope="module")
def corpus() -> topoi.Corpus:
    return small_corpus()


@pytest.fixture(scope="module")
def models(corpus: topoi.Corpus) -> dict[str, Any]:
    """Every model, fitted. No test may change one."""
    return {name: make(name).fit(corpus) for name in NAMES}


@pytest.fixture(scope="module")
def stored(models: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of them in one file, under the names of their classes."""
    path = tmp_path_factory.mktemp("contract") / "all.topoi"
    for name, model in models.items():
        model.save(path, name=name)
    return path


def same_bits(model: Any, other: Any) -> bool:
    """Whether two fits ended in the same state, with the same trace."""
    (meta, arrays), (other_meta, other_arrays) = model.to_bundle(), other.to_bundle()
    return (
        arrays.keys() == other_arrays.keys()
        and all(np.array_equal(arrays[name], other_arrays[name]) for name in arrays)
        and meta["progress"] == other_meta["progress"]
        and model.trace_.equals(other.trace_)
    )


# Settings.


@pytest.mark.parametrize("name", NAMES)
def test_nothing_happens_before_fit(name: str) -> None:
    """Settings are kept as they are, wrong ones too: they are judged by ``fit``."""
    odd = {setting: object() for setting in inspect.signature(MODELS[name].model_class).parameters}
    model = MODELS[name].model_class(**odd)
    assert vars(model) == odd and all(vars(model)[setting] is value for setting, value in odd.items())


@pytest.mark.parametrize("name", NAMES)
def test_settings_are_read_set_and_cloned(name: str, models: dict[str, Any]) -> None:
    model = make(name)
    assert list(model.get_params(deep=False)) == sorted(inspect.signature(type(model)).parameters)
    assert model.set_params(n_iter=3) is model and model.get_params()["n_iter"] == 3
    copy = clone(models[name])
    assert repr(copy.get_params()) == repr(models[name].get_params())
    assert not [attribute for attribute in vars(copy) if attribute.endswith("_")]
    with pytest.raises(ValueError, match="no_such_setting"):
        model.set_params(no_such_setting=1)


WRONG = [
    *(("n_iter", value) for value in (-1, 10.0, "3", None)),
    *(("n_jobs", value) for value in (0, "all")),
    *(("random_state", value) for value in ("x", -1, 2**63)),
    *(("evaluate_every", value) for value in (0, 1.5)),
    *((setting, value) for setting in ("n_chains", "n_restarts") for value in (0, 1.5)),
    *(("n_shards", value) for value in (0, 1.5, "many")),
    *((setting, value) for setting in ("n_topics", "n_aspects", "n_sub", "n_super") for value in (0, 2.5, "3", True)),
    *(("alpha", value) for value in (-0.1, 0.0, float("nan"), "x")),
    *(("beta", value) for value in (-0.1, 0.0, float("inf"), "x")),
    *((setting, "no such way") for setting in ("inference", "learning", "solver", "average", "learn_alpha")),
    ("checkpoint_every", "5 parsecs"),
    *(("seeds", value) for value in ("x", 5, {"x": "word"}, {"x": ["no such word"]}, {"": ["ship"]})),
    *((setting, value) for setting in ("ban", "pin", "doc_ban") for value in ("x", 5, {"no such topic": ["ship"]})),
    ("doc_labels", "no such column"),
]


@pytest.mark.parametrize("name", NAMES)
def test_wrong_settings_are_named(name: str, corpus: topoi.Corpus, tmp_path: Path) -> None:
    for setting, value in WRONG:
        if not takes(name, setting):
            continue
        more = {"checkpoint": tmp_path / "c"} if setting == "checkpoint_every" else {}
        with pytest.raises((TopoiError, ValueError, TypeError)) as caught:
            make(name, **{setting: value}, **more).fit(corpus)
        assert setting in str(caught.value), (setting, value, str(caught.value))


# Fitting.


@pytest.mark.parametrize("name", NAMES)
def test_fit_returns_the_model_with_what_it_learned(name: str, models: dict[str, Any], corpus: topoi.Corpus) -> None:
    model = make(name)
    assert model.fit(corpus) is model and same_bits(model, models[name])
    assert model.n_iter_ == N_ITER and model.corpus_ is corpus
    assert {"model", "seed", "interrupted", "stopped", "seconds"} <= model.fit_info_.keys()
    assert model.fit_info_["model"] == name and not model.fit_info_["interrupted"]
    assert model.trace_["sweep"].iloc[-1] == N_ITER and np.isfinite(model.trace_["log_joint"]).all()


@pytest.mark.parametrize("name", NAMES)
def test_bits_depend_on_the_seed_and_not_on_threads(name: str, models: dict[str, Any], corpus: topoi.Corpus) -> None:
    assert same_bits(make(name, n_jobs=2).fit(corpus), models[name])
    assert not same_bits(make(name, random_state=1).fit(corpus), models[name])


@pytest.mark.parametrize("name", NAMES)
def test_callback_sees_every_sweep_and_ends_a_fit(name: str, corpus: topoi.Corpus) -> None:
    seen: list[int] = []
    model = make(name).fit(corpus, callback=lambda info: seen.append(info.sweep) or info.sweep == 3)
    assert seen == [1, 2, 3] and model.n_iter_ == 3 and model.fit_info_["stopped"] == "callback"


@pytest.mark.parametrize("name", NAMES)
def test_interrupted_fit_is_usable(name: str, corpus: topoi.Corpus) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # another test's server may have left its own
    try:
        model = make(name).fit(corpus, callback=lambda info: info.sweep == 3 and signal.raise_signal(signal.SIGINT))
    finally:
        signal.signal(signal.SIGINT, before)
    assert model.fit_info_["interrupted"] and model.fit_info_["stopped"] == "SIGINT" and model.n_iter_ in (3, 4)
    assert np.isfinite(model.perplexity(corpus))


RESUMED = [name for name in NAMES if hasattr(MODELS[name].model_class, "resume")]


def test_every_family_is_resumed() -> None:
    assert RESUMED == NAMES


# A saved model has no messages of EP and no shares of single words, so these two resume from what it has.
FROM_THE_MODEL = ("AspectModel", "KernelTopicModel")


@pytest.mark.parametrize("name", FROM_THE_MODEL)
def test_fit_is_resumed_from_the_model_alone(name: str, corpus: topoi.Corpus, tmp_path: Path) -> None:
    model = make(name, n_iter=5).fit(corpus)
    model.save(tmp_path / "model.topoi")
    loaded = topoi.load(tmp_path / "model.topoi")
    n_before = model.n_iter_
    assert model.resume(2) is model and model.n_iter_ > n_before
    assert same_bits(model, loaded.resume(2))


@pytest.mark.parametrize("name", [name for name in RESUMED if name not in FROM_THE_MODEL])
def test_resumed_fit_has_the_bits_of_a_longer_one(name: str, models: dict[str, Any], corpus: topoi.Corpus) -> None:
    model = make(name, n_iter=5).fit(corpus)
    assert model.resume(N_ITER - 5) is model and same_bits(model, models[name])


@pytest.mark.parametrize("name", NAMES)
def test_new_documents_are_taken_in_or_refused(name: str, corpus: topoi.Corpus) -> None:
    """An update keeps the topics of old words, or leaves the model as it was and says what to do."""
    old, new = corpus[:18], corpus[18:]
    model, before = make(name).fit(old), make(name).fit(old)
    try:
        assert model.update(new, n_iter=3) is model
    except TopoiError as refusal:
        assert name in str(refusal) and "extended(new_corpus)" in str(refusal)
        assert same_bits(model, before) and model.corpus_ is old
        return
    assert model.n_iter_ == N_ITER + 3 and model.corpus_.n_docs == 24 and model.update_report_.n_docs == 6
    assert np.isfinite(model.perplexity(corpus)) and same_bits(before.update(new, n_iter=3), model)


CHECKPOINTED = [name for name in NAMES if takes(name, "checkpoint")]
# Each family is fitted in a process that is killed after its sixth sweep; the last checkpoint is of the fourth.
KILLED = """
import os, sys
from models import test_contract as contract
corpus = contract.small_corpus()
for name in contract.CHECKPOINTED:
    if os.fork() == 0:
        model = contract.make(name, checkpoint=f"{sys.argv[1]}/{name}", checkpoint_every=4)
        model.fit(corpus, callback=lambda info: info.sweep == 6 and os.kill(os.getpid(), 9))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.wait()[1]) == -9, name
"""


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("killed")
    paths = [str(Path(topoi.__file__).parents[1]), str(Path(__file__).parents[1])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-c", KILLED, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_family_has_checkpoints() -> None:
    assert CHECKPOINTED == NAMES


@pytest.mark.parametrize("name", CHECKPOINTED)
def test_killed_fit_continues_with_the_same_bits(
    name: str, models: dict[str, Any], corpus: topoi.Corpus, checkpoints: Path
) -> None:
    seen: list[int] = []
    model = make(name, checkpoint=checkpoints / name).fit(corpus, callback=lambda info: seen.append(info.sweep))
    assert seen == [5, 6, 7, 8] and same_bits(model, models[name])


# Files.


@pytest.mark.parametrize("name", NAMES)
def test_loaded_model_is_the_saved_one(name: str, models: dict[str, Any], stored: Path, corpus: topoi.Corpus) -> None:
    loaded = topoi.load(stored, name)
    assert type(loaded) is type(models[name]) and same_bits(loaded, models[name])
    assert loaded.fit_info_ == models[name].fit_info_ and loaded.n_iter_ == N_ITER
    # What was left open has been filled in.
    expected = models[name].get_params() | {"fictitious_authors": False} if name == "AuthorTopicModel" else None
    assert repr(loaded.set_params(progress=False).get_params()) == repr(expected or models[name].get_params())
    value = loaded.perplexity(corpus)
    assert np.isfinite(value) and value == models[name].perplexity(corpus)


@pytest.mark.parametrize("name", WITH_TOPICS)
def test_view_answers_as_the_loaded_model_does(name: str, stored: Path) -> None:
    view, loaded = topoi.view(stored, name), topoi.load(stored, name)
    assert view.family == name
    for frame in ("topic_sizes", "top_words"):
        seen, held = getattr(view, frame)(), getattr(loaded, frame)()
        assert list(seen.columns) == list(held.columns), frame
    assert np.array_equal(view.topic_sizes()["n_words"], loaded.topic_sizes()["n_words"])
    np.testing.assert_allclose(view.topic_sizes()["share"], loaded.topic_sizes()["share"], rtol=1e-12)
    # A view leaves out words without a token in the topic; the others are the same, in the same order.
    held, written = loaded.top_words(10_000).groupby("topic"), view.top_words(10_000).groupby("topic")
    for topic, seen in view.top_words(15).groupby("topic"):
        every = held.get_group(topic)
        first = every[every["word"].isin(written.get_group(topic)["word"])].iloc[: len(seen)]
        if name != "KernelTopicModel":  # its words belong to topics in part: a likely word may be drawn for none
            assert first.equals(every.iloc[: len(seen)]), topic
        np.testing.assert_allclose(seen["probability"], first["probability"], rtol=1e-6)
        assert sorted(seen["word"]) == sorted(first["word"]), topic


@pytest.mark.parametrize("name", [name for name in NAMES if name not in WITH_TOPICS])
def test_view_of_a_model_without_topics_says_so(name: str, stored: Path) -> None:
    with pytest.raises(topoi.ModelError, match=f"{name} has no topics; fit "):
        topoi.view(stored, name).top_words()


# Guidance.


@pytest.mark.parametrize("name", [name for name in NAMES if takes(name, "seeds")])
def test_guided_models_keep_what_they_were_told(name: str, corpus: topoi.Corpus, tmp_path: Path) -> None:
    told = {"seeds": {"sea": ["ship", "sail"], "land": {"wheat": 9}}, "pin": {"sea": ["captain"]}}
    told |= {"ban": {"land": ["judge"], "sea": ["jury"]}, "n_chains": 2}
    size = "n_sub" if takes(name, "n_sub") else "n_topics"
    model = make(name, **told, **{size: 3}).fit(corpus)
    number = {word: w for w, word in enumerate(model.vocabulary_.words)}
    for chain in model.chains_:
        assert (np.delete(chain.topic_word[:, number["captain"]], 0) == 0).all()
        assert chain.topic_word[1, number["judge"]] == chain.topic_word[0, number["jury"]] == 0
        np.testing.assert_allclose(chain.topic_word.sum(axis=1), 1.0, rtol=1e-6)
    assert model.topic_labels()[:2] == ["sea", "land"]
    assert model.guidance_report()["word"].tolist() == ["ship", "sail", "wheat"]
    assert same_bits(make(name, **told, **{size: 3, "n_iter": 3}).fit(corpus).resume(N_ITER - 3), model)
    assert same_bits(make(name, **told, **{size: 3, "n_jobs": 2}).fit(corpus), model)
    model.save(tmp_path / "guided.topoi")
    loaded, view = topoi.load(tmp_path / "guided.topoi"), topoi.view(tmp_path / "guided.topoi")
    assert same_bits(loaded, model) and list(loaded.seeds) == ["sea", "land"]
    assert loaded.guidance_report().equals(model.guidance_report())
    assert loaded.perplexity(corpus) == model.perplexity(corpus)
    assert view.topic_labels() == model.topic_labels()
    clone(loaded).fit(corpus)


# Answers.


# Products of matrices round differently for other numbers of rows.
BY_MATRICES = {"KernelTopicModel"}


@pytest.mark.parametrize("name", WITH_TOPICS)
def test_transform_depends_on_neither_order_nor_batch(name: str, models: dict[str, Any], corpus: topoi.Corpus) -> None:
    whole = models[name].transform(corpus)
    assert whole.shape == (corpus.n_docs, models[name].chains_[0].n_topics)
    np.testing.assert_allclose(whole.sum(axis=1), 1.0)
    order = np.random.default_rng(1).permutation(corpus.n_docs)
    for part in (order, np.array([7])):
        found = models[name].transform(corpus.subset(part))
        if name in BY_MATRICES:
            np.testing.assert_allclose(found, whole[part], rtol=1e-12)
        else:
            assert np.array_equal(found, whole[part])


@pytest.mark.parametrize("name", NAMES)
def test_log_likelihood_depends_on_neither_order_nor_batch(
    name: str, models: dict[str, Any], corpus: topoi.Corpus
) -> None:
    whole = models[name].log_likelihood(corpus)
    assert whole.shape == (corpus.n_docs,) and (whole < 0).all()
    found = models[name].log_likelihood(corpus.subset([5, 2]))
    if name in BY_MATRICES:
        np.testing.assert_allclose(found, whole[[5, 2]], rtol=1e-12)
    else:
        assert np.array_equal(found, whole[[5, 2]])
    expected = np.exp(-whole.sum() / corpus.n_tokens)
    assert models[name].perplexity(corpus) == pytest.approx(expected, rel=1e-12)


COLUMNS = {
    "top_words": ["topic", "rank", "word", "probability"],
    "topic_sizes": ["topic", "n_words", "share", "lower", "upper"],
}


@pytest.mark.parametrize("name", NAMES)
def test_frames_have_the_same_columns(name: str, models: dict[str, Any]) -> None:
    assert list(models[name].trace_.columns) == ["chain", "sweep", "log_joint", "log_joint_per_token"]
    for frame, columns in COLUMNS.items() if name in WITH_TOPICS else ():
        assert list(getattr(models[name], frame)().columns) == columns, frame


# Two bytes in a store for mixtures that do not follow from counts.
ROUNDING = 2e-3


@pytest.mark.parametrize("name", WITH_TOPICS)
def test_shares_have_intervals_the_same_in_a_store(name: str, models: dict[str, Any], stored: Path) -> None:
    model, view, ends = models[name], topoi.view(stored, name), ["lower", "share", "upper"]
    assert isinstance(model.chains_[0], contract.KnowsShares) and isinstance(view.chains_[0], contract.KnowsShares)
    sizes = model.topic_sizes()
    assert (sizes[ends].diff(axis=1)[ends[1:]] >= 0).all(axis=None) and (sizes["upper"] > sizes["lower"]).any()
    assert np.array_equal(view.topic_sizes()[ends], sizes[ends])
    assert view.topics().set_index("topic")["upper"].sort_index().tolist() == sizes["upper"].tolist()
    for document in (0, 23):
        told, read = (topoi.document_topics(each, document).set_index("topic").sort_index() for each in (model, view))
        np.testing.assert_allclose(read[ends], told[ends], atol=ROUNDING)
        np.testing.assert_allclose(told["share"], model.doc_topic_[document], atol=ROUNDING)
        known = told["lower"].notna().all()
        # Families say that they have no posterior by leaving out all intervals, never some.
        assert known or told["lower"].isna().all()
        if known:
            assert (told[ends].diff(axis=1)[ends[1:]] >= 0).all(axis=None) and (told["upper"] > told["lower"]).any()
            rows = topoi.topic_documents(view, 0, n=24).set_index("document")
            np.testing.assert_allclose(rows.loc[document, ends].astype(float), read.loc[0, ends], atol=ROUNDING)


# Pages.

PAGES = [
    "overview", "topic/0", "author/0", "authors", "document/0", "documents?q=ship", "word/0", "trends", "compare",
    "search?q=wheat", "parse?text=ship+wheat", "reviewers?text=ship", "structure", "features", "models",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_pages_are_shown_or_refused_in_words(name: str, stored: Path) -> None:
    client = client_of(stored)
    for page in PAGES:
        answer = client.get(f"/m/{name}/{html(page)}")
        data = client.get(f"/m/{name}/{twin(page, 'json')}")
        assert answer.status_code == data.status_code and answer.status_code in (200, 404), page
        assert isinstance(data.json(), dict) and "Traceback" not in answer.text, page
        if answer.status_code == 404:
            assert len(data.json()["detail"]) > 10, page
    for page in ("overview", "document/0", "documents?q=ship", "word/0", "search?q=wheat", "models"):
        assert client.get(f"/m/{name}/{html(page)}").status_code == 200, page
    assert MODELS[name].title in client.get(f"/m/{name}/").text


# Bad input.


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("documents", [[], [[], []]], ids=["no documents", "no words"])
def test_empty_corpus_is_refused(name: str, documents: list[list[str]]) -> None:
    n = len(documents)
    empty = topoi.Corpus.from_tokens(documents, authors=["Ann"] * n, dates=[1990] * n)
    with pytest.raises(topoi.ModelError, match="nothing to fit|no authors|no documents|no words"):
        make(name).fit(empty)


def counts(value: float) -> Any:
    """Counts of two documents, one of them not a count."""
    return np.array([[value, *[1.0] * 14], [2.0] * 15])


BAD = {
    "None": (None, "NoneType|None"),
    "a number": (3, "int|scalar|number|3"),
    "one text": ("a text", "text|str"),
    "negative counts": (counts(-1.0), "[Nn]egative|ndarray"),
    "not a number": (counts(np.nan), "NaN|ndarray"),
    "fractions": (counts(0.5), "whole|0.5|ndarray"),
    "an object": (object(), "object"),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_corpus_is_refused_by_its_name(name: str, kind: str, models: dict[str, Any]) -> None:
    given, said = BAD[kind]
    # An aspect model infers mixtures from weighted words too, but is fitted to counts.
    for call in [make(name).fit] + [models[name].log_likelihood] * (kind != "fractions"):
        with pytest.raises((TopoiError, ValueError, TypeError), match=said):
            call(given)


@pytest.mark.parametrize("name", WITH_TOPICS)
def test_topics_have_labels_the_same_in_a_store(name: str, models: dict[str, Any], stored: Path) -> None:
    labels = models[name].topic_labels()
    assert len(labels) == models[name].chains_[0].n_topics == len({label.casefold() for label in labels})
    assert all(0 < len(label) <= 40 for label in labels)
    view = topoi.view(stored, name)
    assert view.topic_labels() == labels
    assert view.topics().set_index("topic")["label"].sort_index().tolist() == labels
