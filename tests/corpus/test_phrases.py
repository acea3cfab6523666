"""Frequent word pairs."""

import numpy as np

from topoi import Corpus
from topoi.corpus.phrases import join_pairs, learn_pairs
from topoi.corpus.scan import scan_texts

TEXTS = ["We love New York a lot", "new york, New  York and New\nYork!", "York new. A new, York day", "love a day"] * 6


def test_pairs_are_learned_and_joined_with_offsets():
    corpus = Corpus.from_texts(TEXTS, phrases=0.3, phrase_min_count=5, min_df=1, max_df=1.0)
    assert corpus.vocabulary.analyzer.phrases == (("new", "york"),)
    assert "new_york" in corpus.vocabulary
    assert corpus[1].words == ["new_york"] * 3
    surface = [TEXTS[1][a:b] for a, b in corpus[1].offsets]
    assert surface == ["new york", "New  York", "New\nYork"]
    assert corpus[2].words == ["york", "new", "new", "york", "day"]
    assert corpus.report.n_phrases == 1


def test_new_text_gets_the_same_joins():
    corpus = Corpus.from_texts(TEXTS, phrases=0.3, phrase_min_count=5, min_df=1, max_df=1.0)
    again = Corpus.from_bundle(*corpus.to_bundle())
    for trained in (corpus, again):
        assert trained.encode(["In New York, new love"])[0].words == ["new_york", "new", "love"]


def test_score_and_threshold():
    scan = scan_texts(["aa bb"] * 10 + ["cc dd", "cc ee", "ff dd", "gg ee"] * 5)
    assert learn_pairs(scan, frozenset(), 0.99, 5) == [("aa", "bb")]
    assert learn_pairs(scan, frozenset(), 0.99, 11) == []
    assert learn_pairs(scan, frozenset(["bb"]), 0.99, 5) == []
    total = len(scan.tokens)
    joint, p = 5 / total, 10 / total
    score = np.log(joint / p**2) / -np.log(joint)
    assert ("cc", "dd") in learn_pairs(scan, frozenset(), score - 1e-9, 5)
    assert ("cc", "dd") not in learn_pairs(scan, frozenset(), score + 1e-9, 5)


def test_joins_are_greedy_from_the_left():
    scan = join_pairs(scan_texts(["aa aa aa aa aa"]), [("aa", "aa")])
    assert [scan.words[w] for w in scan.tokens] == ["aa_aa", "aa_aa", "aa"]
    assert scan.doc_start.tolist() == [0, 3]


def test_pairs_do_not_cross_documents():
    scan = join_pairs(scan_texts(["in new", "york city"]), [("new", "york")])
    assert [scan.words[w] for w in scan.tokens] == ["in", "new", "york", "city"]


def test_joined_form_in_the_text_is_the_same_word():
    scan = join_pairs(scan_texts(["new york new_york"]), [("new", "york")])
    assert scan.tokens[0] == scan.tokens[1]


def test_given_pairs():
    corpus = Corpus.from_texts(["new york", "old york"], phrases=[("new", "york")], min_df=1, max_df=1.0)
    assert corpus.words.tolist() == ["new_york", "old", "york"]
    assert Corpus.from_texts([""], phrases=True).n_words == 0
