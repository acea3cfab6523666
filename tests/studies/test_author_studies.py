"""The parts of the studies on authors that could be wrong without anybody noticing."""

import numpy as np
import pytest

import topoi

namesakes = pytest.importorskip("studies.namesakes", reason="the studies are not part of an installed package")
glued = pytest.importorskip("studies.glued_abstracts")
initials = pytest.importorskip("studies.initials")


@pytest.fixture(scope="module")
def corpus():
    random = np.random.default_rng(0)
    names = [f"A{i}" for i in range(30)]
    rows = [[f"w{w}" for w in random.integers(0, 40, 30)] for _ in range(160)]
    lists = [[str(n) for n in random.choice(names, 1 + d % 3, replace=False)] for d in range(160)]
    return topoi.Corpus.from_tokens(rows, authors=lists)


def test_merging_moves_only_the_foreign_papers(corpus):
    papers = namesakes.papers_by_author(corpus)
    case = namesakes.Merged(0, 1, tuple(int(d) for d in np.setdiff1d(papers[1], papers[0])[:3]))
    before, after = corpus.author_lists(), namesakes.merge(corpus, [case]).author_lists()
    assert [d for d in range(corpus.n_docs) if before[d] != after[d]] == list(case.foreign)
    for d in case.foreign:
        assert sorted(after[d]) == sorted(corpus.authors[0] if n == corpus.authors[1] else n for n in before[d])


def test_pairs_to_merge_never_wrote_together_and_serve_once():
    papers = [np.arange(20 * a, 20 * a + 20) for a in range(30)]
    papers[29] = papers[0]  # two who always write together
    cases = namesakes.choose_merged(papers, 5, 15, (1, 3), seed=0)
    assert [len(case.foreign) for case in cases] == [1] * 5 + [3] * 5
    people = [a for case in cases for a in (case.author, case.other)]
    assert len(set(people)) == len(people)
    assert not any({case.author, case.other} == {0, 29} for case in cases)
    assert all(set(case.foreign) <= set(papers[case.other].tolist()) for case in cases)


def test_a_document_left_out_leaves_the_counts_of_all_others(corpus):
    model = topoi.AuthorTopicModel(3, alpha=0.2, n_iter=5, average=False, random_state=0).fit(corpus)
    chain, author, d = model.chains_[0], 0, int(namesakes.papers_by_author(corpus)[0][2])
    word_topic, mixture = np.full((corpus.n_words, 3), 0.01), np.full(3, 0.2)
    for e in set(range(corpus.n_docs)) - {d}:
        names = corpus.doc_author[corpus.doc_author_start[e] : corpus.doc_author_start[e + 1]]
        for i in range(corpus.doc_start[e], corpus.doc_start[e + 1]):
            word_topic[corpus.tokens[i], chain.assignments.topic[i]] += 1
            mixture[chain.assignments.topic[i]] += names[chain.assignments.slot[i]] == author
    phi = word_topic / word_topic.sum(axis=0)
    words = corpus.tokens[corpus.doc_start[d] : corpus.doc_start[d + 1]]
    expected = np.log(phi @ (mixture / mixture.sum()))[words].sum()
    assert namesakes.left_out(model, author, np.array([d]))[0] == pytest.approx(expected, rel=1e-5)


def test_circles_join_papers_by_common_co_authors():
    lists = [["X", "a"], ["X", "b"], ["X", "a", "c"], ["X"], ["X", "c"], ["X", "b"]]
    assert namesakes.circles(lists, "X", [5, 4, 3, 2, 1, 0]).tolist() == [1, 0, 2, 0, 1, 0]


def test_what_is_found():
    numbers = namesakes.found(np.array([3.0, 1.0, 2.0, 0.0]), np.array([True, False, False, True]))
    assert (numbers["auc"], numbers["precision"], numbers["first"]) == (0.5, 0.5, 1.0)


def test_glued_pairs_have_nobody_in_common(corpus):
    lists = [set(names) for names in corpus.author_lists()]
    pairs = glued.choose_pairs(corpus, 5, seed=0)
    for pair in pairs:
        first, second = (corpus.authors[a] for a in pair.authors)
        assert not any({first, second} <= names for names in lists)
        assert [lists[d] for d in pair.alone] == [{first}, {second}]
        assert first in lists[pair.joint[0]] and second in lists[pair.joint[1]]
        assert not lists[pair.joint[0]] & lists[pair.joint[1]]


def test_sentences_end_with_the_first_text():
    text = "One two. Three\n\nfour five? Six"
    start = np.array([text.index(w) for w in ("One", "two", "Three", "four", "five", "Six")])
    assert np.diff(glued.sentence_numbers(text, start)).tolist() == [0, 1, 1, 0, 1]


def test_names_are_cut_to_an_initial_and_a_surname():
    full = ["Sabine Schulte im Walde", "José G. C. de Souza", "Jean-Luc Gauvain", "Plato", "王 明"]
    assert [initials.initial(name) for name in full] == ["s walde", "j souza", "j gauvain", "Plato", "王 明"]


def test_short_forms_of_a_first_name_are_one_person():
    whose = initials.people(["Chris Manning", "Christopher D. Manning", "C. Manning", "Cindy Manning"])
    assert len(set(whose.values())) == 2
    assert whose["Chris Manning"] == whose["C. Manning"] == "Christopher D. Manning"


def test_names_of_several_have_a_main_person_and_a_foreign_paper():
    full = [["Ann Lee"]] * 4 + [["Amy Lee", "Bob Ray"], ["Ann Lee", "Amy Lee"]] + [["Bob Ray"]] * 5
    (only,) = initials.names_of_several(full, 5, 10)
    assert (only.name, only.main) == ("a lee", "Ann Lee")
    assert only.documents.tolist() == [0, 1, 2, 3, 4, 5]
    assert only.foreign.tolist() == [False] * 4 + [True, False]  # a paper of both is not foreign
    assert initials.names_of_several(full, 7, 10) == []


def test_cutting_joins_two_of_one_name_on_a_paper():
    corpus = topoi.Corpus.from_tokens([["a"], ["b"]], authors=[["Ann Lee", "Amy Lee"], ["Bob Ray"]])
    cut, full = initials.cut(corpus)
    assert cut.author_lists() == [["a lee"], ["b ray"]]
    assert sorted(full[0]) == ["Amy Lee", "Ann Lee"]
