"""``search_topics``: planted numbers are found, the rule is the rule, and clear falls end the search."""

from __future__ import annotations

import numpy as np
import pytest

import topoi
from topoi import evaluation
from topoi.errors import ModelError
from topoi.evaluation.topic_search import _is_enough, _result, _Tried, suited_numbers


def planted(n_topics: int, n_docs: int = 90, seed: int = 0) -> topoi.Corpus:
    """Documents of one or two of some topics without common words."""
    rng = np.random.default_rng(seed)
    words = [[f"{k}-{i}" for i in range(6)] for k in range(n_topics)]
    rows = [sum((words[k] for k in rng.choice(n_topics, 1 + d % 2)), []) for d in range(n_docs)]
    return topoi.Corpus.from_tokens([rng.choice(row, 20).tolist() for row in rows])


def tried(*logs: list[float]) -> list[_Tried]:
    return [_Tried(10 * (k + 1), np.array(log_p, float), 1.0) for k, log_p in enumerate(logs)]


def test_the_planted_number_is_found_and_larger_ones_are_not_tried_for_ever():
    settings = {"alpha": 0.2, "n_iter": 60, "random_state": 0}
    found = evaluation.search_topics(planted(4), [1, 2, 4, 12, 24, 48], topoi.LDA, folds=3, **settings)
    assert found.n_topics == 4
    assert found.frame["n_topics"].tolist() == [1, 2, 4, 12, 24], "two clear falls end the search"
    assert found.frame["chosen"].tolist() == [False, False, True, False, False]
    assert "48 not tried" in found.recommendation and found.recommendation.startswith("4 topics: the best of")
    assert (found.frame["seconds"] > 0).all() and found.recommendation in repr(found)


def test_scores_are_those_of_the_folds():
    corpus = planted(2, 20)
    template = topoi.LDA(7, alpha=0.3, n_iter=10, random_state=5)
    found = evaluation.search_topics(corpus, [2], template, folds=2, random_state=3)
    fold = np.random.default_rng(3).permutation(20) % 2
    total = 0.0
    for k in range(2):
        model = topoi.LDA(2, alpha=0.3, n_iter=10, random_state=5).fit(corpus.subset(fold != k))
        total += evaluation.heldout(model, corpus.subset(fold == k))["log_likelihood"].sum()
    assert found.frame["log_likelihood"].iloc[0] == pytest.approx(total / corpus.n_tokens, rel=1e-12)
    assert template.n_topics == 7 and "only number" in found.recommendation
    once = evaluation.search_topics(corpus, [2], template, folds=1, random_state=3)
    train, test = corpus.split(0.1, random_state=3)
    model = topoi.LDA(2, alpha=0.3, n_iter=10, random_state=5).fit(train)
    assert once.frame["perplexity"].iloc[0] == pytest.approx(model.perplexity(test))


def test_the_smallest_number_within_one_standard_error():
    lengths = np.full(4, 10)
    # Against the third: the first is worse by 1 ± 0.58 nats per document, the second by 0.5 ± 0.65.
    logs = tried([-72, -70, -72, -70], [-70.0, -69, -72, -71], [-70, -70, -70, -70])
    found = _result(logs, lengths, [])
    errors = found.frame["difference_error"] * 10
    assert errors.tolist() == pytest.approx([np.std([2, 0, 2, 0], ddof=1) / 2, np.std([0, -1, 2, 1], ddof=1) / 2, 0.0])
    assert found.frame["difference"].tolist() == pytest.approx([-0.1, -0.05, 0.0])
    assert found.n_topics == 20 and "within one standard error of the best, 30" in found.recommendation
    # Nearer to the best than the error would allow only if documents were not paired.
    sure = _result(tried([-72.0, -52, -92, -72], [-70.0, -50, -90, -70]), lengths, [])
    assert sure.n_topics == 20 and sure.recommendation == "20 topics: the best of 10 and 20"


def test_a_search_goes_on_where_it_is_not_clear():
    lengths = np.full(3, 10)
    up, down, lower = [-70.0, -71, -72], [-80.0, -81.5, -82], [-90.0, -91.5, -92]
    assert _is_enough(tried(up, down, lower), lengths)
    assert not _is_enough(tried(up, down), lengths), "one fall"
    assert not _is_enough(tried(up, lower, down), lengths), "rising again"
    assert not _is_enough(tried(down, lower, up), lengths), "the last is the best"
    unclear = [-60.0, -75, -90]
    assert not _is_enough(tried(up, unclear, lower), lengths), "the first fall is not clear"


def test_families_by_their_own_names_for_the_number():
    corpus = planted(2, 16)
    aspects = evaluation.search_topics(corpus, [2], topoi.AspectModel, folds=2, tol=0.1)
    assert aspects.n_topics == 2
    assert suited_numbers(corpus) == [2, 5, 10]


def test_bad_input_is_refused_in_words():
    corpus = planted(2, 6)
    search = evaluation.search_topics
    for call, message in [
        (lambda: search(corpus, []), "no numbers"),
        (lambda: search(corpus, 20), "pass a list"),
        (lambda: search(corpus, [0]), "at least 1"),
        (lambda: search(corpus, [2], folds=0), "at least 1"),
        (lambda: search(corpus, [2], folds=7), "7 folds"),
        (lambda: search(corpus, [2], "lda"), "unfitted model"),
        (lambda: search(corpus, [2], dict), "class dict"),
        (lambda: search(corpus, [2], topoi.AuthorModel), "no number of topics"),
        (lambda: search(corpus, [2], speed=3), "no setting 'speed'"),
        (lambda: search(["a text"], [2]), "pass a topoi.Corpus"),
    ]:
        with pytest.raises(ModelError, match=message):
            call()
