"""The design matrix: what each kind of metadata becomes."""

import numpy as np
import pytest

import topoi
from topoi.models.dmr.design import Design, is_chosen


@pytest.fixture
def corpus():
    return topoi.Corpus.from_tokens(
        [["a"], ["b"], ["c"], ["d"]],
        authors=[["Ann"], ["Ann", "Bob"], [], ["Cy"]],
        dates=[1990, 1992, 1994, 2000],
        metadata={"pages": [2.0, 4.0, 6.0, None], "venue": ["X", "Y", "X", None]},
    )


def test_numbers_are_standardised_and_missing_ones_say_nothing(corpus):
    matrix = Design.learn(corpus, ["pages"]).matrix(corpus).toarray()
    np.testing.assert_allclose(matrix[:, 1], [-1.2247449, 0.0, 1.2247449, 0.0], rtol=1e-6)
    assert (matrix[:, 0] == 1.0).all()


def test_names_are_indicators_and_unknown_ones_say_nothing(corpus):
    design = Design.learn(corpus, ["authors", "venue"])
    assert design.labels == ["intercept", "authors=Ann", "authors=Bob", "authors=Cy", "venue=X", "venue=Y"]
    assert design.matrix(corpus).toarray()[:, 1:].tolist() == [
        [1, 0, 0, 1, 0], [1, 1, 0, 0, 1], [0, 0, 0, 1, 0], [0, 0, 1, 0, 0],
    ]  # fmt: skip
    new = design.matrix({"authors": [["Zoe", "Bob"]], "venue": ["Z"]}).toarray()
    assert new.tolist() == [[1, 0, 1, 0, 0, 0]]


def test_years_are_bumps_of_the_width_given(corpus):
    design = Design.learn(corpus, ["year"], 5.0)
    assert design.labels == ["intercept", "year~1990", "year~1995", "year~2000"]
    row = design.matrix({"year": [1992.5]}).toarray()[0, 1:]
    np.testing.assert_allclose(row, np.exp(-0.5 * np.array([0.5, 0.5, 1.5]) ** 2), rtol=1e-6)
    assert Design.learn(corpus, ["year"], None).labels == ["intercept", "year"]
    assert len(Design.learn(corpus, ["year"]).labels) == 12
    assert Design.learn(corpus, ["year", "pages"], {"pages": 2.0}).labels[-3:] == ["pages~2", "pages~4", "pages~6"]


def test_a_width_to_be_chosen_is_a_part_of_the_range(corpus):
    assert [term.width for term in Design.learn(corpus, ["year", "pages"], "cv", 2.5).terms] == [4.0, None]
    widths = {"year": 5.0, "pages": "cv"}
    assert [term.width for term in Design.learn(corpus, ["year", "pages"], widths, 4.0).terms] == [5.0, 1.0]
    assert is_chosen("cv") and is_chosen(widths) and not is_chosen("auto") and not is_chosen({"year": None})


def test_the_design_survives_a_file(corpus):
    design = Design.learn(corpus, ["year", "authors", "pages"], 3.0)
    again = Design.from_plain(design.to_plain())
    assert again == design
    assert (again.matrix(corpus) != design.matrix(corpus)).nnz == 0


@pytest.mark.parametrize(
    "features, width, words",
    [
        (["age"], "auto", "no column 'age'"),
        (["year"], -1.0, "width is -1.0"),
        (["year"], {"age": 1.0}, "no feature"),
        (["year"], 1e-6, "use a larger one"),
    ],
)
def test_mistakes_are_told(corpus, features, width, words):
    with pytest.raises(topoi.ModelError, match=words):
        Design.learn(corpus, features, width)


def test_what_training_leaves_open_is_in_units_of_the_prior_variance():
    """Zero within the range, and growing to √π with the distance in widths; one for each name that is new."""
    corpus = topoi.Corpus.from_tokens([["a"], ["b"]], authors=["Ann", "Bob"], dates=[1990, 2000])
    design = Design.learn(corpus, ["year", "authors"], width=5.0)
    years = [1990, 1995.5, 2000, 2005, 1985, 2500, None]
    found = design.unseen({"year": years, "authors": [["Ann"]] * 7})
    one = np.sqrt(np.pi) * (1 - np.exp(-0.5))
    np.testing.assert_allclose(found, [0, 0, 0, one, one, np.sqrt(np.pi), 0], atol=1e-12)
    names = [["Ann"], ["Zoe"], ["Zoe", "Yan", "Bob"], [], ["(somebody new)"]]
    assert design.unseen({"year": [1995] * 5, "authors": names}).tolist() == [0, 1, 2, 0, 0]
    assert Design.learn(corpus, ["year"], width=None).unseen({"year": [3000]}).tolist() == [0]


def test_bumps_without_end_have_the_variance_that_is_added():
    """Far outside, prior variance of a sum of bumps on an endless grid; near, what the end of the range leaves open."""
    width, centres = 5.0, 5.0 * np.arange(-200, 200)
    bumps = lambda x: np.exp(-0.5 * ((x - centres) / width) ** 2)  # noqa: E731
    corpus = topoi.Corpus.from_tokens([["a"], ["b"]], dates=[1990, 2000])
    design = Design.learn(corpus, ["year"], width=width)
    for away in (1.0, 4.0, 9.0, 40.0):
        end, there = bumps(0.0), bumps(away)
        left = there @ there - (there @ end) ** 2 / (end @ end)
        assert design.unseen({"year": [2000 + away]})[0] == pytest.approx(left, rel=0.01)
