"""Names as people type them: whole, in any case, a part; several that fit are listed, none is guessed."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topoi
from topoi import NotFoundError
from topoi.models.names import find_name, matching_names

KNOWN = [
    "Abraham Lincoln",
    "John Adams",
    "John Quincy Adams",
    "Gerald R. Ford",
    "Rutherford B. Hayes",
    "Jordan, M",
    "jordan",
]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("Abraham Lincoln", 0),
        ("abraham lincoln", 0),
        ("Lincoln", 0),
        ("linc", 0),
        (" lincoln ", 0),
        ("John Adams", 1),
        ("quincy", 2),
        ("Adams Quincy", 2),
        ("ford", 3),  # a word of one name, a part of a word of another
        ("rutherf", 4),
        ("M Jordan", 5),
        ("Jordan", 6),  # but for case, before any part
    ],
)
def test_what_is_found(typed, found):
    assert find_name(typed, KNOWN, "author") == found
    assert find_name(typed, np.array(KNOWN, object), "author") == found


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("Adams", "there is no single author 'Adams'; did you mean 'John Adams', 'John Quincy Adams'?"),
        ("linkoln", "there is no author 'linkoln'; did you mean 'Abraham Lincoln'?"),
        ("zzzz", "there is no author 'zzzz'; there are 7"),
        ("", "there is no author ''; there are 7"),
        (" , ", "there is no author ' , '; there are 7"),
    ],
)
def test_what_is_not(typed, message):
    with pytest.raises(NotFoundError) as caught:
        find_name(typed, KNOWN, "author")
    assert str(caught.value) == message


def test_many_are_not_all_listed():
    with pytest.raises(NotFoundError, match="'author 0'.*'author 4' or 95 more"):
        find_name("author", [f"author {n}" for n in range(100)], "author")


def test_no_parts_where_none_are_wanted():
    with pytest.raises(NotFoundError, match="no word 'linc'; did you mean 'Abraham Lincoln'"):
        find_name("linc", KNOWN, "word", part=False)
    assert find_name("abraham LINCOLN", KNOWN, "word", part=False) == 0


@given(st.lists(st.text(max_size=6), unique=True, max_size=6), st.text(max_size=6))
def test_a_match_has_what_was_typed(known, typed):
    for at in matching_names(typed, known):
        pieces = re.findall(r"\w+", typed.casefold())
        assert known[at] == typed or (pieces and all(piece in known[at].casefold() for piece in pieces))
    for at, name in enumerate(known):
        assert matching_names(name, known) == [at], "a name that is there is found, whatever else has it as a part"


@pytest.fixture(scope="module")
def corpus():
    names = [["Abraham Lincoln"], ["John Adams"], ["John Quincy Adams"]]
    return topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"], ["sea", "tide"]] * 4, authors=names * 4)


def test_parts_of_names_everywhere(corpus, tmp_path):
    model = topoi.AuthorTopicModel(2, n_iter=5, random_state=0).fit(corpus)
    model.save(tmp_path / "m.topoi")
    for each in (model, topoi.view(tmp_path / "m.topoi")):
        assert set(each.author_topics("Lincoln")["author"]) == {"Abraham Lincoln"}
        assert set(topoi.similar_authors(each, "quincy", min_words=0)["name"]) == {"Abraham Lincoln", "John Adams"}
        assert topoi.unusual_documents(each, author="lincoln").attrs["author"] == "Abraham Lincoln"
        labels = topoi.label_words(each, "sun and gene", authors=["Lincoln", "Quincy"])
        assert set(labels["author"]) <= {"Abraham Lincoln", "John Quincy Adams"}
        with pytest.raises(
            NotFoundError, match="no single author 'Adams'; did you mean 'John Adams', 'John Quincy Adams'"
        ):
            topoi.similar_authors(each, "Adams")
        with pytest.raises(NotFoundError, match="no word 'su'"):
            topoi.word_topics(each, "su")
        with pytest.warns(UserWarning, match="nobody is left out.*'Lincoln'; did you mean 'Abraham Lincoln'"):
            topoi.recommend_reviewers(each, "sun and star", exclude=["Lincoln"], min_words=0)


def test_authors_of_another_corpus_are_not_taken_for_namesakes(corpus):
    model = topoi.AuthorTopicModel(2, n_iter=5, random_state=0).fit(corpus)
    other = topoi.Corpus.from_tokens([["sun", "star"]], authors=[["Abraham Lincoln Steffens"]])
    with pytest.raises(NotFoundError, match="no author 'Abraham Lincoln'"):
        topoi.unusual_documents(model, other, author="Abraham Lincoln")
