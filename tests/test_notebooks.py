"""The notebooks in examples/notebooks run, and have the outputs of a run with them.

Needs no Jupyter: a notebook is JSON. What is stored is made by ``make notebooks``.
"""

from __future__ import annotations

import ast
import copy
import json
import re

import pytest

import topoi
from shortened import ROOT, run, union

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
MOST_BYTES = 300_000
# An absolute path of any system; not the end of an HTML tag, nor a part of an address.
PATH = re.compile(r"(?<![\w/:.<~])/[A-Za-z][\w.-]*/[\w.-]+|\b[A-Z]:\\")


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def code_cells(notebook):
    return [(cell, "".join(cell["source"])) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def texts_of(output):
    """What an output says, pictures left out: their letters say nothing."""
    said = {kind: text for kind, text in output.get("data", {}).items() if kind != "image/png"}
    return ["".join(text) for text in (*said.values(), output.get("text", ""))]


def ends_in_an_expression(source):
    return isinstance(ast.parse(source).body[-1], ast.Expr)


def check_stored(notebook):
    """Every cell has been run, in order, without errors or warnings, and nothing tells where."""
    assert len(json.dumps(notebook, ensure_ascii=False).encode()) < MOST_BYTES
    for number, (cell, source) in enumerate(code_cells(notebook), 1):
        assert cell["execution_count"] == number, "not run in order"
        assert cell["outputs"] or not ends_in_an_expression(source), f"no output of {source!r}"
        for output in cell["outputs"]:
            assert output["output_type"] != "error" and output.get("name") != "stderr", output
            assert not output.get("metadata"), output
    for text in [source for _, source in code_cells(notebook)] + [
        text for cell, _ in code_cells(notebook) for output in cell["outputs"] for text in texts_of(output)
    ]:
        assert not (found := PATH.search(text)), f"a path: {found[0]}"


def run_cells(notebook, *, cut=True):
    """The cells with the values of their last expressions, run one after the other in one namespace."""
    names: dict[str, object] = {"__name__": "__main__"}
    return [(cell, run("notebook", 1, source, names, cut=cut)) for cell, source in code_cells(notebook)]


def words(html):
    return re.sub(r"<style.*?</style>|<[^>]*>", " ", html, flags=re.DOTALL).split()


def test_there_are_notebooks():
    assert {path.stem for path in NOTEBOOKS} == {"conference-archive", "mailing-list", "state-of-the-union"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stored(path):
    check_stored(read(path))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_run(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(topoi, "load_dataset", lambda name, unit: union(n_words=2000))
    run_cells(read(path))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_tables_are_those_of_a_run(path, tmp_path, monkeypatch, capsys):
    """Uncut, on the real data: the tables are those that are stored. If not, ``make notebooks``, and read the prose."""
    monkeypatch.chdir(tmp_path)
    n_compared = 0
    for cell, value in run_cells(read(path), cut=False):
        results = [output["data"] for output in cell["outputs"] if output["output_type"] == "execute_result"]
        stored = [data["text/html"] for data in results if "text/html" in data]
        if stored:
            bundle = getattr(value, "_repr_mimebundle_", lambda: {})()
            shown = bundle.get("text/html") or value._repr_html_()
            assert words(shown) == words("".join(stored[0]))
            n_compared += 1
    assert n_compared >= 5


def test_a_broken_notebook_is_noticed(tmp_path, monkeypatch):
    good = read(NOTEBOOKS[0])

    def broken(change):
        notebook = copy.deepcopy(good)
        change(next(cell for cell, source in code_cells(notebook) if cell["outputs"] and ends_in_an_expression(source)))
        return notebook

    check_stored(good)
    for change, message in (
        (lambda cell: cell["outputs"].clear(), "no output"),
        (lambda cell: cell["outputs"].append({"output_type": "error", "ename": "NameError"}), "NameError"),
        (lambda cell: cell["outputs"].append({"output_type": "stream", "name": "stderr", "text": ["!"]}), "stderr"),
        (lambda cell: cell["outputs"].append({"output_type": "stream", "text": ["in /somewhere/else.py"]}), "a path"),
        (lambda cell: cell.update(execution_count=7), "not run in order"),
        (lambda cell: cell["outputs"].append({"output_type": "stream", "text": ["x" * MOST_BYTES]}), "assert"),
    ):
        with pytest.raises(AssertionError, match=message):
            check_stored(broken(change))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AttributeError, match="no_such_question"):
        run_cells(broken(lambda cell: cell.update(source=["import topoi\n", "topoi.no_such_question()"])))
