"""Labels that people know: they outlive more sweeps, updates, edits and files, unless another is clearly better."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import topoi
from topoi.models.background import background_topics
from topoi.models.labels.choice import Candidate, choose
from topoi.models.labels.make import name_topics
from topoi.models.labels.memory import kept_labels
from topoi.models.labels.telling import Leading

WORDS = ["gold", "coin", "mint", "silver"]
PLACES = ("river valley bridge", "sea harbor ship", "court judge trial", "school pupil class", "star planet moon")


def kept(label: str, scores: dict[tuple[int, ...], float], background: bool = False) -> bool:
    """Whether a topic's former label stays beside candidates with such scores."""
    leading = Leading(np.arange(4)[None], np.ones((1, 4)), np.ones((1, 4)))
    found = [Candidate(score, 0, words) for words, score in scores.items()]
    return bool(kept_labels([label], [] if background else found, leading, WORDS, np.array([background])))


def test_former_label_stays_unless_another_is_twice_as_good() -> None:
    assert kept("Gold Coin", {(0, 1): 0.5, (3,): 1.0})
    assert not kept("Gold Coin", {(0, 1): 0.49, (3,): 1.0})
    assert not kept("Gold Coin", {(3,): 1.0})


def test_lists_stay_if_both_words_still_tell_the_topic() -> None:
    assert kept("silver, Gold", {(3,): 0.4, (0,): 0.6, (1,): 1.0})
    assert not kept("silver, Gold", {(0,): 0.6, (1,): 1.0})
    assert not kept("silver, Gold", {(3,): 0.4, (0,): 0.4, (1,): 1.0})


def test_completed_phrases_are_found_by_their_parts() -> None:
    assert kept("Gold-Coin Act", {(0, 1): 1.0}) and kept("old gold coin", {(0, 1): 1.0})
    assert not kept("Gold Act", {(0,): 1.0})


def test_background_labels_stay_with_background_topics() -> None:
    assert kept("background: gold, coin", {}, background=True)
    assert not kept("background: gold, zinc", {}, background=True) and not kept("gold, coin", {}, background=True)
    assert not kept("background: gold, coin", {(0,): 1.0, (1,): 1.0})


@pytest.mark.parametrize("label", ["topic 0", "gold\u202e", "gold" + " " * 50, "", "<b>gold</b>"])
def test_what_is_no_label_is_not_kept(label: str) -> None:
    assert not kept(label, {(0,): 1.0})


def test_kept_labels_come_before_better_scores() -> None:
    found = [Candidate(0.9, 0, (0, 1)), Candidate(0.5, 0, (2,)), Candidate(0.4, 1, (0,)), Candidate(0.1, 1, (3,))]
    assert choose(found, WORDS, 2, {1: (0,)}) == [(2,), (0,)]
    assert choose(found, WORDS, 2, {1: ()}) == [(0, 1), ()]


def test_topics_near_the_border_stay_in_the_background() -> None:
    """A topic of words that are everywhere; the flags of before move the border a little to both sides."""
    rng = np.random.default_rng(0)
    topic = np.where(rng.random(4000) < 0.5, 0, 1 + np.arange(4000) // 40 % 11)
    tokens = np.where(topic == 0, rng.integers(20, size=4000), 20 * topic + rng.integers(20, size=4000))
    table = np.zeros((240, 12))
    np.add.at(table, (tokens, topic), 1)
    how = tokens, topic, np.arange(0, 4001, 40), table.__getitem__, 240, 12
    assert background_topics(*how)[0]
    spread = next(s for s in np.arange(0.0, 0.6, 0.01) if found_with(how, s))
    assert not found_with(how, spread - 0.02) and found_with(how, spread - 0.02, 1.0)
    assert found_with(how, spread) and not found_with(how, spread, -1.0)


def found_with(how: tuple, spread: float, before: float | None = None) -> bool:
    """Whether the first topic is in the background, with another border."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_SPREAD", "_SPREAD_OF_VARIED"):
            patch.setattr(f"topoi.models.background.{name}", spread)
        return bool(background_topics(*how, None if before is None else np.full(12, before))[0])


@pytest.fixture(scope="module")
def corpus() -> topoi.Corpus:
    rng = np.random.default_rng(1)
    texts = []
    for d in range(150):
        own = PLACES[d % 5].split()
        texts.append(". ".join(f"{own[0]} {own[1]}" if rng.random() < 0.4 else str(rng.choice(own)) for _ in range(15)))
    return topoi.Corpus.from_texts(texts, ids=[f"d{d}" for d in range(150)], min_df=1, max_df=1.0)


def fitted(corpus: topoi.Corpus, n_iter: int = 30) -> topoi.LDA:
    return topoi.LDA(6, alpha=0.1, n_iter=n_iter, random_state=0, progress=False).fit(corpus)


def test_labels_are_equal_after_more_sweeps(corpus: topoi.Corpus) -> None:
    model = fitted(corpus)
    before = model.topic_labels()
    after = model.resume(50).topic_labels()
    assert np.mean([a == b for a, b in zip(before, after, strict=True)]) >= 0.8
    # What nobody has seen is not remembered: as one longer fit.
    assert fitted(corpus).resume(20).topic_labels() == fitted(corpus, 50).topic_labels()


def test_a_new_fit_remembers_nothing(corpus: topoi.Corpus) -> None:
    model = fitted(corpus)
    model.chains_[0].remember_labels(["river", "sea", "court", "school", "star", "moon"])
    model.resume(5).topic_labels()
    assert model.fit(corpus).topic_labels() == fitted(corpus).topic_labels()
    assert model.chains_[0].labels_so_far == model.topic_labels()


def test_former_labels_come_from_chain_and_file(corpus: topoi.Corpus, tmp_path: Path) -> None:
    """A label that is good but not the best is kept by resume, by an edit, by a file and by an update."""
    model = fitted(corpus)
    own = model.topic_labels()
    topic = next(k for k, label in enumerate(own) if " " in label and "," not in label)
    alone = own[topic].split()[0]
    former = [*own[:topic], alone, *own[topic + 1 :]]
    found = name_topics(model.corpus_, model.chains_[0], former)
    assert found.labels[topic] in (alone, own[topic])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("topoi.models.labels.memory._NEARLY", 0.0)
        model.chains_[0].remember_labels(former)
        model.chains_[0].__dict__.pop("_named", None)
        assert model.topic_labels()[topic] == alone
        path = tmp_path / "small.topoi"
        model.save(path)
        assert topoi.view(path).topic_labels()[topic] == alone == topoi.load(path).topic_labels()[topic]
        assert topoi.load(path).resume(3).topic_labels()[topic] == alone
        more = topoi.Corpus.from_texts([f"{PLACES[0]}. {PLACES[1]}"] * 3, ids=["x", "y", "z"], min_df=1, max_df=1.0)
        assert topoi.load(path).update(more, n_iter=3).topic_labels()[topic] == alone
        other = (topic + 1) % 6
        topoi.edit(path).ban(other, "moon" if other != topic else "sea").commit(n_iter=2)
        assert topoi.view(path).topic_labels()[topic] == alone
        topoi.edit(path).undo()
        assert topoi.view(path).topic_labels() == model.topic_labels()


def small_docs() -> topoi.Corpus:
    """Forty documents of five subjects."""
    return topoi.Corpus.from_tokens([PLACES[d % 5].split() * 4 for d in range(40)], dates=[1990 + d for d in range(40)])


FAMILIES = {
    "LDA": lambda: topoi.LDA(5, n_iter=10, random_state=0, progress=False),
    "pachinko": lambda: topoi.PachinkoAllocation(2, 5, n_iter=10, random_state=0, progress=False),
    "aspects": lambda: topoi.AspectModel(3, n_iter=3, tol=0, random_state=0, progress=False),
    "PLSI": lambda: topoi.PLSI(3, n_iter=5, tol=0, random_state=0, progress=False),
    "kernels": lambda: topoi.KernelTopicModel(
        3, features=["year"], n_iter=6, n_warmup=3, tol=0, random_state=0, progress=False
    ),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("family", FAMILIES)
def test_a_persons_name_goes_with_the_model(tmp_path: Path, family: str) -> None:
    model, first, second = FAMILIES[family]().fit(small_docs()), tmp_path / "a.topoi", tmp_path / "b.topoi"
    model.save(first)
    automatic = topoi.view(first).topic_labels()
    topoi.open_store(first).set_label(None, 1, "Our own name")
    loaded = topoi.load(first)
    assert loaded.topic_labels() == [automatic[0], "Our own name", *automatic[2:]]
    loaded.resume(2)
    assert loaded.topic_labels()[1] == "Our own name"
    loaded.save(second)
    view = topoi.view(second)
    assert view.topic_labels() == loaded.topic_labels()
    # The automatic label stays behind it.
    view.store.set_label(None, 1, None)
    assert topoi.view(second).topic_labels()[1] not in ("Our own name", "")
    if family == "pachinko":
        assert loaded.node_labels() == topoi.view(first).node_labels() | loaded.node_labels()
        assert loaded.node_labels()[loaded.dag_.topics[1]] == "Our own name"
    loaded.fit(small_docs())
    assert "Our own name" not in loaded.topic_labels()


def test_the_latest_name_wins(tmp_path: Path) -> None:
    path = tmp_path / "a.topoi"
    FAMILIES["LDA"]().fit(small_docs()).save(path)
    store = topoi.open_store(path)
    store.set_label(None, 0, "first")
    model = topoi.load(path)
    editor = topoi.edit(model)
    editor.rename(0, "second").commit()
    assert model.topic_labels()[0] == "second"
    model.save(path)
    assert store.labels() == {0: "second"}
    store.set_label(None, 0, "third")
    assert topoi.load(path).topic_labels()[0] == "third"
    model.save(path)
    assert store.labels() == {0: "third"}
    # Names that were taken away in the file do not come back from a model that was read before.
    store.set_label(None, 0, None)
    model.save(path)
    assert store.labels() == {}
    editor.undo()
    assert model.topic_labels()[0] == "first"


def test_names_follow_merges_and_updates_in_memory(tmp_path: Path) -> None:
    path, more = tmp_path / "a.topoi", tmp_path / "more.topoi"
    FAMILIES["LDA"]().fit(small_docs()).save(path)
    for k in range(3):
        topoi.open_store(path).set_label(None, k, f"name {k}")
    model = topoi.load(path)
    topoi.edit(model).merge(1, 0).commit(n_iter=1)
    labels = model.topic_labels()
    assert labels[1:3] == ["name 1", "name 2"] and labels[0] != "name 0"
    model.update([["gold", "star", "moon"] * 3], n_iter=1)
    assert model.topic_labels()[1:3] == ["name 1", "name 2"]
    model.save(more)
    assert topoi.open_store(more).labels() == {1: "name 1", 2: "name 2"}


def test_names_are_not_given_to_other_topics(tmp_path: Path) -> None:
    # Topics of a hierarchical Dirichlet process have other numbers after more sweeps, but for those with a name.
    path = tmp_path / "a.topoi"
    settings = {"n_iter": 5, "seeds": {"sky": ["star", "moon"]}, "random_state": 0, "progress": False}
    topoi.HierarchicalDirichletProcess(**settings).fit(small_docs()).save(path)
    store = topoi.open_store(path)
    store.set_label(None, 0, "heaven")
    store.set_label(None, 1, "whatever")
    model = topoi.load(path)
    assert model.topic_labels()[:2] == ["heaven", "whatever"]
    model.resume(3)
    assert model.topic_labels()[0] == "heaven" and "whatever" not in model.topic_labels()
    model.save(path)
    assert store.labels() == {0: "heaven"}


def test_names_stay_with_their_chain() -> None:
    model = topoi.LDA(5, n_chains=2, n_iter=30, random_state=0, progress=False).fit(small_docs())
    model.chains_[0].remember_names({1: "whatever"}, 0)
    model.resume(0)
    assert model.topic_labels()[1] == "whatever"
    topoi.edit(model).ban(0, "moon").commit(n_iter=1)  # one chain, the best, goes on
    assert model.topic_labels()[1] == "whatever"
    model.fit_info_["best_chain"] += 1
    assert "whatever" not in model.resume(1).topic_labels()
