"""Updates by new documents: what stays, what is drawn from which law, and what becomes of spare topics."""

from __future__ import annotations

import itertools
import signal
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln

import topoi
from topoi.engine.executors import SerialExecutor
from topoi.errors import ModelError
from topoi.models import updating
from topoi.models.growing import Grown, add_documents
from topoi.models.spare_topics import Gain, gains

WORDS = ("ship harbor sail anchor captain", "wheat harvest plough farmer barley", "judge verdict trial jury appeal")
NEW_WORDS = "rocket orbit moon crater lander"
UPDATED = {
    "lda": lambda **more: topoi.LDA(3, alpha=0.1, **more),
    "counts": lambda **more: topoi.LDA(3, alpha=0.1, sparse="counts", **more),
    "pruned": lambda **more: topoi.LDA(3, alpha=0.1, sparse="pruned", **more),
    "growing": lambda **more: topoi.LDA(3, alpha=0.1, sparse=True, **more),
    "authors": lambda **more: topoi.AuthorTopicModel(3, alpha=0.1, **more),
    "fictitious": lambda **more: topoi.AuthorTopicModel(3, alpha=0.1, fictitious_authors=True, **more),
    "dmr": lambda **more: topoi.DirichletMultinomialRegression(3, features=["authors", "year"], n_warmup=5, **more),
    "pachinko": lambda **more: topoi.PachinkoAllocation(2, 3, **more),
    "ctm": lambda **more: topoi.CorrelatedTopicModel(3, **more),
}
WITH_SPARE = [name for name in UPDATED if name != "ctm"]


def lists(n_docs: int, seed: int = 0, fresh: float = 0.0) -> list[list[str]]:
    """Documents about one of three subjects, or, with this probability, about a fourth."""
    rng = np.random.default_rng(seed)
    found = []
    for d in range(n_docs):
        words = NEW_WORDS if rng.random() < fresh else WORDS[d % 3]
        found.append([str(w) for w in rng.choice(words.split(), 8 + d % 3)])
    return found


def corpus_of(n_docs: int, seed: int = 0, fresh: float = 0.0, first: int = 0, **more: Any) -> topoi.Corpus:
    names = [["Drake", "Cook", "Tull", "Coke"][d % 3 : d % 3 + 1 + d % 2] for d in range(n_docs)]
    more = {"authors": names, "dates": [1900 + first + d for d in range(n_docs)]} | more
    return topoi.Corpus.from_tokens(lists(n_docs, seed, fresh), ids=[f"d{first + d}" for d in range(n_docs)], **more)


@pytest.fixture(scope="module")
def old() -> topoi.Corpus:
    return corpus_of(30)


@pytest.fixture(scope="module")
def new() -> topoi.Corpus:
    return corpus_of(12, 1, 0.5, 30, authors=[["Verne"] if d % 2 else ["Cook", "Wells"] for d in range(12)])


def fitted(name: str, old: topoi.Corpus, **more: Any) -> Any:
    return UPDATED[name](**{"n_iter": 20, "random_state": 0, "progress": False, "evaluate_every": 5} | more).fit(old)


def state(model: Any) -> dict[str, Any]:
    return {name: np.asarray(array) for name, array in model.to_bundle()[1].items()}


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name], equal_nan=True) for name in one)


@pytest.mark.parametrize("name", UPDATED)
def test_old_numbers_and_assignments_stay(name: str, old: topoi.Corpus, new: topoi.Corpus) -> None:
    model = fitted(name, old)
    before = {key: np.array(array) for key, array in model._sampler.to_arrays(model._chains[0]).items()}
    model.update(new, n_iter=0)
    corpus, after = model.corpus_, model._sampler.to_arrays(model._chains[0])
    assert corpus.n_docs == 42 and model.n_iter_ == 20 and model.fit_info_["n_sweeps"] == 20
    assert np.array_equal(corpus.words[: old.n_words], old.words)
    assert np.array_equal(corpus.authors[: old.n_authors], old.authors)
    assert set(corpus.words[old.n_words :]) == set(NEW_WORDS.split())
    assert corpus.authors[old.n_authors :].tolist() == ["Wells", "Verne"]
    for key in model._sampler.sampled:
        assert np.array_equal(after[key][: old.n_tokens], before[key]) and len(after[key]) == corpus.n_tokens
    assert np.array_equal(np.unique(after["beta"]), np.unique(before["beta"]))
    assert model.doc_topic_.shape == (42, 3) and np.allclose(model.doc_topic_.sum(axis=1), 1.0)


@pytest.mark.parametrize("name", UPDATED)
@pytest.mark.parametrize("n_spare", [0, 2])
def test_counts_are_those_of_the_assignments(name: str, n_spare: int, old: topoi.Corpus, new: topoi.Corpus) -> None:
    if n_spare and name not in WITH_SPARE:
        return
    model = fitted(name, old).update(new, n_iter=6, spare_topics=n_spare)
    chain, sampler = model._chains[0], model._sampler
    topic, tokens = sampler.to_arrays(chain)["topic"], model.corpus_.tokens
    table = np.zeros((model.corpus_.n_words, 3 + n_spare))
    np.add.at(table, (tokens, topic), 1)
    assert np.array_equal(np.asarray(chain.counts.topic)[: 3 + n_spare], table.sum(axis=0))
    w, k, values = chain.counts.word_cells()
    found = np.zeros_like(table)
    found[w, k] = values
    assert np.array_equal(found, table)
    assert model.topic_word_.shape == (3 + n_spare, model.corpus_.n_words) and model.n_iter_ == 26


@pytest.mark.parametrize("name", UPDATED)
def test_same_bits_on_any_threads_and_after_a_save(
    name: str, old: topoi.Corpus, new: topoi.Corpus, tmp_path: Any
) -> None:
    n_spare = 2 if name in WITH_SPARE else 0
    models = [fitted(name, old, n_chains=2, n_jobs=jobs) for jobs in (1, 2)]
    models[0].save(tmp_path / "a.topoi")
    models.append(topoi.load(tmp_path / "a.topoi"))
    states = [state(model.update(new, n_iter=5, spare_topics=n_spare)) for model in models]
    assert same(states[0], states[1]) and same(states[0], states[2])
    models[0].save(tmp_path / "b.topoi")
    again = topoi.load(tmp_path / "b.topoi")
    assert same(state(again), states[0]) and again.update_report_.to_dict() == models[0].update_report_.to_dict()
    assert same(state(again.resume(9)), state(models[0].resume(9)))


@pytest.mark.parametrize("name", UPDATED)
def test_no_documents_are_a_resumed_fit(name: str, old: topoi.Corpus, new: topoi.Corpus) -> None:
    updated, resumed = fitted(name, old).update(new[:0], n_iter=7), fitted(name, old).resume(7)
    assert same(state(updated), state(resumed)) and updated.trace_.equals(resumed.trace_)


@pytest.mark.parametrize("name", ["lda", "dmr", "pachinko"])
def test_an_update_and_more_sweeps_are_a_longer_update(name: str, old: topoi.Corpus, new: topoi.Corpus) -> None:
    longer, resumed = fitted(name, old).update(new, n_iter=12), fitted(name, old).update(new, n_iter=5).resume(7)
    assert same(state(longer), state(resumed))
    # Samples are those since the update: the old documents' earlier ones have no topics for the new ones.
    assert longer.fit_info_["averaged_samples"] > 4 and longer._chains[0].since == 20
    assert min(longer._chains[0].samples) > 20


def log_joint(topic: Any, tokens: Any, doc: Any, n_topics: int, n_words: int, alpha: float, beta: float) -> float:
    """log P(words, topics) of LDA, by its definition."""
    words, docs = np.zeros((n_topics, n_words)), np.zeros((doc.max() + 1, n_topics))
    np.add.at(words, (topic, tokens), 1)
    np.add.at(docs, (doc, topic), 1)
    by_words = gammaln(words + beta).sum() - gammaln(words.sum(axis=1) + n_words * beta).sum()
    return float(by_words + gammaln(docs + alpha).sum())


def test_new_documents_are_drawn_given_the_old_ones() -> None:
    """On a corpus small enough to sum over all assignments of the new document."""
    whole = topoi.Corpus.from_tokens([["a", "b", "a", "c"], ["c", "c", "b"], ["a", "c", "d"]])
    model = topoi.LDA(2, alpha=0.5, beta=0.3, n_iter=5, random_state=0).fit(whole.subset([0, 1]))
    arrays = model._sampler.to_arrays(model._chains[0])
    doc = np.repeat(np.arange(3), whole.doc_lengths)
    states = list(itertools.product(range(2), repeat=3))
    logs = [log_joint(np.append(arrays["topic"], z), whole.tokens, doc, 2, 4, 0.5, 0.3) for z in states]
    exact = np.exp(np.array(logs) - max(logs))
    exact /= exact.sum()
    number, n = {z: i for i, z in enumerate(states)}, 2000
    grown = Grown(model._sampler, [arrays] * n, 0, 5)
    found = add_documents(model._make_sampler, grown, whole, np.arange(2), SerialExecutor(), n_sweeps=8)
    assert all(np.array_equal(each["topic"][:7], arrays["topic"]) for each in found.arrays)
    seen = np.bincount([number[tuple(each["topic"][7:].tolist())] for each in found.arrays], minlength=8)
    assert (np.abs(seen / n - exact) < 4.5 * np.sqrt(exact * (1 - exact) / n)).all()


def test_documents_added_in_between_keep_their_places() -> None:
    """Documents in any order: what was in stays with its documents."""
    corpus = corpus_of(9)
    rows = np.array([1, 2, 5, 7])
    model = topoi.AuthorTopicModel(3, prior="paper", n_iter=5, random_state=0).fit(corpus.subset(rows))
    arrays = model._sampler.to_arrays(model._chains[0])
    grown = Grown(model._sampler, [arrays], 0, 5)
    found = add_documents(model._make_sampler, grown, corpus, rows, SerialExecutor()).arrays[0]
    at = np.concatenate([np.arange(corpus.doc_start[d], corpus.doc_start[d + 1]) for d in rows])
    assert all(np.array_equal(found[name][at], arrays[name]) for name in ("topic", "slot"))


def simulated(seed: int, fresh: float) -> tuple[list[list[str]], list[list[str]], Any]:
    """Documents of six topics over 300 words, new ones with a seventh in some of them, and that topic's words."""
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(300, 0.05), 7)

    def document(share: float) -> list[str]:
        p = (1 - share) * rng.dirichlet(np.full(6, 0.2)) @ phi[:6] + share * phi[6]
        return [f"w{w}" for w in rng.choice(300, 50, p=p)]

    return [document(0) for _ in range(200)], [document(0.6 * (rng.random() < fresh)) for _ in range(120)], phi[6]


def test_a_spare_topic_finds_what_is_new() -> None:
    for seed in range(2):
        before, since, planted = simulated(seed, 0.3)
        model = topoi.LDA(6, alpha=0.1, n_iter=100, random_state=seed).fit(topoi.Corpus.from_tokens(before))
        model.update(since, n_iter=40, spare_topics=3, min_df=1)
        frame = model.update_report_.topics
        p = np.array([planted[int(word[1:])] for word in model.corpus_.words])
        alike = model.topic_word_ @ p / np.linalg.norm(p) / np.linalg.norm(model.topic_word_, axis=1)
        best = int(alike.argmax())
        assert best >= 6 and alike[best] > 0.9
        assert frame["earned"][best] and frame["documents_since"][best] > 20 and frame["gain"][best] > 0.02
        assert frame["earned"].isna().tolist() == [True] * 6 + [False] * 3
        assert model.n_topics == 9 and model.get_params()["n_topics"] == 9


def test_spare_topics_begin_with_what_is_not_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other: the first has the tokens that nothing explains, the next what is like no topic before it."""
    before, since, _ = simulated(0, 0.3)
    model = topoi.LDA(6, alpha=0.1, n_iter=5, random_state=0).fit(topoi.Corpus.from_tokens(before))
    first = model.corpus_.n_tokens
    begun = [np.arange(first, first + 30), np.arange(first + 30, first + 60), np.arange(first + 60, first + 90), []]
    alike = iter([None, 6, None])
    seen = []
    monkeypatch.setattr("topoi.models.updating.unexplained", lambda *_: begun[len(seen)])
    monkeypatch.setattr("topoi.models.updating.most_like", lambda *_: next(alike))
    monkeypatch.setattr(
        "topoi.models.updating.sample_new", lambda sampler, chain, *_: seen.append(sampler.to_arrays(chain)["topic"])
    )
    model.update(since, n_iter=0, spare_topics=2, min_df=1)
    assert [topics[at].tolist() for topics, at in zip(seen, begun, strict=False)] == [[6] * 30, [6] * 30, [7] * 30]


def test_spare_topics_stay_small_where_nothing_is_new() -> None:
    for seed in range(2):
        before, since, _ = simulated(seed, 0.0)
        model = topoi.LDA(6, alpha=0.1, n_iter=100, random_state=seed).fit(topoi.Corpus.from_tokens(before))
        frame = model.update(since, n_iter=40, spare_topics=3, min_df=1).update_report_.topics
        assert not frame["earned"][6:].any() and frame["share_since"][6:].sum() < 0.1
        # The priors of spare topics are smaller by the new documents' part.
        assert np.allclose(model.alpha_[6:], 0.1 * 120 / 320, rtol=1e-3) and (model.alpha_[:6] == np.float32(0.1)).all()


def test_gain_is_that_of_predicting_the_other_half() -> None:
    """A topic that half of the documents consist of, and an empty one.

    Ten words seen and ten by the prior, half of which are the topic's: its share is 3/4, against 1/2 of all words.
    """
    corpus = topoi.Corpus.from_tokens([["a", "b"] * 10, ["c", "d"] * 10] * 5)
    topic = np.repeat(np.tile([0, 1], 5), 20).astype(np.uint16)
    found = gains(corpus, topic, np.full(4, 0.01), 1, 3, corpus, np.random.default_rng(0))
    assert isinstance(found[0], Gain) and found[0].n_docs == 10
    assert found[0].mean > 10 * found[0].error and found[0].mean == pytest.approx(np.log(1.5), abs=0.05)
    assert found[1].mean < 0.01


def test_priors_of_words_topics_and_names(old: topoi.Corpus, new: topoi.Corpus) -> None:
    beta = np.linspace(0.1, 0.2, old.n_words)
    model = topoi.LDA(3, alpha=[0.1, 0.2, 0.4], beta=beta, n_iter=5, random_state=0).fit(old)
    model.update(new, n_iter=2, spare_topics=1)
    part = 1 - old.n_tokens / model.corpus_.n_tokens
    assert np.allclose(model.alpha_, [0.1, 0.2, 0.4, 0.2 * part], rtol=1e-3)
    assert np.allclose(model.beta_[: old.n_words], beta) and np.allclose(model.beta_[old.n_words :], np.median(beta))
    assert model.alpha == [0.1, 0.2, 0.4, 0.2] and len(model.beta) == model.corpus_.n_words
    regression = fitted("dmr", old)
    coefficients, labels = regression._chains[0].priors.coefficients.copy(), regression.design_.labels
    regression.update(new, n_iter=0, spare_topics=1)
    now, names = regression._chains[0].priors.coefficients, regression.design_.labels
    assert set(names) - set(labels) == {"authors=Wells", "authors=Verne"}
    assert np.array_equal(now[:3, [names.index(label) for label in labels]], coefficients)
    pachinko = fitted("pachinko", old, alpha=[[0.1, 0.2, 0.3], [1.0, 2.0, 3.0]], learn_alpha=False)
    pachinko.update(new, n_iter=2, spare_topics=1)
    assert np.allclose(pachinko.alpha_[:, :3], [[0.1, 0.2, 0.3], [1.0, 2.0, 3.0]])
    assert 0 < pachinko.alpha_[0, 3] < 0.2 and pachinko.n_sub == 4


def test_report_says_what_came_and_what_moved(old: topoi.Corpus, new: topoi.Corpus) -> None:
    model = fitted("authors", old).update(new, n_iter=10, min_df=2)
    report = model.update_report_
    assert (report.n_docs, report.n_authors, report.n_words) == (12, 2, 5)
    assert report.n_tokens == new.n_tokens and report.n_sweeps == 10 and report.seconds > 0
    frame = report.topics
    assert frame["topic"].tolist() == [0, 1, 2] and not frame["new"].any()
    assert frame["share_before"].sum() == pytest.approx(1) and frame["share_since"].sum() == pytest.approx(1)
    assert frame["drift"].between(0, 1).all()
    risen = frame.loc[frame["drift"].idxmax(), "risen"]
    assert set(risen) & set(NEW_WORDS.split())
    assert "12 documents" in str(report) and "5 new words" in str(report) and "2 new authors" in str(report)
    model.update(corpus_of(3, 5, 0.0, 100), n_iter=2)
    assert [len(each["topics"]) for each in model.fit_info_["updates"]] == [0, 3]
    assert model.fit(old).fit_info_.get("updates") is None
    with pytest.raises(AttributeError, match="not been updated"):
        _ = model.update_report_


def test_texts_are_read_as_the_training_texts() -> None:
    texts = ["The ship sailed north", "The SHIP sailed on", "A farmer ploughs", "the farmer ploughs"]
    corpus = topoi.Corpus.from_texts(texts, min_df=2, max_df=1.0)
    model = topoi.LDA(2, n_iter=5, random_state=0).fit(corpus)
    model.update(["Ship of the MOON", "moon and Ship, lantern"], n_iter=2)
    assert model.corpus_.words.tolist() == [*corpus.words, "moon"]
    assert model.corpus_.texts[-1] == "moon and Ship, lantern"
    d = model.corpus_[5]
    spans = [d.text[a:b] for a, b in zip(d.token_start, d.token_end, strict=True)] if hasattr(d, "token_start") else []
    assert spans in ([], ["moon", "Ship"])
    assert model.update_report_.n_left_out == 1  # "lantern"
    counts = topoi.LDA(2, n_iter=5, random_state=0).fit([[2, 1, 0], [0, 1, 2]])
    assert counts.update([[1, 1, 1]], n_iter=2).corpus_.n_docs == 3
    with pytest.raises(ModelError, match="matrix without words"):
        counts.update(["some text"])


def test_what_cannot_be_is_said_and_leaves_the_model_alone(old: topoi.Corpus, new: topoi.Corpus) -> None:
    model = fitted("lda", old)
    before = state(model)
    for error, bad in {
        "n_iter": {"n_iter": -1},
        "spare_topics": {"spare_topics": 1.5},
        "min_df": {"min_df": 0},
        "known": {"known": "perhaps"},
    }.items():
        with pytest.raises(ModelError, match=error):
            model.update(new, **bad)
    with pytest.raises(ModelError, match="'d0', 'd1'"):
        model.update(old[:2])
    with pytest.raises(ModelError, match="there are none"):
        model.update(new[:0], spare_topics=2)
    with pytest.raises(ModelError, match="no words that the model knows"):
        model.update([["unheard"], ["unseen"]])
    with pytest.raises((ModelError, ValueError)):
        model.update(np.array([[0.5, 1.0]]))
    with pytest.raises(ModelError, match="one string"):
        model.update("one string")
    with pytest.raises(ModelError, match="graph"):
        dag = topoi.Dag.from_levels(2, 2)
        topoi.PachinkoAllocation(dag=dag, n_iter=2, random_state=0).fit(old).update(new, spare_topics=1)
    with pytest.raises(ModelError, match="no spare topics"):
        fitted("ctm", old, n_iter=2).update(new, spare_topics=1)
    with pytest.raises(ZeroDivisionError):
        model.update(new, n_iter=4, spare_topics=1, callback=lambda info: 1 // (22 - info.sweep) > 1)
    assert same(state(model), before) and model.corpus_ is old and model.n_topics == 3
    assert model.update(old, n_iter=1, known="skip").n_iter_ == 21


def test_a_signal_before_all_documents_are_in_changes_nothing(
    old: topoi.Corpus, new: topoi.Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = fitted("lda", old)
    before = state(model)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt, match="all new documents"):
            model.update(new, 20, 2, callback=lambda info: info.sweep == 23 and signal.raise_signal(signal.SIGINT))
        assert same(state(model), before)
        model.update(new, 20, callback=lambda info: info.sweep == 23 and signal.raise_signal(signal.SIGINT))
    finally:
        signal.signal(signal.SIGINT, handler)
    assert model.fit_info_["interrupted"] and model.corpus_.n_docs == 42 and model.n_iter_ in (23, 24)
    stopped = fitted("lda", old).update(new, 20, 2, callback=lambda info: info.sweep == 22)
    assert stopped.n_iter_ == 22 and stopped.corpus_.n_docs == 42
    assert updating._held_out(old, 28, 0, 5).size == 0
