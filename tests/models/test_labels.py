"""Automatic labels of topics: unique, of the topic's own words, similar after a restart."""

from __future__ import annotations

import numpy as np
import pytest

import topoi
from topoi.models.labels import phrases
from topoi.models.labels.choice import Candidate, alike, candidates, choose, stem
from topoi.models.labels.make import LONGEST, name_topics
from topoi.models.labels.phrases import Phrases, count_phrases, has_order
from topoi.models.labels.surface import completed, occurrences, one_line, written
from topoi.models.labels.telling import Leading, allowed_words, content_factors, leading_words
from topoi.models.labels.titles import with_titles

N_SUBJECTS = 8
SYLLABLES = ["ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe"]


def subject_words(s: int) -> list[str]:
    """Ten words of a subject; the first two stand side by side in the texts."""
    return [f"{SYLLABLES[s]}{SYLLABLES[(s + i) % 12]}{SYLLABLES[i]}" for i in range(10)]


def planted(n_docs: int = 160, seed: int = 0) -> topoi.Corpus:
    """Documents of one or two subjects with a name each, as in "Bada Babe", among the subjects' words."""
    rng = np.random.default_rng(seed)
    texts = []
    for d in range(n_docs):
        parts = []
        for s in {d % N_SUBJECTS, (d // N_SUBJECTS) % N_SUBJECTS}:
            words = subject_words(s)
            parts += [f"{words[0].title()} {words[1].title()}"] * 4 + [f"the {word}" for word in rng.choice(words, 12)]
        texts.append(", ".join(rng.permutation(parts)))
    return topoi.Corpus.from_texts(texts, min_df=1, max_df=1.0)


@pytest.fixture(scope="module")
def fitted() -> topoi.LDA:
    return topoi.LDA(N_SUBJECTS, alpha=0.1, n_iter=80, random_state=0).fit(planted())


def names() -> set[str]:
    return {" ".join(word.title() for word in subject_words(s)[:2]) for s in range(N_SUBJECTS)}


def test_names_of_subjects_become_labels_as_they_are_written(fitted: topoi.LDA) -> None:
    assert set(fitted.topic_labels()) == names()


def test_labels_are_unique_and_made_of_leading_words(fitted: topoi.LDA) -> None:
    labels = fitted.topic_labels()
    assert len({label.casefold() for label in labels}) == N_SUBJECTS
    for k, label in enumerate(labels):
        leading = set(fitted.top_words(30, topic=k, relevance=0.6)["word"])
        assert {word.casefold() for word in label.split()} <= leading
        assert 1 <= len(label.split()) <= 3 and len(label) <= LONGEST


def test_labels_are_stable_under_a_restart(fitted: topoi.LDA) -> None:
    """Another seed finds the same subjects under other numbers; most keep their labels."""
    other = topoi.LDA(N_SUBJECTS, alpha=0.1, n_iter=80, random_state=5).fit(fitted.corpus_)
    pairs = topoi.align_topics(fitted, other).pairs
    first, second = fitted.topic_labels(), other.topic_labels()
    same = [first[int(a)] == second[int(b)] for a, b in zip(pairs["topic_a"], pairs["topic_b"], strict=True)]
    assert np.mean(same) >= 0.75


def test_same_model_gets_the_same_labels(fitted: topoi.LDA, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in small blocks, and if it is asked again."""
    labels = fitted.topic_labels()
    monkeypatch.setattr("topoi.models.labels.telling._CELLS_AT_ONCE", 7)
    monkeypatch.setattr("topoi.models.labels.phrases._TOKENS_AT_ONCE", 11)
    assert name_topics(fitted.corpus_, fitted.chains_[0]).labels == labels == fitted.topic_labels()


def test_caller_may_change_the_list(fitted: topoi.LDA) -> None:
    fitted.topic_labels()[0] = "mine"
    assert "mine" not in fitted.topic_labels()


def test_background_topics_are_named_as_such() -> None:
    rng = np.random.default_rng(3)
    common = ["said", "made", "given", "found", "used", "taken", "shown", "seen"]
    rows = [[*rng.choice(subject_words(d % 12), 20).tolist(), *rng.choice(common, 20).tolist()] for d in range(240)]
    corpus = topoi.Corpus.from_tokens(rows)
    topic = np.array([12 if word in common else d % 12 for d, row in enumerate(rows) for word in row])
    model = topoi.LDA(13, n_iter=1, random_state=0).fit(corpus)
    chain = model.chains_[0]
    # The chain with the topics that the words were drawn from.
    chain.assignments.topic[:] = topic
    chain.counts.word_topic[:] = 0
    np.add.at(chain.counts.word_topic, (corpus.tokens, topic), 1)
    chain.counts.topic[:] = np.bincount(topic, minlength=13)
    found = name_topics(corpus, chain)
    assert np.flatnonzero(found.background).tolist() == [12]
    assert found.labels[12].startswith("background: ") and len(set(found.labels)) == 13
    assert set(found.labels[12].removeprefix("background: ").split(", ")) <= set(common)
    assert not any(label.startswith("background") for label in found.labels[:12])


@pytest.mark.parametrize(
    ("first", "second"),
    [((0, 1), (2,)), ((0, 1), (1,)), ((1,), (0, 1)), ((0, 1), (0, 2)), ((0, 1), (1, 0))],
    ids=["plural of a part", "part", "whole", "plural", "other order"],
)
def test_no_label_repeats_another(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    words = ["income", "tax", "taxes", "army"]
    found = [Candidate(0.9, 0, first), Candidate(0.8, 1, second), Candidate(0.1, 1, (3,))]
    assert choose(found, words, 2) == [first, (3,)]


def test_label_has_no_word_twice() -> None:
    assert choose([Candidate(0.9, 0, (1, 2)), Candidate(0.1, 0, (3,))], ["income", "tax", "taxes", "army"], 1) == [(3,)]


def test_equal_scores_go_by_topic_and_words() -> None:
    found = [Candidate(0.5, 1, (0,)), Candidate(0.5, 0, (1,)), Candidate(0.5, 0, (0,)), Candidate(0.5, 1, (1,))]
    for order in (found, found[::-1]):
        assert choose(order, ["army", "navy"], 2) == [(0,), (1,)]


def test_stop_words_numbers_and_letters_stand_in_no_label() -> None:
    words = ["the", "of", "1990", "1,000", "x", "gold", "e-mail", "數", "a" * 41, "zero\x00"]
    allowed = allowed_words(topoi.Corpus.from_tokens([words]).vocabulary, LONGEST)
    assert [word for word, fine in zip(words, allowed, strict=True) if fine] == ["gold", "e-mail", "數"]


def test_phrases_end_at_gaps_documents_and_topics() -> None:
    texts = ["red fish. Blue fish, red fish", "fish", "red and fish", "blue fish red"]
    corpus = topoi.Corpus.from_texts(texts, min_df=1, max_df=1.0)
    number = {word: w for w, word in enumerate(corpus.words)}
    leading = np.array([[number["red"], number["fish"], number["blue"]]] * 2)
    topic = np.zeros(corpus.n_tokens, int)
    topic[-1] = 1
    found = count_phrases(corpus, topic, leading)
    listed = {
        (int(k), *(corpus.words[w] for w in row if w >= 0)): int(n)
        for k, row, n in zip(found.topic, found.word, found.times, strict=True)
    }
    assert listed == {(0, "red", "fish"): 2, (0, "blue", "fish"): 2}
    topic[-1] = 0
    assert count_phrases(corpus, topic, leading).times.tolist().count(1) == 2  # "fish red", "blue fish red"


def test_counts_have_no_order_and_no_phrases() -> None:
    counts = np.array([[3, 3, 0, 0], [0, 0, 3, 3]] * 10)
    corpus = topoi.Corpus.from_counts(counts, vocabulary=["gold", "mine", "gene", "cell"])
    assert not has_order(corpus)
    labels = topoi.LDA(2, alpha=0.1, n_iter=30, random_state=0).fit(corpus).topic_labels()
    assert len(set(labels)) == 2 and not any(" " in label.replace(", ", ",") for label in labels)


def test_forms_of_words_are_those_of_most_texts() -> None:
    texts = ["Gold\nStandard", "the gold-standard", "Gold Standard", "gold/standard", "gold/standard", "gold/standard"]
    corpus = topoi.Corpus.from_texts(texts, hyphens="split", min_df=1, max_df=1.0)
    chosen = [(0, 1), ()]
    places = occurrences(corpus, np.zeros(corpus.n_tokens, int), chosen)
    assert written(corpus, chosen, places) == ["Gold Standard", ""]


def test_pairs_are_completed_by_the_word_that_is_always_beside_them() -> None:
    """Whatever topic that word has; not by a stop word, nor across a gap."""
    texts = ["Large Language Models err"] * 4 + ["the large language barrier"]
    corpus = topoi.Corpus.from_texts(texts, min_df=1, max_df=1.0)
    number = {word: w for w, word in enumerate(corpus.words)}
    topic = (corpus.tokens == number["models"]).astype(int)
    for pair, expected in (("large language", "Large Language Models"), ("language models", "Large Language Models")):
        chosen = [tuple(number[word] for word in pair.split())]
        places = [np.flatnonzero(corpus.tokens == chosen[0][0])]
        found = completed(corpus, chosen, places, np.ones(corpus.n_words, bool))
        assert written(corpus, *found) == [expected]
        assert completed(corpus, chosen, places, np.zeros(corpus.n_words, bool))[0] == chosen
    assert [len(at) for at in occurrences(corpus, topic, [(number["large"], number["language"]), ()])] == [5, 0]
    apart = topoi.Corpus.from_texts(["Large Language. Models err"] * 4, min_df=1, max_df=1.0)
    number = {word: w for w, word in enumerate(apart.words)}
    chosen = [(number["large"], number["language"])]
    places = occurrences(apart, np.zeros(apart.n_tokens, int), chosen)
    assert completed(apart, chosen, places, np.ones(apart.n_words, bool))[0] == chosen


def test_texts_that_are_left_out_leave_the_words(fitted: topoi.LDA, tmp_path) -> None:
    model = topoi.LDA(8, alpha=0.1, n_iter=20, random_state=0).fit(fitted.corpus_)
    model.save(tmp_path / "bare.topoi", corpus=False)
    model.save(tmp_path / "whole.topoi")
    bare, whole = (topoi.view(tmp_path / name).topic_labels() for name in ("bare.topoi", "whole.topoi"))
    assert whole == model.topic_labels() != bare
    assert bare == topoi.load(tmp_path / "bare.topoi").topic_labels()
    assert all(label == label.lower() for label in bare)
    # Labels that people have seen stay.
    model.save(tmp_path / "again.topoi", corpus=False)
    assert topoi.view(tmp_path / "again.topoi").topic_labels() == whole == model.topic_labels()


def test_long_and_strange_words_make_short_plain_labels() -> None:
    words = ["\u202eevil\u202c", "bell\x07", "a" * 300, "<script>alert(1)</script>"]
    rows = [[words[d % 4]] * 5 for d in range(40)]
    labels = topoi.LDA(4, alpha=0.1, n_iter=30, random_state=0).fit(topoi.Corpus.from_tokens(rows)).topic_labels()
    assert len(set(labels)) == 4 and all(len(label) <= LONGEST and label.isprintable() for label in labels)
    assert one_line("a\u200b b\x1b[2J\n c") == "a b[2J c"


def test_topics_without_words_have_their_numbers() -> None:
    labels = topoi.LDA(5, n_iter=5, random_state=0).fit([["gold"], ["gold"]]).topic_labels()
    assert "gold" in labels and len(set(labels)) == 5
    assert sum(label.startswith("topic ") for label in labels) >= 3


def test_known_topics_without_documents_have_labels() -> None:
    model = topoi.AspectModel.from_parameters([[0.9, 0.1, 0.0], [0.0, 0.1, 0.9]], words=["sun", "sky", "gene"])
    assert model.topic_labels() == ["sun", "gene"]


@pytest.mark.parametrize(("one", "other"), [("tax", "Taxes"), ("country", "countries"), ("class", "classes")])
def test_plural_has_the_stem_of_the_singular(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize(("one", "other"), [("bus", "bu"), ("physics", "physic"), ("analysis", "analysi")])
def test_endings_that_are_no_plural(one: str, other: str) -> None:
    assert (stem(one) == stem(other)) == (one == "physics")


def test_phrases_of_titles_gain_by_the_share_of_the_topic() -> None:
    titles = ["On gold coins", "gold coins", "coins of gold", None, "gold. Coins", "big gold coins"]
    tokens = ["big", "gold", "coins", "paper"]
    corpus = topoi.Corpus.from_tokens([tokens] * 6, titles=titles)
    number = {word: w for w, word in enumerate(corpus.words)}
    topic = np.tile([0, 0, 0, 1], 6)
    pair, triple = (number["gold"], number["coins"]), (number["big"], number["gold"], number["coins"])
    given = [Candidate(1.0, 0, pair), Candidate(1.0, 1, pair), Candidate(1.0, 0, triple), Candidate(1.0, 0, pair[:1])]
    scores = [one.score for one in with_titles(corpus, topic, 2, given)]
    expected = [0.75 * 3, 0.25 * 3, 0.75, 0.0]
    np.testing.assert_allclose(scores, [1 + 0.5 * each / (each + 5) for each in expected], atol=1e-9)
    assert with_titles(topoi.Corpus.from_tokens([tokens]), topic[:4], 2, given) == given


def told(times: dict[tuple[int, ...], int], probability: float = 0.02) -> set[tuple[int, ...]]:
    """Phrases of a topic of 1,000 tokens that may become labels; word 0 has the largest weight, then 1, 2, …"""
    n = 12
    leading = Leading(np.arange(n)[None], np.linspace(1.0, 0.12, n)[None], np.full((1, n), probability))
    words = np.array([[*phrase, -1][:3] for phrase in times])
    phrases = Phrases(np.zeros(len(times), int), words, np.array(list(times.values())))
    return {one.words for one in candidates(leading, np.array([1000.0]), phrases) if len(one.words) > 1}


def test_chance_neighbours_are_no_phrases() -> None:
    assert told({(0, 1): 5}) == {(0, 1)}
    assert told({(0, 1): 5}, probability=0.06) == set()  # 3.6 are expected


def test_parts_of_longer_phrases_are_none() -> None:
    assert told({(0, 1): 10, (0, 1, 2): 6}) == {(0, 1, 2)}
    assert told({(1, 2): 10, (0, 1, 2): 6}) == {(0, 1, 2)}
    assert told({(0, 1): 16, (0, 1, 2): 7}) == {(0, 1), (0, 1, 2)}


def test_phrases_have_a_word_that_matters_most() -> None:
    """Half of the largest weight, at least."""
    assert told({(6, 9): 10, (7, 9): 10}) == {(6, 9)}


def test_words_are_weighed_against_the_nearest_topics() -> None:
    """Word 0 is rare in the collection, but not in the neighbour: word 1 tells the first topic."""
    rows = np.array([[0.5, 0.3, 0.2, 0.0, 0.0], [0.5, 0.0, 0.2, 0.3, 0.0], [0.0, 0.0, 0.2, 0.0, 0.8]])
    share, allowed = np.array([0.05, 0.05, 0.9]), np.ones(5, bool)
    assert leading_words(lambda at: rows.T[at], share, allowed, 1).word.tolist() == [[1], [3], [4]]


@pytest.mark.parametrize("form", ["the same", "x" * 50])
def test_labels_stay_unique_and_short_however_they_are_written(
    fitted: topoi.LDA, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setattr("topoi.models.labels.make.written", lambda *_: [form] * N_SUBJECTS)
    labels = name_topics(fitted.corpus_, fitted.chains_[0]).labels
    assert len(set(labels)) == N_SUBJECTS and all(0 < len(label) <= LONGEST for label in labels)


def of_subjects(*subjects: list[str]) -> list[str]:
    """Labels of topics that are given subjects: each has its texts, four times over."""
    corpus = topoi.Corpus.from_texts([text for row in subjects for text in row * 4], min_df=1, max_df=1.0)
    lengths = [4 * len(row) for row in subjects]
    topic = np.repeat(np.repeat(np.arange(len(subjects)), lengths), np.diff(corpus.doc_start))
    return topoi.LDA.from_assignments(corpus, topic, len(subjects), alpha=0.1, random_state=0).topic_labels()


def test_both_words_of_a_list_are_written_as_in_the_texts() -> None:
    labels = of_subjects(["Mexico, Texas. Mexico; Texas! Mexico."] * 2, ["wheat or corn, or wheat"] * 2)
    assert labels == ["Mexico, Texas", "wheat, corn"]


def test_a_phrase_of_the_two_best_words_comes_before_their_list() -> None:
    """Alone, the first word would score more: most of its occurrences are elsewhere."""
    leading = Leading(np.array([[0, 1, 2]]), np.array([[0.5, 0.45, 0.1]]), np.full((1, 3), 0.01))
    rare = Phrases(np.zeros(2, int), np.array([[1, 0, -1], [2, 0, -1]]), np.array([30, 30]))
    found = candidates(leading, np.array([100_000.0]), rare)
    scores = {one.words: one.score for one in found}
    assert scores[(1, 0)] == scores[(0,)] > scores[(2, 0)]
    assert choose(found, ["rights", "human", "civil"], 1) == [(1, 0)]


def test_words_that_say_the_same_are_not_listed_together() -> None:
    labels = of_subjects(["bias. Biases! bias, biases, fairness"] * 2, ["star: stellar, star; planet. star"] * 2)
    assert labels[0] == "bias, fairness" and alike("classification", "classifiers")
    assert not alike("constitution", "construction") and not alike("数", "数学")


def test_words_that_come_in_bursts_name_a_topic() -> None:
    """Both words are equally frequent in the topic and nowhere else; one is once in each document, one often in few."""
    rows = [["given", "given", *(["cuba"] * 8 if d % 4 == 0 else []), f"noise{d % 3}"] for d in range(40)]
    rows += [["wheat", "plough", "wheat", "barn"]] * 10 + [["judge", "judge", "trial", "trial"]] * 10
    corpus = topoi.Corpus.from_tokens(rows)
    factor = dict(zip(corpus.words.tolist(), content_factors(corpus).tolist(), strict=True))
    assert factor["cuba"] == 1.0 and factor["given"] < 0.5
    topic = np.repeat(np.repeat([0, 1, 2], [40, 10, 10]), np.diff(corpus.doc_start))
    model = topoi.LDA.from_assignments(corpus, topic, 3, alpha=0.1, random_state=0)
    assert model.topic_labels()[0].split(", ")[0] == "cuba"
    with pytest.MonkeyPatch.context() as patch:  # a scorer that does not ask for content
        patch.setattr("topoi.models.labels.make.content_factors", lambda corpus: np.ones(corpus.n_words))
        assert name_topics(corpus, model.chains_[0]).labels[0].split(", ")[0] != "cuba"


def test_short_texts_tell_nothing_of_bursts() -> None:
    corpus = topoi.Corpus.from_tokens([["gold", "coin"], ["gold", "mine"], ["coin", "mint"]] * 5)
    assert content_factors(corpus).tolist() == [1.0] * 4


def test_completion_counts_singular_and_plural_together() -> None:
    texts = ["support vector machine"] * 3 + ["support vector machines"] * 4 + ["support vector regression"] * 4
    corpus = topoi.Corpus.from_texts(texts, min_df=1, max_df=1.0)
    number = {word: w for w, word in enumerate(corpus.words)}
    pair = (number["support"], number["vector"])
    found = completed(corpus, [pair], [np.flatnonzero(corpus.tokens == pair[0])], np.ones(corpus.n_words, bool))
    assert found[0] == [(*pair, number["machines"])]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("offsets", [True, False])
def test_phrases_and_their_places_are_the_same_in_blocks(monkeypatch, size, offsets):
    """Phrases that cross the ends of blocks are counted once, those that would cross documents never."""
    random = np.random.default_rng(size)
    texts = [". ".join(" ".join(random.choice(["aa", "bb", "cc", "dd"], 5)) for _ in range(n)) for n in (1, 26, 2, 39)]
    corpus = topoi.Corpus.from_texts(texts, stop_words=None, min_df=1, max_df=1.0)
    if not offsets:
        corpus = topoi.Corpus.from_tokens([text.replace(".", "").split() for text in texts])
    topic, leading = random.integers(2, size=corpus.n_tokens), np.array([[0, 1, 2], [3, 2, 1]])
    labels = [(0, 1, 2), (3, 2)]
    whole = count_phrases(corpus, topic, leading), occurrences(corpus, topic, labels)
    assert whole[0].times.sum() > 10 and (whole[0].word[:, 2] >= 0).any() and len(whole[1][1])
    monkeypatch.setattr(phrases, "_TOKENS_AT_ONCE", size)
    parts = count_phrases(corpus, topic, leading), occurrences(corpus, topic, labels)
    for a, b in zip((*whole[0], *whole[1]), (*parts[0], *parts[1]), strict=True):
        np.testing.assert_array_equal(a, b)
    assert has_order(corpus)
