"""Labels in other languages and scripts: capitals, accents, apostrophes and hyphens stay as the texts have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import topoi
from topoi.models.labels.function_words import function_words

# Sentences about two subjects in each language; every text is read without a stop list of its language.
GERMAN = {
    "Deutsche Bahn": [
        "Die Deutsche Bahn fährt heute mit neuen Zügen.",
        "Am Bahnhof hält ein Zug der Deutschen Bahn.",
        "Ohne Fahrkarte kommt man mit der Deutsche Bahn nicht weit, sagt der Schaffner im Zug.",
        "Der Schaffner am Bahnhof verkauft jede Fahrkarte; die Deutsche Bahn baut Gleise.",
    ],
    "Bäckerei": [
        "Der Bäcker backt Brot aus Mehl und Hefe.",
        "Brot und Brötchen duften, wenn der Bäcker das Mehl siebt.",
        "Ein Teig aus Mehl, Wasser und Hefe wird Brot.",
        "Der Bäcker formt Brötchen aus dem Teig.",
    ],
}
FRENCH = {
    "Révolution française": [
        "La Révolution française commence à Paris; l’assemblée vote une constitution.",
        "Après la Révolution française, le roi quitte l’assemblée.",
        "Le peuple de Paris et la Révolution française: une constitution sans roi.",
        "L’assemblée juge le roi; la Révolution française change la constitution.",
    ],
    "vin": [
        "Le vigneron goûte le vin rouge dans la cave.",
        "Un vin rouge vieillit en barrique, dit le vigneron.",
        "La vigne donne le raisin, le raisin donne le vin rouge.",
        "Dans la cave, chaque barrique de vin rouge attend le vigneron.",
    ],
}
GREEK = {
    "Ευρωπαϊκή Ένωση": [
        "Η Ευρωπαϊκή Ένωση ψήφισε νέους κανόνες στο κοινοβούλιο.",
        "Το κοινοβούλιο και η Ευρωπαϊκή Ένωση συζητούν τους κανόνες.",
        "Στην Ευρωπαϊκή Ένωση οι πολίτες εκλέγουν κοινοβούλιο.",
        "Οι πολίτες και η Ευρωπαϊκή Ένωση αλλάζουν κανόνες.",
    ],
    "θάλασσα": [
        "Το καράβι ταξιδεύει στη γαλάζια θάλασσα με άνεμο.",
        "Ο άνεμος φουσκώνει τα πανιά και το καράβι φεύγει στη θάλασσα.",
        "Στο λιμάνι το καράβι περιμένει τη θάλασσα.",
        "Η θάλασσα, ο άνεμος και το λιμάνι.",
    ],
}
JAPANESE = {
    "機械 学習": [
        "機械 学習 の モデル を データ で 訓練 する",
        "データ と 機械 学習 の モデル",
        "機械 学習 は データ から 予測 する",
        "予測 の モデル を 機械 学習 で 訓練 する",
    ],
    "桜": [
        "春 に 桜 が 咲く 公園 で 花見 を する",
        "公園 の 桜 と 花見 の 春",
        "桜 の 花 が 春 の 公園 に 咲く",
        "花見 の 季節 に 桜 が 咲く",
    ],
}


def known_topics(sentences: dict[str, list[str]], **options: Any) -> topoi.LDA:
    """Two topics that are the two subjects."""
    texts = [text for row in sentences.values() for text in row * 5]
    return of_documents(topoi.Corpus.from_texts(texts, min_df=1, max_df=1.0, **options))


def of_documents(corpus: topoi.Corpus) -> topoi.LDA:
    """The first half of the documents is one topic, the second another."""
    topic = np.repeat(np.repeat(np.arange(2), corpus.n_docs // 2), np.diff(corpus.doc_start))
    return topoi.LDA.from_assignments(corpus, topic, 2, alpha=0.1, random_state=0)


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        (GERMAN, ["Deutsche Bahn", "Bäcker backt Brot"]),
        (FRENCH, ["Révolution française", "vin rouge"]),
        (GREEK, ["Ευρωπαϊκή Ένωση", "καράβι περιμένει"]),
        (JAPANESE, ["機械 学習", "花見"]),
    ],
    ids=["German", "French", "Greek", "Japanese"],
)
def test_labels_in_other_languages(sentences: dict[str, list[str]], expected: list[str]) -> None:
    assert known_topics(sentences).topic_labels() == expected


def test_texts_without_spaces_have_phrases_of_characters() -> None:
    """Every Chinese character is a token; four of them that always stand together make a label."""
    texts = ["他们研究人工智能,很好", "人工智能的模型", "新的人工智能", "人工智能来了"] * 5 + [
        "春天的樱花开了",
        "樱花很美",
        "公园樱花",
        "看樱花",
    ] * 5
    corpus = topoi.Corpus.from_texts(texts, min_df=1, max_df=1.0)
    assert of_documents(corpus).topic_labels() == ["人工智能", "樱花"]


def test_words_that_were_cut_elsewhere_make_labels() -> None:
    rows = [text.split() for row in JAPANESE.values() for text in row * 5]
    labels = of_documents(topoi.Corpus.from_tokens(rows)).topic_labels()
    assert labels[0] == "機械 学習" and len(set(labels)) == 2


def test_hyphens_apostrophes_and_capitals_stay() -> None:
    names = {
        "NASA": ["NASA launched a rocket.", "A rocket of NASA flew.", "NASA and the rocket", "Why NASA?"],
        "Vietnam War": ["The Vietnam War ended.", "In the Vietnam War", "A Vietnam War soldier", "Vietnam War!"],
        "O'Neill": ["O'Neill wrote plays.", "Plays of O'Neill", "He saw O'Neill", "O'Neill spoke of plays"],
        "self-organizing maps": ["Self-organizing maps learn.", "We use self-organizing maps", "self-organizing maps"]
        * 2,
        "BERT": ["BERT encodes tokens.", "Tokens in BERT", "All tokens go to BERT", "BERT"],
    }
    corpus = topoi.Corpus.from_texts([text for row in names.values() for text in row * 4], min_df=1, max_df=1.0)
    topic = np.repeat(np.repeat(np.arange(5), [4 * len(row) for row in names.values()]), np.diff(corpus.doc_start))
    labels = topoi.LDA.from_assignments(corpus, topic, 5, alpha=0.1, random_state=0).topic_labels()
    assert [label.split(", ")[0] for label in labels] == list(names)


def test_function_words_count_in_their_language_alone() -> None:
    """An English text on how to die, with a French name in it, is no German and no French one."""
    words = ["die", "des", "la", "gun", "law", "court"]
    assert function_words(words, np.array([2, 1, 1, 30, 30, 30])) == frozenset()
    german = function_words(["die", "der", "Recht", "Gericht"], np.array([6, 6, 10, 10]))
    assert {"die", "der", "und"} <= german and "la" not in german
