"""The options of ``topoi fit``, grouped as its help shows them."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

DEFAULT_TOPICS = 100
DEFAULT_SUPER, DEFAULT_SUB = 50, 100
DEFAULT_ASPECTS, DEFAULT_ASPECT_STEPS = 10, 1000
DEFAULT_KERNEL_TOPICS, DEFAULT_KERNEL_SWEEPS = 10, 1000
DEFAULT_SWEEPS = 500


class Family(StrEnum):
    """The models that can be fitted from the command line."""

    author_topic = "author-topic"
    lda = "lda"
    author = "author"
    pachinko = "pachinko"
    aspect = "aspect"
    kernel = "kernel"
    dmr = "dmr"


CLASSES = {
    Family.author_topic: "AuthorTopicModel",
    Family.lda: "LDA",
    Family.author: "AuthorModel",
    Family.pachinko: "PachinkoAllocation",
    Family.aspect: "AspectModel",
    Family.kernel: "KernelTopicModel",
    Family.dmr: "DirichletMultinomialRegression",
}


def family_named(given: str) -> Family:
    """A family by its name or its class, in any letter case, with or without hyphens.

    Examples
    --------
    >>> family_named("LDA").value, family_named("author_topic").value, family_named("AuthorTopicModel").value
    ('lda', 'author-topic', 'author-topic')
    """
    named = {_letters(name): family for family in Family for name in (family.value, CLASSES[family])}
    if _letters(given) not in named:
        raise typer.BadParameter(f"{given!r} is none of {', '.join(Family)}")
    return named[_letters(given)]


def _letters(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


def _families_beginning(incomplete: str) -> list[str]:
    """The families' names that complete what was typed."""
    return [family.value for family in Family if family.value.startswith(incomplete.casefold())]


class Inference(StrEnum):
    """How an aspect model, or a kernel topic model, finds documents' mixtures."""

    ep = "ep"
    vb = "vb"
    laplace = "laplace"
    bridge = "bridge"


class Learning(StrEnum):
    """What an aspect model maximises."""

    em = "em"
    bound = "bound"


class OnError(StrEnum):
    """What to do with a document that cannot be read."""

    stop = "raise"
    skip = "skip"


def shard_count(given: str) -> int | str:
    """A number of shards, or ``"auto"``.

    Examples
    --------
    >>> shard_count("4"), shard_count("auto")
    (4, 'auto')
    """
    if given == "auto":
        return given
    if given.isdecimal() and int(given) > 0:
        return int(given)
    raise typer.BadParameter(f"{given!r} is neither a positive number nor auto")


def count_or_share(given: str) -> int | float:
    """A whole number is a number of documents, one with a point is a share of them.

    Examples
    --------
    >>> count_or_share("5"), count_or_share("0.8"), count_or_share("1.0")
    (5, 0.8, 1.0)
    """
    try:
        number = float(given) if "." in given else int(given)
    except ValueError:
        raise typer.BadParameter(f"{given!r} is not a number") from None
    if number < 0 or (isinstance(number, float) and number > 1):
        raise typer.BadParameter(f"{given!r} is neither a number of documents nor a share between 0.0 and 1.0")
    return number


_field = partial(typer.Option, rich_help_panel="Fields of a document")
_word = partial(typer.Option, rich_help_panel="Words")
_model = partial(typer.Option, rich_help_panel="Model")
_sampling = partial(typer.Option, rich_help_panel="Sampling")
_output = partial(typer.Option, rich_help_panel="Output")

Source = Annotated[
    Path,
    typer.Argument(
        metavar="SOURCE", help="A .jsonl, .json, .csv, .tsv, .parquet, .mbox, .txt or .zip file, a folder of .txt."
    ),
]

ModelFamily = Annotated[
    Family | None,
    _model(
        "-m",
        "--model",
        metavar=f"[{'|'.join(Family)}]",
        parser=family_named,
        autocompletion=_families_beginning,
        help="The family of models.  [default: author-topic, or lda if no document has an author]",
    ),
]
Topics = Annotated[
    int | None,
    _model(
        "-k",
        "--topics",
        metavar="K",
        min=1,
        help=f"Topics.  [default: {DEFAULT_TOPICS}; kernel {DEFAULT_KERNEL_TOPICS}]",
    ),
]
SuperTopics = Annotated[
    int | None,
    _model("--super", metavar="S", min=1, help=f"Super-topics (pachinko).  [default: {DEFAULT_SUPER}]"),
]
SubTopics = Annotated[
    int | None,
    _model("--sub", metavar="K", min=1, help=f"Sub-topics (pachinko).  [default: {DEFAULT_SUB}]"),
]
Graph = Annotated[
    Path | None, _model("--dag", metavar="FILE", help="A graph of topics as JSON, instead of --super and --sub.")
]
Aspects = Annotated[
    int | None,
    _model("--aspects", metavar="A", min=1, help=f"Number of aspects (aspect).  [default: {DEFAULT_ASPECTS}]"),
]
InferenceOption = Annotated[
    Inference | None,
    _model(
        "--inference",
        help="ep or vb (aspect), laplace or bridge (kernel).  [default: the first]",
        show_choices=False,
        metavar="HOW",
        show_default=False,
        case_sensitive=False,
    ),
]
LearningOption = Annotated[
    Learning | None,
    _model(
        "--learning",
        help="EM, or the largest estimate (aspect).  [default: em]",
        show_default=False,
        case_sensitive=False,
    ),
]
Features = Annotated[
    str | None,
    _model(
        "--features", metavar="A,B", help="Columns that topics depend on (kernel, dmr); with a kind: year:date,venue."
    ),
]
Width = Annotated[
    str | None,
    _model("--width", metavar="X|auto|cv|none", help="Years between bumps in time (dmr).  [default: auto]"),
]
Variance = Annotated[
    str | None, _model("--variance", metavar="X|cv", help="Prior variance of coefficients (dmr).  [default: 0.5]")
]
Refit = Annotated[
    bool,
    _model("--refit", help="Fit coefficients once more in the end, to topics that metadata did not shape (dmr)."),
]
Alpha = Annotated[
    float | None,
    _model(
        "--alpha", metavar="X", help="Prior weight of each topic.  [default: 50 / topics; aspect 5 / aspects; dmr 0.1]"
    ),
]
Beta = Annotated[
    float | None,
    _model(
        "--beta",
        metavar="X",
        help="Prior weight of each word in a topic.  [default: 0.01; aspect 0.05; for author learned]",
    ),
]
LearnAlpha = Annotated[bool, _model("--learn-alpha", help="Learn alpha.")]
LearnBeta = Annotated[bool, _model("--learn-beta", help="Learn beta while sampling.")]
FictitiousAuthors = Annotated[
    bool, _model("--fictitious-authors", help="Give each document an author of its own as well.")
]
Sparse = Annotated[
    bool, _model("--sparse", help="For many topics: start from few documents, prune candidates (lda, pachinko).")
]

Iterations = Annotated[
    int | None,
    _sampling(
        "-i",
        "--iterations",
        metavar="N",
        min=1,
        help=f"Sweeps over the corpus.  [default: {DEFAULT_SWEEPS}; kernel, aspect at most {DEFAULT_KERNEL_SWEEPS}]",
    ),
]
Warmup = Annotated[
    int | None,
    _sampling("--warmup", metavar="N", min=0, help="Sweeps without features (kernel, dmr).  [default: 100; dmr 50]"),
]
Chains = Annotated[int, _sampling("--chains", metavar="N", min=1, help="Independent chains; random starts (aspect).")]
Jobs = Annotated[
    int | None,
    _sampling("-j", "--jobs", metavar="N", min=1, help="Threads; they do not change the result.  [default: all]"),
]
Shards = Annotated[
    str,
    _sampling("--shards", metavar="N|auto", help="Parts sampled side by side; 1 is exact, more is approximate."),
]
Seed = Annotated[int, _sampling("--seed", metavar="N", min=0, help="Seed of the random draws.")]
Checkpoint = Annotated[
    Path | None, _sampling("--checkpoint", metavar="FILE", help="Keep progress here, and continue from it.")
]

TextFields = Annotated[str | None, _field("--text", metavar="A,B", help="Fields with the text.")]
AuthorFields = Annotated[str | None, _field("--authors", metavar="A,B", help="Fields with the authors.")]
DateField = Annotated[str | None, _field("--date", metavar="A", help="Field with the date or year.")]
TitleField = Annotated[str | None, _field("--title", metavar="A", help="Field with the title.")]
IdField = Annotated[str | None, _field("--id", metavar="A", help="Field that identifies the document.")]
OnErrorOption = Annotated[OnError, _field("--on-error", help="What to do with a document that cannot be read.")]

MinDf = Annotated[
    str | None, _word("--min-df", metavar="N", help="Drop words in fewer documents; with a point, a share: 0.01.")
]
MaxDf = Annotated[
    str | None, _word("--max-df", metavar="N", help="Drop words in more documents; with a point, a share: 0.8.")
]
MaxWords = Annotated[int | None, _word("--max-words", metavar="N", min=1, help="Keep the N most frequent words.")]
StopWords = Annotated[
    str | None, _word("--stop-words", metavar="FILE|english|none", help="Words to leave out.  [default: english]")
]
FunctionWords = Annotated[
    bool | None,
    _word(
        "--function-words/--no-function-words",
        help="Keep words like upon and while, which tell authors apart.  [default: for --model author]",
    ),
]
Phrases = Annotated[bool, _word("--phrases", help="Join words that belong together, such as new_york.")]

Output = Annotated[
    Path | None, _output("-o", "--output", metavar="FILE", help="Where to save.  [default: SOURCE's name with .topoi]")
]
Name = Annotated[
    str | None,
    _output("--name", metavar="NAME", help="What to call the model; an existing file keeps its other models."),
]
Force = Annotated[bool, _output("--force", help="Replace an existing file; with --name, only that model.")]
Quiet = Annotated[bool, _output("-q", "--quiet", help="No report, no progress, no summary.")]
