"""Stated probabilities of authors are right as often as they say, also where words come in bursts."""

from __future__ import annotations

import json
import sqlite3

import numpy as np
import pytest

import topoi
from topoi.analysis.authorship import author_log_ratios
from topoi.errors import CorpusError, ModelError, NotFoundError, StoreError
from topoi.models.author_topic import attribution
from topoi.models.calibration import Calibration, LeftOut, learn_calibration
from topoi.models.mixing import AuthorMixtures

N_AUTHORS, N_WORDS = 8, 120


def bursty_corpus(n_docs: int, burst: float, seed: int, alike: float = 40.0) -> topoi.Corpus:
    """Each author has a distribution over words, and each document its own one around it.

    The smaller ``burst``, the more a document repeats itself; the greater ``alike``, the more authors are like another.
    """
    rng = np.random.default_rng(0)
    usual = rng.dirichlet(np.full(N_WORDS, 0.5))
    authors = rng.dirichlet(alike * usual + 0.01, N_AUTHORS)
    rng = np.random.default_rng(seed)
    rows, names = [], []
    for d in range(n_docs):
        own = rng.dirichlet(burst * authors[d % N_AUTHORS] + 1e-4)
        rows.append([f"w{w}" for w in rng.choice(N_WORDS, rng.integers(20, 120), p=own)])
        names.append(f"author {d % N_AUTHORS}")
    return topoi.Corpus.from_tokens(rows, authors=names, words=[f"w{w}" for w in range(N_WORDS)])


def answers(model, test) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each document: whether the leading author is right, and its probability before and after calibration."""
    right, raw, stated = [], [], []
    for d, names in enumerate(test.author_lists()):
        words = test[d].tokens
        score, _ = author_log_ratios(model, *np.unique(words, return_counts=True))
        right.append(model.authors_[score.argmax()] == names[0])
        raw.append(1 / np.exp(score - score.max()).sum())
        stated.append(np.exp(model.author_calibration_.log_probabilities(score, len(words)).max()))
    text = " ".join(test[0].words)
    assert topoi.likely_authors(model, text, n=1)["probability"][0] == pytest.approx(stated[0])
    return np.array(right), np.array(raw), np.array(stated)


MODELS = {
    "words": lambda: topoi.AuthorModel(n_iter=5, random_state=0),
    "topics": lambda: topoi.AuthorTopicModel(8, alpha=0.5, n_iter=40, random_state=0),
}


@pytest.mark.parametrize("kind", MODELS)
def test_probabilities_are_right_as_often_as_they_say_where_words_come_in_bursts(kind):
    model = MODELS[kind]().fit(bursty_corpus(160, 10.0, seed=1, alike=80.0))
    right, raw, stated = answers(model, bursty_corpus(300, 10.0, seed=2, alike=80.0))
    assert raw.mean() > right.mean() + 0.2, "words taken to be independent are far too sure"
    # Topics remember documents that were set aside, and stay too sure; words taken as independent miss by 0.3.
    assert abs(stated.mean() - right.mean()) < (0.07 if kind == "words" else 0.15)
    assert ((stated - right) ** 2).mean() < ((raw - right) ** 2).mean() - 0.05
    order = np.argsort(stated)
    # Topics are not held to this: of the surest third they state 20 points too much on this corpus.
    for part in np.array_split(order, 3) if kind == "words" else ():
        assert abs(stated[part].mean() - right[part].mean()) < 0.15
    assert right[order[-100:]].mean() > right[order[:100]].mean() + 0.1, "and it still tells easy from hard"


def test_independent_words_keep_most_of_their_weight():
    model = MODELS["words"]().fit(bursty_corpus(160, 1e6, seed=1))
    right, _, stated = answers(model, bursty_corpus(200, 1e6, seed=2))
    assert right.mean() > 0.9 and abs(stated.mean() - right.mean()) < 0.08


def test_it_is_learned_at_all_lengths():
    model = MODELS["words"]().fit(bursty_corpus(160, 10.0, seed=1))
    test = bursty_corpus(300, 10.0, seed=2)
    rows = [test[d].words[:15] for d in range(300)]
    short = topoi.Corpus.from_tokens(rows, authors=test.author_lists(), words=test.words)
    right, _, stated = answers(model, short)
    assert abs(stated.mean() - right.mean()) < 0.08


def test_calibration_is_the_least_loss():
    """Scores with known odds: the leader's log odds are three times too large at ten words, six times at forty."""
    rng = np.random.default_rng(0)
    n_words = rng.choice([10, 40], 4000)
    odds = rng.normal(0, 2, 4000)
    first = rng.random(4000) < 1 / (1 + np.exp(-odds))
    scores = np.stack([odds * (2 + n_words / 10), np.zeros(4000)], axis=1)
    found = learn_calibration(LeftOut(scores, np.stack([first, ~first], axis=1), n_words), 4000)
    divisor = found.base + found.per_word * np.array([10, 40])
    np.testing.assert_allclose(divisor, [3, 6], rtol=0.15)
    assert found.noise < 0.05


def test_few_documents_all_right_do_not_make_it_sure():
    scores = np.array([[0.0, -50.0]] * 3)
    found = learn_calibration(LeftOut(scores, np.array([[True, False]] * 3), np.full(3, 10)), 3)
    assert np.exp(found.log_probabilities(scores[0], 10))[0] == pytest.approx(0.8, abs=0.02)


def test_without_a_second_document_of_anybody_nothing_can_be_learned():
    corpus = topoi.Corpus.from_tokens([["a", "b"], ["b", "c"]], authors=["Ann", "Bob"])
    for model in (topoi.AuthorModel(n_iter=2, random_state=0), topoi.AuthorTopicModel(2, n_iter=2, random_state=0)):
        frame = topoi.likely_authors(model.fit(corpus), "a a")
        assert frame.attrs["n_calibration"] == 0 and model.author_calibration_ == Calibration()
        assert frame["probability"].sum() == pytest.approx(1)


def test_model_file_and_view_agree_and_nothing_is_learned_twice(tmp_path, monkeypatch):
    corpus = bursty_corpus(48, 10.0, seed=1)
    for name, make in MODELS.items():
        model = make().fit(corpus)
        model.save(tmp_path / "m.topoi", name=name)
        frame = topoi.likely_authors(model, "w1 w2 w3 w1")
        monkeypatch.setattr(attribution.CalibratedAuthors, "_set_aside", None)
        loaded = topoi.load(tmp_path / "m.topoi", name)
        assert topoi.likely_authors(loaded, "w1 w2 w3 w1").equals(frame)
        assert loaded.author_calibration_ == model.author_calibration_
        if name == "topics":
            view = topoi.likely_authors(topoi.view(tmp_path / "m.topoi", name), "w1 w2 w3 w1")
            assert view["author"].tolist() == frame["author"].tolist() and view.attrs == frame.attrs
            np.testing.assert_allclose(view["probability"], frame["probability"], rtol=1e-5)
        monkeypatch.undo()
        again = make().fit(corpus)
        assert again.author_calibration_ == model.author_calibration_
        before = model.author_calibration_
        assert model.resume(1)._calibrated[1] is before and model.author_calibration_ is not before


def test_files_without_a_calibration_or_with_an_impossible_one(tmp_path):
    path = tmp_path / "m.topoi"
    MODELS["topics"]().fit(bursty_corpus(16, 10.0, seed=1)).save(path)
    learned = {"base": 2.0, "per_word": 0.1, "noise": 0.1, "n_documents": 16}  # of other scores, so of no use

    def change(value) -> None:
        with sqlite3.connect(path) as connection:
            parameters = json.loads(connection.execute("SELECT parameters FROM model").fetchone()[0])
            parameters.pop("mixture_calibration", None)
            parameters |= {"author_calibration": learned} if value is None else {"mixture_calibration": value}
            connection.execute("UPDATE model SET parameters = ?", (json.dumps(parameters),))
        connection.close()

    change(None)
    with pytest.warns(UserWarning, match="saved without a calibration"):
        assert topoi.likely_authors(topoi.view(path), "w1").attrs["n_calibration"] == 0
    for bad in (7, {"base": 1}, {"base": -1, "per_word": 0, "noise": 0, "n_documents": 1}, {"base": "x"}):
        change(bad)
        with pytest.raises(StoreError, match="damaged: the calibration"):
            topoi.likely_authors(topoi.view(path), "w1")


def test_candidates():
    model = MODELS["words"]().fit(bursty_corpus(48, 10.0, seed=1))
    everybody = topoi.likely_authors(model, "w1 w2 w3")
    two = topoi.likely_authors(model, "w1 w2 w3", candidates=["author 3", "author 1"])
    assert set(two["author"]) == {"author 1", "author 3"} and two["probability"].sum() == pytest.approx(1)
    scores = everybody.set_index("author")["log_likelihood"]
    assert two["log_likelihood"].tolist() == scores[two["author"]].tolist()
    assert two.attrs["rows"] == [int(name[-1]) for name in two["author"]]
    with pytest.raises(ModelError, match="candidates is empty"):
        topoi.likely_authors(model, "w1", candidates=[])
    with pytest.raises(NotFoundError, match="no author 'Nobody'"):
        topoi.likely_authors(model, "w1", candidates=["Nobody"])


def test_smoothing_is_learned_for_authors():
    """An author of few words is not passed over for those of many, as with a small beta for all words."""
    whole = bursty_corpus(160, 200.0, seed=1, alike=300.0)
    kept = [d for d in range(160) if d % N_AUTHORS or d < 3 * N_AUTHORS]  # author 0 has three documents, others twenty
    train, test = whole.subset(kept), bursty_corpus(160, 200.0, seed=2, alike=300.0)
    learned = topoi.AuthorModel(n_iter=5, random_state=0).fit(train)
    plain = topoi.AuthorModel(beta=0.01, n_iter=5, random_state=0).fit(train)
    right, missed = answers(learned, test)[0], answers(plain, test)[0]
    assert right[::N_AUTHORS].mean() > missed[::N_AUTHORS].mean() + 0.1 and right.mean() > missed.mean()
    weight = learned.fit_info_["beta_weight"]
    assert learned.beta_.sum() == pytest.approx(weight) and plain.fit_info_["beta_weight"] is None
    share = np.bincount(train.tokens, minlength=N_WORDS) + 0.5
    np.testing.assert_allclose(learned.beta_, weight * share / share.sum())
    with pytest.raises(ModelError, match="beta is 'car'"):
        topoi.AuthorModel(beta="car").fit(train)


def test_function_words_are_kept():
    texts = ["The whale, and a ship upon the sea.", "The ship and a whale while the sea"]
    kept = topoi.Corpus.from_texts(texts, function_words=True)
    assert kept.words.tolist() == ["a", "and", "sea", "ship", "the", "whale"]
    chosen = topoi.Corpus.from_texts(texts, function_words=True, stop_words=["the"], max_df=1, min_df=1)
    assert chosen.words.tolist() == ["upon", "while"]
    with pytest.raises(CorpusError, match="function_words is 'yes'"):
        topoi.Corpus.from_texts(texts, function_words="yes")


def test_scores_that_are_calibrated_are_those_that_are_asked_for():
    model = MODELS["topics"]().fit(bursty_corpus(48, 10.0, seed=1))
    text = model.corpus_.tokens[:300]
    asked, _ = author_log_ratios(model, *np.unique(text, return_counts=True))
    np.testing.assert_allclose(AuthorMixtures(model.corpus_, model.chains_[0]).log_ratios(text), asked, rtol=1e-9)
