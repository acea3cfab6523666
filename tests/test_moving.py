"""The right column of the tables of docs/moving: every name, argument, command and option is one that topoi has.

The blocks of these pages run in ``test_manual.py``. A call in a table is not run, but its arguments must fit the
signature.
"""

from __future__ import annotations

import ast
import inspect
import re
import shlex
from itertools import chain

import numpy as np
import pytest
import typer

import topoi
from shortened import FAMILIES, ROOT
from topoi.cli.main import app
from topoi.corpus.analysis import Analysis
from topoi.corpus.tokenize import Analyzer
from topoi.models import registry
from topoi.models.editing.editor import Editor

PAGES = sorted((ROOT / "docs" / "moving").glob("*.md"))
VERBS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
OPTIONS = {model.option for family in registry.built_in() for model in family.models}
MODELS = tuple(getattr(topoi, name) for name in sorted(FAMILIES))
FILE = re.compile(r"[\w-]+\.(txt|gz|topoi|json|jsonl)|folder/")
# What a reader brings, and what scikit-learn asks of an estimator.
BROUGHT = set("a b bag dictionary new other FILE clone get_feature_names_out set_output GridSearchCV Pipeline".split())
NAMES = {"topoi", "model", "corpus"}
UNKNOWN = object()  # a result, of which nothing is asked


@pytest.fixture(scope="module")
def fitted():
    """What a fit leaves on a model, beside what is written on its class."""
    return {"model": topoi.LDA(2, n_iter=1, random_state=0).fit([["sun"], ["gene"]])}


def rows(text):
    """Cells of tables whose columns are there, here and what differs."""
    for table in re.findall(r"^\| there \| here \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", text, re.MULTILINE):
        for line in table.splitlines():
            yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def spans(cell):
    return re.findall(r"`([^`]+)`", cell)


def parameters(*callables):
    return set(chain.from_iterable(inspect.signature(each).parameters for each in callables))


SETTINGS = parameters(*MODELS, topoi.Corpus.from_texts, Analysis, Analyzer, topoi.LDA.save) - {"self", "analysis"}


def members(found, name, fitted):
    """What ``.name`` may be: of a model, that of every family that has it."""
    if found == "model":
        some = [getattr(each, name) for each in MODELS if hasattr(each, name)]
        assert some or hasattr(fitted["model"], name), f"no model has {name}"
        return some or [UNKNOWN]
    if found == "array":
        assert hasattr(np.ndarray, name), f"arrays have no {name}"
        return [UNKNOWN]
    assert found is not UNKNOWN, f"nobody knows of what {name} is asked"
    some = [each for each in found if hasattr(each, name)]
    assert some, f"no {name}"
    return [getattr(each, name) for each in some]


def result(called, owner):
    """What a call gives, as far as the next step of a chain needs it."""
    if any(inspect.isclass(each) for each in called):
        return "model" if set(called) & set(MODELS) else called
    if any(each is topoi.load for each in called):
        return "model"
    if any(each is topoi.edit for each in called):
        return [Editor]
    return owner if all(getattr(each, "__annotations__", {}).get("return") == "Self" for each in called) else UNKNOWN


def fits(called, node):
    """The arguments fit what is called, or one of what may be called."""
    given = [each for each in node.args if getattr(each, "value", None) is not ...]
    names = {each.arg: each.value for each in node.keywords if each.arg}
    mistakes = []
    for each in called:
        if each is UNKNOWN:
            return
        signature = inspect.signature(each)
        owner = [None] if inspect.isfunction(each) and "self" in signature.parameters else []
        if any(one.kind is one.VAR_KEYWORD for one in signature.parameters.values()):
            assert set(names) <= SETTINGS | set(signature.parameters), f"no {set(names) - SETTINGS}"
        try:
            signature.bind_partial(*owner, *given, **names)
        except TypeError as error:
            mistakes.append(str(error))
        else:
            return
    raise AssertionError(f"{ast.unparse(node)}: {mistakes}")


def resolve(node, fitted):
    """What an expression is; an error if a name of it is not there."""
    match node:
        case ast.Name(id="topoi"):
            return [topoi]
        case ast.Name(id="model"):
            return "model"
        case ast.Name(id="corpus"):
            return [topoi.Corpus]
        case ast.Attribute(value=owner, attr=name):
            if isinstance(owner, ast.Name) and owner.id == "pyLDAvis":
                return [UNKNOWN]
            return members(resolve(owner, fitted), name, fitted)
        case ast.Call(func=function):
            called = resolve(function, fitted)
            fits(called, node)
            other = called == [UNKNOWN] or not isinstance(function, ast.Attribute)
            owner = UNKNOWN if other else resolve(function.value, fitted)
            for each in (*node.args, *(keyword.value for keyword in node.keywords)):
                if NAMES & {part.id for part in ast.walk(each) if isinstance(part, ast.Name)}:
                    resolve(each, fitted)
            return result(called, owner)
        case ast.Subscript(value=owner):
            resolve(owner, fitted)
            return "array"
        case ast.Name(id=name):
            known = name in SETTINGS | BROUGHT or hasattr(fitted["model"], name)
            assert known, f"{name} is not a setting, nor a part of a model"
    return UNKNOWN


def check_command(words):
    """The verb exists, and so do its options; without a verb they are those of ``topoi fit``."""
    verb = words[1] if words[0] == "topoi" else "fit"
    known = {name for each in VERBS[verb].params for name in (*each.opts, *each.secondary_opts)}
    typed = {word.split("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)}
    assert typed <= known, f"no {sorted(typed - known)}"
    for option, name in zip(words, words[1:], strict=False):
        if option == "--model":
            assert name in OPTIONS, f"no model {name}"


def check(span, fitted):
    """A piece of code of a table: a command, options of one, a file, a setting, or Python."""
    source = span.replace("…", "...")
    if re.match(r"topoi [a-z]|--?[a-zA-Z]", source):
        check_command(shlex.split(source))
    elif not FILE.fullmatch(source):
        if keyword := re.fullmatch(r"(\w+)=(.*)", source):  # a setting, with or without a value
            assert keyword[1] in SETTINGS, f"no setting {keyword[1]}"
            ast.parse(keyword[2] or "None", mode="eval")
        else:
            resolve(ast.parse(source, mode="eval").body, fitted)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_right_column_is_there(page, fitted):
    text = page.read_text(encoding="utf-8")
    table = list(rows(text))
    assert len(table) > 10 or page.stem == "index"
    mistakes = []
    for cells in table:
        there, here, *remark = cells
        assert len(remark) == 1, f"three cells: {there}"
        for span in chain(spans(here), (each for each in spans(remark[0]) if re.match(r"topoi[. ]", each))):
            try:
                check(span, fitted)
            except (AssertionError, KeyError, SyntaxError) as error:
                mistakes.append(f"{span}: {error!r}")
    assert not mistakes, "\n".join(mistakes)


@pytest.mark.parametrize(
    "span",
    [
        "topoi.Corpora",
        "topoi.plots.topic_maps(model)",
        "topoi.Corpus.from_text(texts)",
        "topoi.Corpus.from_texts(texts, min_dff=5)",
        "topoi.LDA(20, n_iters=100)",
        "topoi.LDA(20).fits(lists)",
        "topoi.edit(model).merged(3, 7).commit()",
        "topoi.edit(model).merge(3, 7).comit()",
        "topoi.evaluation.coherence(model, corpus, measures='c_v')",
        "pyLDAvis.prepare(**topoi.exchange.to_pyldaviz(model))",
        "model.top_word(10)",
        "model.top_words(10, topics=3)",
        "model.topics_word_[3]",
        "model.transform(corpus.encoded(new_texts))",
        "corpus.n_token",
        "learn_alphas=True",
        "alphas",
        "topoi fit papers.csv --topic 100",
        "topoi brows m.topoi",
        "--optimize-interval 10",
        "--model dmrr",
    ],
)
def test_a_wrong_name_is_noticed(span, fitted):
    with pytest.raises((AssertionError, KeyError)):
        check(span, fitted)
