"""The family in ``examples/unigram_mixture``: everything topoi offers works for it, and no file of topoi knows it."""

from __future__ import annotations

import doctest
import importlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.base import clone

import topoi
from topoi.engine.gibbs import Chain
from topoi.kernels import preparing
from topoi.kernels.random import new_stream
from topoi.models import registry
from web.addresses import html, twin
from web.conftest import client_of

EXAMPLE = Path(topoi.__file__).parents[2] / "examples" / "unigram_mixture"
PACKAGE = "unigram_mixture"
SUBJECTS = ("star moon orbit comet planet", "wheat barley plough harvest field", "judge verdict trial jury appeal")
SETTINGS = {"n_topics": 3, "n_iter": 12, "random_state": 5, "progress": False}


def install(site: Path) -> None:
    """What ``pip install`` does with the example: its package, and the entry points of its ``pyproject.toml``."""
    shutil.copytree(EXAMPLE / PACKAGE, site / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    offered = project["entry-points"][registry.GROUP]
    for name, entries in ((project["name"], offered), ("broken", {"broken": f"{PACKAGE}.absent"})):
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"{key} = {value}" for key, value in entries.items()]
        (info / "entry_points.txt").write_text("\n".join([f"[{registry.GROUP}]", *lines, ""]))


def forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]
    importlib.invalidate_caches()
    registry.models.cache_clear()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory):
    """A folder where the package is installed, beside one whose family is broken; this process finds both."""
    folder = tmp_path_factory.mktemp("site")
    install(folder)
    sys.path.insert(0, str(folder))
    forget()
    yield folder
    sys.path.remove(str(folder))
    forget()


@pytest.fixture(scope="module")
def family(site: Path):
    """The class, as the registry finds it."""
    return registry.model_named("unigram-mixture").model_class


def part(name: str):
    return importlib.import_module(f"{PACKAGE}.{name}")


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("papers") / "papers.jsonl"
    rng = np.random.default_rng(0)
    records = [
        {"id": str(i), "text": " ".join(rng.choice(SUBJECTS[i % 3].split(), 8)), "authors": ["Ann"], "year": 1990 + i}
        for i in range(30)
    ]
    path.write_text("\n".join(map(json.dumps, records)))
    return path


@pytest.fixture(scope="module")
def corpus(papers: Path) -> topoi.Corpus:
    return topoi.read_corpus(papers, min_df=1, max_df=1.0)


@pytest.fixture(scope="module")
def fitted(family, corpus):
    return family(**SETTINGS).fit(corpus)


@pytest.fixture(scope="module")
def stored(fitted, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stored") / "m.topoi"
    fitted.save(path, name="m")
    return path


def run(*command: object, site: Path | None = None, code: int = 0, errors: bool = False) -> str:
    """Another Python process, with or without the package; what it printed, or said on its error stream."""
    paths = [str(Path(topoi.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    paths = [path for path in [*([str(site)] if site else []), *paths] if "examples" not in path]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "NO_COLOR": "1"}
    words = [sys.executable, *map(str, command)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stderr if errors else done.stdout


def ask(*commands: list[object], site: Path) -> list[str]:
    """What several commands of topoi print, one after the other in one process."""
    script = "import json, sys; from topoi.cli.main import main\n"
    script += "for words in json.loads(sys.argv[1]): assert main(words) == 0; print(chr(0))"
    return run("-c", script, json.dumps([[str(word) for word in words] for words in commands]), site=site).split("\0")


def same(model, other) -> bool:
    return np.array_equal(model.topic_word_, other.topic_word_) and np.array_equal(model.doc_topic_, other.doc_topic_)


# The sampler.


def small_problem(seed: int, n_docs: int = 4, n_topics: int = 2, n_words: int = 3):
    rng = np.random.default_rng(seed)
    docs = [rng.integers(0, n_words, length) for length in rng.integers(1, 5, n_docs)]
    words = [f"w{w}" for w in range(n_words)]
    corpus = topoi.Corpus.from_tokens([[words[w] for w in doc] for doc in docs], words=words)
    alpha, beta = rng.uniform(0.3, 2, n_topics), rng.uniform(0.3, 2, n_words)
    return docs, alpha, beta, part("sampler").UnigramSampler(corpus, alpha, beta)


def with_topics(sampler, z) -> Chain:
    arrays = sampler.to_arrays(sampler.start(0, 0))
    return sampler.restore(0, arrays | {"document_topic": np.array(z, np.uint16)}, [])


@pytest.mark.parametrize("seed", range(5))
def test_conditional_is_the_ratio_of_joints(site, seed: int) -> None:
    docs, alpha, beta, sampler = small_problem(seed, n_topics=3)
    equations, kernels = part("equations"), part("kernels")
    z = np.random.default_rng(seed).integers(0, 3, len(docs))
    for d in range(len(docs)):
        joints = [equations.log_joint(docs, np.where(np.arange(len(docs)) == d, k, z), alpha, beta) for k in range(3)]
        brute = np.exp(joints - logsumexp(joints))
        np.testing.assert_allclose(equations.conditional(docs, z, d, alpha, beta), brute, rtol=1e-9)
        chain, weights = with_topics(sampler, z), np.zeros(3)
        documents = sampler._parts[0]
        kernels.move.py_func(documents, d, z[d], chain.counts, -1)
        kernels.topic_weights(documents, d, chain.counts, chain.priors, weights)
        np.testing.assert_allclose(weights / weights.sum(), brute, rtol=1e-6)


def test_log_joint_is_that_of_the_equations(site) -> None:
    docs, alpha, beta, sampler = small_problem(1)
    for z in itertools.product(range(2), repeat=len(docs)):
        expected = part("equations").log_joint(docs, np.array(z), alpha, beta)
        assert sampler.log_joint(with_topics(sampler, z)) == pytest.approx(expected, rel=1e-9)


def test_frequencies_are_the_posterior_by_enumeration(site) -> None:
    docs, alpha, beta, sampler = small_problem(3)
    states = list(itertools.product(range(2), repeat=len(docs)))
    joints = np.array([part("equations").log_joint(docs, np.array(z), alpha, beta) for z in states])
    exact = np.exp(joints - logsumexp(joints))
    chain, n = sampler.start(7, 0), 40_000
    seen = np.zeros(len(states))
    for sweep in range(n):
        sampler.sample(chain, 0, chain.counts, new_stream(7, 0, sweep + 1, 0))
        seen[int("".join(map(str, chain.shards[0])), 2)] += 1
    # Five standard errors, widened for the correlation of successive sweeps.
    assert (np.abs(seen / n - exact) < 5 * np.sqrt(3 * exact * (1 - exact) / n)).all()


def test_counts_are_a_recount(family, corpus) -> None:
    model = family(**SETTINGS, n_shards=3).fit(corpus)
    chain = model._chains[0]
    again = model._sampler.restore(0, model._sampler.to_arrays(chain), [])
    assert all(np.array_equal(a, b) for a, b in zip(chain.counts, again.counts, strict=True))
    assert chain.counts.topic.sum() == corpus.n_tokens and chain.counts.docs.sum() == corpus.n_docs


def test_one_topic_is_a_unigram_model(family, corpus) -> None:
    """The reduction: with one topic nothing is hidden, and LDA with one topic is the same model."""
    mine, lda = (kind(1, beta=0.5, n_iter=2, random_state=0).fit(corpus) for kind in (family, topoi.LDA))
    np.testing.assert_allclose(mine.topic_word_, lda.topic_word_, rtol=1e-6)
    np.testing.assert_allclose(mine.log_likelihood(corpus), lda.log_likelihood(corpus), rtol=1e-6)


def test_planted_topics_are_found(family) -> None:
    drawn = part("simulate").simulate(200, 30.0, np.full(4, 5.0), np.full(50, 0.1), 1)
    model = family(4, n_iter=60, n_chains=3, random_state=2).fit(drawn)
    found = model.doc_topic_.argmax(axis=1)
    pairs = np.zeros((4, 4))
    np.add.at(pairs, (drawn.truth.document_topic, found), 1)
    assert pairs.max(axis=1).sum() >= 198
    order = pairs.argmax(axis=1)
    np.testing.assert_allclose(model.topic_word_[order], drawn.truth.topic_word, atol=0.03)
    np.testing.assert_allclose(model.theta_[order], drawn.truth.theta, atol=0.1)


def test_shares_of_topics_are_smoothed_counts_of_documents(family, corpus) -> None:
    alpha = np.array([0.5, 2.0, 7.0])
    model = family(3, alpha=alpha, n_iter=5, average=False, random_state=0).fit(corpus)
    n_docs = np.bincount(model.doc_topic_.argmax(axis=1), minlength=3)
    np.testing.assert_allclose(model.theta_, (n_docs + alpha) / (30 + alpha.sum()))


def test_documents_without_words_have_the_topics_shares(family) -> None:
    model = family(2, n_iter=10, random_state=0).fit(topoi.Corpus.from_tokens([["a"], [], ["b", "b"], []]))
    np.testing.assert_allclose(model.doc_topic_[[1, 3]], [model.theta_] * 2)
    assert model._chains[0].counts.docs.sum() == 2


# What topoi adds.


def test_compilation_is_announced_to_those_who_wait(site) -> None:
    _, _, _, sampler = small_problem(0)
    chain, begun = sampler.start(0, 0), []
    documents = sampler._parts[0]._replace(times=sampler._parts[0].times.astype(np.float64))  # compiled for none yet
    with preparing.watching(begun.append):
        part("kernels").count(documents, chain.shards[0], chain.counts)
    assert begun == [True, False]


def test_bits_depend_on_the_seed_alone(family, fitted, corpus) -> None:
    assert same(family(**SETTINGS).fit(corpus), fitted)
    assert same(family(**SETTINGS, n_shards=1, n_jobs=2).fit(corpus), fitted)
    one, two = (family(**SETTINGS, n_shards=3, n_jobs=jobs, n_chains=2).fit(corpus) for jobs in (1, 2))
    assert same(one, two) and not one.fit_info_["exact"]
    assert not same(family(**SETTINGS | {"random_state": 6}).fit(corpus), fitted)
    assert same(clone(fitted).fit(corpus), fitted)
    assert same(clone(fitted).set_params(n_iter=7).fit(corpus).resume(5), fitted)


def test_killed_and_continued_ends_with_the_same_bits(fitted, corpus, papers, site, tmp_path) -> None:
    settings = SETTINGS | {"checkpoint": str(tmp_path / "c"), "checkpoint_every": 2}
    script = f"""
import os, topoi
from unigram_mixture.model import UnigramMixture
corpus = topoi.read_corpus({str(papers)!r}, min_df=1, max_df=1.0)
UnigramMixture(**{settings!r}).fit(corpus, callback=lambda info: info.sweep == 7 and os.kill(os.getpid(), 9))
"""
    run("-c", script, site=site, code=-signal.SIGKILL)
    began = []
    model = clone(fitted).set_params(**settings).fit(corpus, callback=lambda info: began.append(info.sweep))
    assert began == list(range(7, 13)) and same(model, fitted)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("document_topic", np.full(30, 3, np.uint16)),
        ("document_topic", np.zeros(29, np.uint16)),
        ("document_topic", np.zeros(30, np.int64)),
        ("alpha", np.zeros(3)),
        ("beta", np.ones(2)),
    ],
)
def test_arrays_that_do_not_fit_are_refused(fitted, name: str, value) -> None:
    arrays = fitted._sampler.to_arrays(fitted._chains[0])
    with pytest.raises(topoi.ModelError, match="do not fit this corpus"):
        fitted._sampler.restore(0, arrays | {name: value}, [])
    with pytest.raises(topoi.ModelError, match="a topic that is not there"):
        fitted._sampler.check_sample({"topic": np.full(240, 3, np.uint8)})


def test_saved_loaded_and_viewed(fitted, stored) -> None:
    loaded, view = topoi.load(stored), topoi.view(stored)
    assert same(loaded, fitted) and loaded.fit_info_ == fitted.fit_info_ and type(loaded) is type(fitted)
    assert same(loaded.resume(3), clone(fitted).set_params(n_iter=15).fit(fitted.corpus_))
    loaded = topoi.load(stored)
    assert view.family == "UnigramMixture" and view.topic_sizes().equals(loaded.topic_sizes())
    seen, held = view.top_words(4), loaded.top_words(4)
    assert seen["word"].tolist() == held["word"].tolist()
    np.testing.assert_allclose(seen["probability"], held["probability"], rtol=1e-12)
    texts = ["the moon and a comet", "wheat, and a verdict of the jury"]
    np.testing.assert_allclose(view.transform(texts), loaded.transform(texts), rtol=1e-6, atol=1e-12)
    for model in (view, loaded):
        labels = topoi.label_words(model, texts[0])
        assert labels["topic"].nunique() == 1 and len(topoi.topic_documents(model, 0)) == 10
        assert len(topoi.topic_trends(model)) and len(topoi.similar_documents(model, 0, n=3)) == 3


def test_evaluated_exactly(fitted, corpus) -> None:
    phi, theta = fitted.topic_word_, fitted.theta_
    counts = np.stack([np.bincount(doc, minlength=corpus.n_words) for doc in np.split(corpus.tokens, range(8, 240, 8))])
    expected = logsumexp(np.log(theta) + counts @ np.log(phi).T, axis=1)
    np.testing.assert_allclose(fitted.log_likelihood(corpus), expected, rtol=1e-9)
    np.testing.assert_allclose(topoi.evaluation.left_to_right(fitted, corpus), expected, rtol=1e-9)
    by_draws = topoi.evaluation.empirical_likelihood(fitted, corpus, 2000, random_state=0)
    np.testing.assert_allclose(by_draws, expected, atol=0.2)
    assert fitted.perplexity(corpus) == pytest.approx(np.exp(-expected.sum() / corpus.n_tokens))
    assert (topoi.evaluation.heldout(fitted, corpus)["standard_error"] == 0).all()
    observed = np.arange(corpus.n_tokens) % 2 == 0
    assert np.isfinite(fitted.log_completion(corpus, observed)).all()


PAGES = [
    "overview",
    "topic/0",
    "document/0",
    "documents?q=star",
    "word/0",
    "trends",
    "compare",
    "search?q=moon",
    "models",
]
PAGES += ["parse?text=star+planet", "authors", "reviewers?text=star", "document/0?samples=3"]


def test_browsed(stored) -> None:
    client = client_of(stored)
    for page in PAGES:
        for address in (html(page), twin(page, "json")):
            assert client.get(f"/m/m/{address}").status_code == 200, address
    assert "mixture of unigrams" in client.get("/m/m/").text
    for absent in ("structure", "features", "topic/99", "author/1"):
        answer = client.get(f"/m/m/{absent}")
        assert answer.status_code == 404 and "Traceback" not in answer.text, absent
    for drawn in ("map.svg", "trends.svg?topic=0", "documents.csv"):
        assert client.get(f"/m/m/{drawn}").status_code == 200, drawn


@pytest.mark.slow
def test_exported_and_asked_on_the_command_line(stored, papers, site, tmp_path) -> None:
    export = ["export", stored, tmp_path / "pages", "--documents", 2]
    evaluate = ["evaluate", stored, papers, "--estimator", "left-to-right"]
    _, topics, *_ = ask(export, ["topics", stored, "--json"], evaluate, site=site)
    assert (tmp_path / "pages" / "index.html").exists()
    assert {row["topic"] for row in json.loads(topics)} == {0, 1, 2}


def test_fitted_on_the_command_line(papers, site, tmp_path) -> None:
    options = ["--model", "unigram_mixture", "-k", 3, "-i", 6, "--alpha", 2, "--min-df", 1, "--max-df", 1.0, "-q"]
    options += ["--evaluate-every", 2]
    fit = ["fit", papers, "-o", tmp_path / "p.topoi", *options, "--seed", 3]
    shown = " ".join(ask(fit, ["fit", "--help"], site=site)[1].split())
    model = topoi.load(tmp_path / "p.topoi")
    assert model.alpha == 2 and model.n_topics == 3 and model.n_iter_ == 6 and model.evaluate_every == 2
    last = registry.built_in()[-1].models[-1].option
    assert f"{last}, unigram-mixture." in shown
    assert "Only --model unigram-mixture: --evaluate-every N Sweeps between values of the log joint." in shown


@pytest.mark.slow
def test_warmed(site) -> None:
    said = run("-m", "topoi.cli.main", "warm", "--model", "unigram-mixture", site=site, errors=True)
    assert "unigram-mixture: pages" in said


def test_a_file_of_a_package_that_is_not_installed_is_refused(stored) -> None:
    said = run("-m", "topoi.cli.main", "topics", stored, code=1, errors=True)
    assert "unknown kind, 'UnigramMixture'" in " ".join(said.split()) and "Traceback" not in said


def test_every_option_is_a_setting(family) -> None:
    model = registry.model_named("UnigramMixture")
    settings = family(**model.small).get_params()
    assert {option.setting for option in model.options} <= settings.keys()


def test_a_broken_package_breaks_nothing(site, caplog) -> None:
    registry.models.cache_clear()
    with caplog.at_level("WARNING", logger="topoi"):
        assert "UnigramMixture" in registry.models()
    assert "the family 'broken' cannot be read" in caplog.text


@pytest.mark.parametrize("name", ["model", "sampler", "simulate"])
def test_its_examples_run(site, name: str) -> None:
    found = doctest.testmod(part(name))
    assert found.failed == 0 and found.attempted > 0


def test_no_file_of_topoi_names_it() -> None:
    source = Path(topoi.__file__).parent
    texts = (path.read_text(encoding="utf-8").casefold() for path in source.rglob("*.py"))
    assert not any("unigram_mixture" in text or "unigrammixture" in text for text in texts)
