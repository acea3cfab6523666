"""Corpora, models and views in notebooks: HTML that is well-formed, and from which no name of a file can escape."""

from html.parser import HTMLParser

import pytest
from sklearn import config_context

import topoi

NASTY = "<script>alert(1)</script>"
ALLOWED = {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td", "span", "code"}


class Balanced(HTMLParser):
    """Fails on a tag that is not ours, or not closed."""

    def __init__(self):
        super().__init__()
        self.open, self.texts = [], []

    def handle_starttag(self, tag, attributes):
        assert tag in ALLOWED and {name for name, _ in attributes} <= {"style"}
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def texts_of(html):
    parser = Balanced()
    parser.feed(html)
    parser.close()
    assert not parser.open
    return parser.texts


def nasty_corpus(n_docs=8):
    return topoi.Corpus.from_texts(
        [f"{NASTY} red fish swim" if d % 2 else "old ships & seas" for d in range(n_docs)],
        authors=[f"Ann {NASTY}"] * n_docs,
        titles=[f"{NASTY} & a title that goes on {'and on ' * 40}"] * n_docs,
        dates=[2000] * n_docs,
        pattern=r"\S+",
    )


def test_a_corpus_shows_its_first_documents():
    found = texts_of(nasty_corpus()._repr_html_())
    assert found[0].startswith("Corpus: 8 documents") and "and 3 more; " in found
    assert any(NASTY in each for each in found), "shown as text"
    assert max(map(len, found)) <= 130


@pytest.mark.parametrize(
    "make", [lambda: topoi.Corpus.from_tokens([]), lambda: topoi.Corpus.from_tokens([["a", "b"], []])]
)
def test_odd_corpora(make):
    assert texts_of(make()._repr_html_())


def test_a_corpus_on_disk(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,authors\nred fish,Ann\nred birds,Bob\n", encoding="utf-8")
    corpus = topoi.read_corpus(path, on_disk=tmp_path / "a.corpus", min_df=1, max_df=1.0)
    assert "red birds" in texts_of(corpus._repr_html_())


@pytest.mark.parametrize("family", [topoi.LDA, topoi.PLSI, topoi.AspectModel])
def test_a_fitted_model_shows_its_topics(family):
    model = family(3, n_iter=3, random_state=0).fit(nasty_corpus())
    found = texts_of(model._repr_html_())
    assert found[0].startswith(family.__name__) and sum("%" in each for each in found) == 3
    assert NASTY.lower() in " ".join(found)
    assert model._repr_mimebundle_()["text/html"] == model._repr_html_()


def test_many_topics_are_cut_short():
    found = texts_of(topoi.LDA(20, n_iter=2, random_state=0).fit(nasty_corpus())._repr_html_())
    assert sum("%" in each for each in found) == 12 and "and 8 more: " in found


def test_a_model_without_topics():
    found = texts_of(topoi.AuthorModel(n_iter=2, random_state=0).fit(nasty_corpus())._repr_html_())
    assert found[0].startswith("AuthorModel")


def test_before_the_fit_it_is_what_scikit_learn_shows():
    model = topoi.LDA(3)
    assert "sk-" in model._repr_html_() and "n_topics" in repr(model)
    with config_context(display="text"):
        assert "text/html" not in model.fit(nasty_corpus())._repr_mimebundle_()


def test_a_view_shows_the_same_topics(tmp_path):
    model = topoi.LDA(3, n_iter=3, random_state=0).fit(nasty_corpus())
    model.save(tmp_path / "a.topoi")
    found = texts_of(topoi.view(tmp_path / "a.topoi")._repr_html_())
    assert sum("%" in each for each in found) == 3 and NASTY.lower() in " ".join(found)
