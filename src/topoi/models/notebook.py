"""HTML of fitted models for notebooks: what was fitted, and the largest topics. Words and names are escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topoi.corpus.notebook import shortened, table

if TYPE_CHECKING:
    import pandas as pd

    from topoi.models.base import FittedModel

_TOPICS = 12
_WORDS = 8
_BAR = "display:inline-block;height:0.6em;background:currentColor;opacity:0.5;width:{width:.1f}em"


def topics_html(title: str, sizes: pd.DataFrame, words: dict[int, list[str]], note: str) -> str:
    """The largest topics as HTML: number, share with a bar, leading words.

    Parameters
    ----------
    title : str
        Line above the table.
    sizes : DataFrame
        Columns topic and share.
    words : dict
        Leading words of each topic.
    note : str
        HTML below, if topics are left out.
    """
    largest = sizes.sort_values("share", ascending=False, kind="stable").head(_TOPICS)
    most = max(float(largest["share"].max()), 1e-12) if len(largest) else 1.0
    rows = [
        [
            str(int(topic)),
            f'{share:.1%} <span style="{_BAR.format(width=6 * share / most)}"></span>',
            "  ".join(shortened(word, 40) for word in words.get(int(topic), [])),
        ]
        for topic, share in zip(largest["topic"], largest["share"], strict=True)
    ]
    rest = len(sizes) - len(largest)
    return table(title, ["topic", "share", "words"], rows, f"and {rest:,} more: {note}" if rest > 0 else "")


def model_html(model: FittedModel) -> str:
    """A fitted model as HTML: family, sweeps, corpus and, if it has topics, the largest ones."""
    what = f"{type(model).__name__}, {model.n_iter_:,} iterations, {repr(model.corpus_).strip('<>').lower()}"
    from topoi.models.tables import Tables  # with scikit-learn, which views do without

    if not isinstance(model, Tables):
        return table(what, [], [])
    frame = model.top_words(_WORDS, relevance=0.6)
    words = {int(topic): part["word"].tolist() for topic, part in frame.groupby("topic")}
    return topics_html(what, model.topic_sizes(level=None), words, "<code>model.top_words()</code>")
