"""Measures of ranked lists against judgements, by ir-measures, and paired tests between methods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from topoi.errors import ModelError
from topoi.retrieval.judged import Question
from topoi.retrieval.ranking import METHODS
from topoi.retrieval.search import Search

MEASURES = ("AP", "P@10", "nDCG@10", "nDCG")
# What other methods are compared with.
BASELINE = "language"
_DEPTH = 1000
_RECALLS = tuple(round(0.1 * i, 1) for i in range(11))


def search_run(
    search: Search, queries: Iterable[Question], method: str | None = None, depth: int = _DEPTH
) -> pd.DataFrame:
    """Ranked lists for queries: query, document (id), score; queries without a known term have no rows.

    Examples
    --------
    >>> import topoi
    >>> from topoi.retrieval.judged import Question
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell"]], ids=["a", "b"])
    >>> search_run(topoi.Search(corpus), [Question("1", "sun"), Question("2", "snow")])["document"].tolist()
    ['a']
    """
    parts = []
    for question in queries:
        found = search.ranked(question.text, question.authors, depth, method)
        parts.append(found.assign(query=question.id)[["query", "id", "score"]])
    frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["query", "id", "score"])
    return frame.rename(columns={"id": "document"})


def measure_run(run: pd.DataFrame, judgements: pd.DataFrame, measures: Sequence[str] = MEASURES) -> pd.DataFrame:
    """Measures of each judged query: query, measure, value; a query without a list has zeros.

    Parameters
    ----------
    run : DataFrame
        query, document, score, as ``search_run`` returns it.
    judgements : DataFrame
        query, document, grade, as ``read_judgements`` returns it. Queries without a relevant document are left out.
    measures : list of str
        Names of ir-measures, such as ``"AP"``, ``"P@10"``, ``"nDCG"``, ``"IPrec@0.1"``.

    Examples
    --------
    >>> import pandas as pd
    >>> run = pd.DataFrame({"query": ["1", "1"], "document": ["a", "b"], "score": [2.0, 1.0]})
    >>> judged = pd.DataFrame({"query": ["1"], "document": ["b"], "grade": [1]})
    >>> measure_run(run, judged, ["AP"]).values.tolist()
    [['1', 'AP', 0.5]]
    """
    ir_measures = _ir_measures()
    judged = judgements[judgements["query"].isin(judgements.loc[judgements["grade"] >= 1, "query"])]
    if judged.empty:
        raise ModelError("no query has a document that is judged relevant")
    qrels = judged.rename(columns={"query": "query_id", "document": "doc_id", "grade": "relevance"})
    # Equal scores stay in the order of the list; ir-measures would order them by the documents' ids.
    ordered = run.sort_values("score", ascending=False, kind="stable")
    place = -ordered.groupby("query").cumcount().astype(float)
    ranked = ordered.assign(score=place).rename(columns={"query": "query_id", "document": "doc_id"})
    try:
        wanted = [ir_measures.parse_measure(name) for name in measures]
    except (NameError, ValueError, SyntaxError) as error:
        raise ModelError(f"ir-measures does not know all of {', '.join(measures)} ({error})") from None
    found = {(m.query_id, str(m.measure)): m.value for m in ir_measures.iter_calc(wanted, qrels, ranked)}
    names = [str(measure) for measure in wanted]
    queries = list(dict.fromkeys(judged["query"]))
    rows = [(query, name, float(found.get((query, name), 0.0))) for query in queries for name in names]
    return pd.DataFrame(rows, columns=["query", "measure", "value"])


def compare_methods(
    runs: dict[str, pd.DataFrame], judgements: pd.DataFrame, baseline: str, measure: str = "AP"
) -> pd.DataFrame:
    """Mean of a measure for several runs, with paired t-tests against one of them over the same queries.

    Returns
    -------
    DataFrame
        method, mean, difference (from the baseline), p (two-sided; NaN for the baseline itself), n_queries.

    Examples
    --------
    >>> import pandas as pd
    >>> good = pd.DataFrame({"query": ["1", "2"], "document": ["b", "b"], "score": [1.0, 1.0]})
    >>> judged = pd.DataFrame({"query": ["1", "2"], "document": ["b", "c"], "grade": [1, 1]})
    >>> compare_methods({"good": good, "same": good}, judged, "good")["mean"].tolist()
    [0.5, 0.5]
    """
    from scipy.stats import ttest_rel

    each = {name: measure_run(run, judgements, [measure])["value"].to_numpy() for name, run in runs.items()}
    rows = []
    for name, values in each.items():
        difference = values - each[baseline]
        tested = name != baseline and bool(np.ptp(difference) > 0)
        p = float(ttest_rel(values, each[baseline]).pvalue) if tested else np.nan if name == baseline else 1.0
        rows.append((name, float(values.mean()), float(difference.mean()), p, len(values)))
    return pd.DataFrame(rows, columns=["method", "mean", "difference", "p", "n_queries"])


def evaluate_search(
    search: Search,
    queries: Sequence[Question],
    judgements: pd.DataFrame,
    methods: Sequence[str] | None = None,
    measures: Sequence[str] = MEASURES,
) -> pd.DataFrame:
    """Quality of a search's methods on a test collection, with paired t-tests against the language model.

    Parameters
    ----------
    search : Search
        The search; documents are known by their ids.
    queries : list of Question
        The queries, as ``topoi.retrieval.judged.read_queries`` reads them.
    judgements : DataFrame
        query, document, grade, as ``topoi.retrieval.judged.read_judgements`` reads them.
    methods : list of str, optional
        Methods of ``Search.query``; all that the search has.
    measures : list of str
        Names of ir-measures, such as ``"AP"``, ``"P@10"``, ``"nDCG"``, ``"IPrec@0.1"``; the first is tested.

    Returns
    -------
    DataFrame
        method, a column per measure (means over queries), difference (of the first measure from the language model's),
        p (two-sided), n_queries.

    Examples
    --------
    >>> import pandas as pd
    >>> import topoi
    >>> from topoi.retrieval.judged import Question
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["sun"], ["cell"]], ids=["a", "b", "c"])
    >>> judged = pd.DataFrame({"query": ["1"], "document": ["a"], "grade": [1]})
    >>> topoi.evaluation.evaluate_search(topoi.Search(corpus), [Question("1", "sun star")], judged)["AP"].tolist()
    [1.0, 1.0]
    """
    asked = tuple(methods) if methods is not None else METHODS if search.topics is not None else METHODS[2:]
    if not measures or not asked:
        raise ModelError("name at least one measure and one method")
    runs = {name: search_run(search, queries, name) for name in dict.fromkeys((*asked, BASELINE))}
    compared = compare_methods(runs, judgements, BASELINE, measures[0])
    means = {name: _means(run, judgements, measures) for name, run in runs.items()}
    rows = [
        {"method": row["method"]} | means[row["method"]] | {k: row[k] for k in ("difference", "p", "n_queries")}
        for row in compared.to_dict("records")
        if row["method"] in asked
    ]
    return pd.DataFrame(rows)


def _means(run: pd.DataFrame, judgements: pd.DataFrame, measures: Sequence[str]) -> dict[str, float]:
    found = measure_run(run, judgements, measures).groupby("measure", sort=False)["value"].mean()
    return {str(name): float(value) for name, value in found.items()}


def precision_recall(run: pd.DataFrame, judgements: pd.DataFrame) -> pd.DataFrame:
    """Interpolated precision at eleven levels of recall, averaged over queries: recall, precision.

    Examples
    --------
    >>> import pandas as pd
    >>> run = pd.DataFrame({"query": ["1", "1"], "document": ["a", "b"], "score": [2.0, 1.0]})
    >>> judged = pd.DataFrame({"query": ["1"], "document": ["b"], "grade": [1]})
    >>> precision_recall(run, judged)["precision"].unique().tolist()
    [0.5]
    """
    frame = measure_run(run, judgements, [f"IPrec@{recall}" for recall in _RECALLS])
    mean = frame.groupby("measure", sort=False)["value"].mean()
    return pd.DataFrame({"recall": _RECALLS, "precision": mean.to_numpy()})


def _ir_measures() -> Any:
    try:
        import ir_measures
    except ImportError:
        raise ImportError('retrieval measures need ir-measures: pip install "topoi[retrieval]"') from None
    return ir_measures
