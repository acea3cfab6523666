"""Two selections of documents side by side: the topics and the words in which they differ."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

import topoi
from topoi.analysis.groupings import Pair, make_pair
from topoi.analysis.groups import compare_groups, compare_pair
from topoi.analysis.word_groups import compare_words, sum_words
from web.addresses import LDA, MAIN
from web.samples import SUBJECTS


def get(client, query, slug=MAIN):
    answer = client.get(f"/m/{slug}/groups.json?{query}")
    assert answer.status_code == 200, answer.text[:300]
    return answer.json()


def test_two_filters_are_two_groups(client, stored):
    view = get(client, "a.venue=ACL&b.venue=NIPS")
    by_column = get(client, "by=venue&group=ACL&other=NIPS")
    assert view["n_documents"] == by_column["n_documents"] == [30, 30]
    for one, other in zip(view["differences"], by_column["differences"], strict=True):
        assert one["topic"]["topic"] == other["topic"]["topic"] and one["difference"] == other["difference"]
    assert view["words"] == by_column["words"]
    assert [side["title"] for side in view["sides"]] == ["ACL", "NIPS"] and by_column["sides"] == []
    frame = compare_groups(topoi.view(stored, "who & what/é"), "venue", ["ACL", "NIPS"], n_permutations=499)
    assert view["differences"][0]["difference"] == pytest.approx(frame["difference"].iloc[0])


def test_one_filter_is_beside_all_others(client):
    view = get(client, "a.from=1990&a.to=1993")
    assert view["n_documents"] == [24, 36] and view["other"] == "all others"
    turned = get(client, "b.from=1990&b.to=1993")
    assert turned["n_documents"] == [24, 36] and turned["differences"] == view["differences"]


def test_words_of_a_subject_lead_its_side(client):
    authors = {row["author"]: row["author_id"] for row in client.get(f"/m/{MAIN}/authors.json").json()["authors"]}
    view = get(client, f"a.author={authors['Kepler, J']}&b.author={authors['Holmes, O']}")
    first = {row["word"] for row in view["words"] if row["score"] > 0 and row["q_value"] < 0.05}
    second = {row["word"] for row in view["words"] if row["score"] < 0 and row["q_value"] < 0.05}
    assert first == set(SUBJECTS["stars"].split()) and second == set(SUBJECTS["courts"].split())
    for row in view["words"]:
        assert row["lower"] < row["ratio"] < row["upper"]


def test_documents_behind_a_difference_are_of_the_sides(client):
    topic = get(client, "a.venue=ACL&b.venue=NIPS")["differences"][0]["topic"]["topic"]
    view = get(client, f"a.venue=ACL&b.venue=NIPS&topic={topic}")
    assert {row["group"] for row in view["documents"]} <= {"ACL", "NIPS"}
    text = client.get(f"/m/{MAIN}/groups?a.venue=ACL&b.venue=NIPS").text
    assert f"a.venue=ACL&amp;b.venue=NIPS&amp;topic={topic}#documents" in text


@pytest.mark.parametrize("query", ["a.year=3000", "a.venue=ACL&b.venue=ACL", "a.author=0&b.author=0", "a.q=zzzz"])
def test_too_few_documents_are_said(client, query):
    view = get(client, query)
    assert "two or more" in view["error"] and not view["differences"]
    assert client.get(f"/m/{MAIN}/groups?{query}").status_code == 200


@pytest.mark.parametrize(
    ("query", "status"), [("a.topic=99", 404), ("b.author=99", 404), ("a.from=x", 400), ("a.least=9", 400)]
)
def test_wrong_sides_are_refused(client, query, status):
    assert client.get(f"/m/{MAIN}/groups.json?{query}").status_code == status


def test_hostile_sides(hostile):
    for value in ("%3Cscript%3Ealert(1)%3C/script%3E", "%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E"):
        text = hostile.get(f"/m/{MAIN}/groups?a.q={value}&b.from=1990").text
        assert "<script>" not in text and "<img" not in text


def test_tables_and_picture(client):
    rows = list(csv.DictReader(io.StringIO(client.get(f"/m/{LDA}/groups.csv?a.venue=ACL&table=words").text)))
    assert rows and {"word", "ratio", "lower", "upper", "q_value"} <= rows[0].keys()
    assert client.get(f"/m/{LDA}/groups.svg?a.venue=ACL").status_code == 200


def test_pairs_leave_out_what_both_have():
    pair = make_pair("a", np.array([1, 1, 1, 0, 0], bool), "b", np.array([0, 0, 1, 1, 1], bool))
    assert (pair.ours.tolist(), pair.theirs.tolist()) == ([0, 1], [3, 4])
    with pytest.raises(topoi.ModelError, match="two or more"):
        make_pair("a", np.array([1, 0, 0], bool))


def test_any_pair_is_compared_as_a_group_is(stored):
    model = topoi.view(stored, "four topics")
    frame = compare_pair(model, Pair("ACL", "NIPS", np.arange(0, 60, 2), np.arange(1, 60, 2)), n_permutations=99)
    same = compare_groups(model, "venue", ["ACL", "NIPS"], n_permutations=99)
    assert frame.equals(same)


def tokens(counts, lengths, word):
    """Documents with so many uses of a word, filled up with words of their own."""
    document = np.repeat(np.arange(len(lengths)), lengths)
    words = np.concatenate([[word] * n + [0] * (length - n) for n, length in zip(counts, lengths, strict=True)])
    return document, words.astype(np.int64)


def test_intervals_hold_the_ratio_as_often_as_they_say():
    chance, inside, n = np.random.default_rng(0), 0, 400
    for _ in range(n):
        totals = []
        for rate in (0.02, 0.01):
            lengths = chance.integers(50, 150, 60)
            # Bursts: a document's own rate varies.
            counts = chance.binomial(lengths, np.minimum(chance.gamma(0.5, rate / 0.5, 60), 0.9))
            totals.append(sum_words([tokens(counts, lengths, 1)], 3))
        row = compare_words(*totals).set_index("word").loc[1]
        inside += row["lower"] <= 2.0 <= row["upper"]
    assert 0.84 <= inside / n <= 0.95


def test_bursts_are_no_evidence():
    lengths = np.full(40, 100)
    spread = sum_words([tokens(np.full(40, 2), lengths, 1)], 3)
    burst = sum_words([tokens([60, *[0] * 36, 7, 7, 6], lengths, 1)], 3)
    few = sum_words([tokens([1] * 20 + [0] * 20, lengths, 1)], 3)
    score = [compare_words(each, few).set_index("word").loc[1, "score"] for each in (spread, burst)]
    assert score[0] > 4 > 2 > score[1] > 0


def test_words_of_few_documents_are_left_out():
    one = sum_words([(np.array([0, 0, 1, 2]), np.array([0, 1, 0, 0]))], 2)
    assert compare_words(one, one)["word"].tolist() == [0]


def test_the_form_is_in_the_middle_until_something_is_compared(client):
    empty = client.get(f"/m/{MAIN}/groups").text
    assert empty.count('name="a.author"') == 1 and empty.index('name="a.author"') < empty.index("For instance")
    compared = client.get(f"/m/{MAIN}/groups?a.venue=ACL&b.venue=NIPS").text
    assert compared.count('name="a.author"') == 1 and compared.index('name="a.author"') > compared.index("<aside>")


def test_fields_show_names_of_authors(client):
    rows = {row["author_id"]: row["author"] for row in client.get(f"/m/{MAIN}/authors.json").json()["authors"]}
    number = next(one for one, name in rows.items() if name == "Kepler, J")
    for prefix in ("a", "b"):
        text = client.get(f"/m/{MAIN}/groups?{prefix}.author={number}").text
        assert f'name="{prefix}.author" value="Kepler, J"' in text
