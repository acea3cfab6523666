"""The parts of studies that compare models by search and by likelihood that could be wrong unnoticed."""

import numpy as np
import pytest

import topoi

retrieval = pytest.importorskip("studies.author_retrieval", reason="the studies are not part of an installed package")
likelihood = pytest.importorskip("studies.nips_abstracts_likelihood")
families = pytest.importorskip("studies.family_comparison")
newsgroups = pytest.importorskip("studies.comp5_classification")
intervals = pytest.importorskip("studies.correlation_intervals")


def test_every_query_has_an_author_among_the_papers_to_find():
    random = np.random.default_rng(0)
    lists = [[f"A{a}" for a in random.choice(40, 1 + d % 3, replace=False)] for d in range(60)]
    chosen = retrieval.choose_queries(lists, np.arange(20, 60), 25, seed=0)
    rest = {name for d in set(range(60)) - set(chosen.tolist()) for name in lists[d]}
    assert len(chosen) == 25 and chosen.min() >= 20
    assert all(rest & set(lists[d]) for d in chosen)


def test_authors_become_words_after_those_of_the_text():
    corpus = topoi.Corpus.from_tokens(
        [["sun", "star"], ["gene"]], [["Ann"], ["Bob", "Ann"]], titles=["One", "Two"], ids=["a", "b"],
        metadata={"label": ["x", "y"]}, dates=[1996, 1997],
    )  # fmt: skip
    found = retrieval.with_author_words(corpus)
    assert [str(word) for word in found.words[: corpus.n_words]] == [str(word) for word in corpus.words]
    last = found.tokens[found.doc_start[1] :]
    assert sorted(str(found.words[w]) for w in last) == ["author: Ann", "author: Bob", "gene"]
    assert found.documents["year"].tolist() == [1996, 1997]


def test_bits_per_word_and_their_error_over_documents():
    bits, words = np.array([20.0, 30.0, 10.0]), np.array([2.0, 3.0, 1.0])
    assert likelihood.per_word(bits, words) == (10.0, 0.0)
    rate, error = likelihood.per_word(np.array([8.0, 12.0]), np.array([1.0, 1.0]))
    assert rate == 10.0 and error == pytest.approx(2.0)  # that of a mean of two: their deviation over root two


def test_lda_less_pam_is_over_the_splits_that_have_both():
    runs = {f"{name}|{size}|{s}": {"empirical": bits} for size in likelihood.SIZES for s in (0, 1)
            for name, bits in zip(likelihood.PAIR, ("-20.0 -40.0", "-10.0 -20.0"), strict=True)}  # fmt: skip
    runs[f"{likelihood.RULE}|20|2"] = {"empirical": "-1.0"}
    result = {"lengths": {"0": "1 2", "1": "1 2", "2": "1"}, "runs": runs}
    assert likelihood.splits_of(result) == [0, 1]
    rate, error = likelihood.gap(result, "empirical", 40)
    assert (rate, error) == (pytest.approx(10 / np.log(2)), pytest.approx(0.0, abs=1e-12))


@pytest.mark.parametrize("line", ["M" + "=]HA" * 15, "> M" + "=]HA" * 15 + "  ", '$f*TFQKF"' * 7 + "a"])
def test_a_post_of_many_encoded_lines_is_an_encoded_file(line):
    assert newsgroups.is_encoded("Here is my icon:\n" + f"{line}\n" * 20)
    assert not newsgroups.is_encoded(
        f"{line}\n" * 19 + "My first words\nof many more words than in a line of code, and with spaces\n" * 30
    )


def test_topics_of_another_package_are_taken_as_they_are():
    corpus = topoi.Corpus.from_tokens([["sun", "star"], ["gene", "sun"]])
    shares = np.array([[0.5, 0.5, 0.0], [0.0, 0.2, 0.8]])
    model = families.fixed(shares, np.array([0.3, 0.4]), corpus)
    np.testing.assert_allclose(model.topic_word_, shares, atol=1e-9)
    np.testing.assert_allclose(model.alpha_, [0.3, 0.4])


def test_infinities_survive_a_file():
    row = families.without_nan({"a": float("nan"), "b": float("-inf"), "c": 1.5, "d": "text"})
    assert row == {"a": None, "b": "-inf", "c": 1.5, "d": "text"}
    assert families.with_infinities(row)["b"] == float("-inf")


def test_cosines_are_those_of_true_with_found_topics():
    alike = intervals.cosines(np.array([[0.0, 2.0], [3.0, 0.0]]), np.array([[1.0, 0.0], [1.0, 1.0]]))
    np.testing.assert_allclose(alike, [[0.0, 1.0], [np.sqrt(0.5), np.sqrt(0.5)]])
