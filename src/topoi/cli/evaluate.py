"""``topoi evaluate``: held-out likelihood and perplexity of documents."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli import fit_options as given
from topoi.cli import look
from topoi.cli.documents import document_line
from topoi.cli.models import counted
from topoi.cli.options import AsCsv, AsJson, ModelFile, ModelName, available_cores, check_file, split_names
from topoi.cli.output import check_one_format, print_frame
from topoi.cli.search import print_search_measures
from topoi.errors import ModelError
from topoi.models.contract import ModelLike, ReadsMetadata

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from topoi.corpus.corpus import Corpus


class Estimator(StrEnum):
    """Estimator of the probability of a document."""

    filter = "filter"
    left_to_right = "left-to-right"
    empirical = "empirical"


def evaluate(
    file: ModelFile,
    held_out: Annotated[
        Path | None, typer.Argument(metavar="[DOCUMENTS]", help="Documents in any form that `topoi fit` reads.")
    ] = None,
    queries: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Queries: measure how well the model searches.")
    ] = None,
    qrels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Judgements: which documents are relevant to which query.")
    ] = None,
    measures: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Measures of search.  [default: AP,P@10,nDCG@10,nDCG]")
    ] = None,
    estimator: Annotated[
        Estimator | None,
        typer.Option(help="How probabilities are estimated.  [default: filter]"),
    ] = None,
    shown: Annotated[
        str | None,
        typer.Option(
            "--given",
            metavar="metadata|words|N",
            help="Of models with features: plug in the mixture predicted from metadata, and N words.",
        ),
    ] = None,
    particles: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Particles of filter and left-to-right.  [default: until it settles]"),
    ] = None,
    samples: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Samples of empirical.  [default: 1000]")
    ] = None,
    every_model: Annotated[bool, typer.Option("--all", help="Compare all models of the file.")] = False,
    documents: Annotated[bool, typer.Option("--documents", help="A row for every document.")] = False,
    n: Annotated[int, typer.Option("-n", "--n", metavar="N", min=0, help="Best and worst documents to show.")] = 3,
    text: given.TextFields = None,
    authors: given.AuthorFields = None,
    date: given.DateField = None,
    title: given.TitleField = None,
    id_field: given.IdField = None,
    on_error: given.OnErrorOption = given.OnError.stop,
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Seed of the random draws.  [default: the model's]")
    ] = None,
    jobs: given.Jobs = None,
    name: ModelName = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show how well a model predicts new documents, or, with --queries and --qrels, how well it searches its own."""
    check_one_format(as_json, as_csv)
    if queries is not None or qrels is not None:
        if queries is None or qrels is None or held_out is not None:
            raise typer.BadParameter("search is measured by --queries and --qrels, both, and without DOCUMENTS")
        print_search_measures(file, name, queries, qrels, split_names(measures), as_json, as_csv)
        return
    if held_out is None:
        raise typer.BadParameter("give DOCUMENTS that the model has not seen, or --queries and --qrels")
    if measures is not None:
        raise typer.BadParameter("--measures are those of search; give --queries and --qrels")
    if every_model and (documents or name is not None):
        raise typer.BadParameter("--all is for one row per model; leave out --documents and --name")
    if shown is not None and estimator is not None:
        raise typer.BadParameter("--given and --estimator are two ways to score: leave one out")
    given_words = observed(shown)
    options = effort(estimator or Estimator.filter, particles, samples, seed)
    check_file(file)
    if not held_out.exists():
        raise FileNotFoundError(2, "No such file", str(held_out))
    fields = {"text": split_names(text), "authors": split_names(authors), "date": date, "title": title, "id": id_field}
    reading = {k: v for k, v in fields.items() if v is not None} | {"on_error": on_error.value}

    def way_of(model: ModelLike) -> tuple[str, str, dict[str, Any]]:
        return way(model, estimator, given_words, options)

    rows, summary = scores(file, [name], every_model, Documents(held_out, reading), way_of, jobs or available_cores())
    if documents:
        print_frame(rows.drop(columns="n_unknown"), as_json=as_json, as_csv=as_csv)
        return

    def render(frame: pd.DataFrame, screen: Console) -> None:
        if every_model:
            draw_comparison(frame, screen)
        else:
            draw_summary(frame.to_dict("records")[0], screen)
            draw_extremes(rows, n, screen)

    print_frame(summary, as_json=as_json, as_csv=as_csv, render=render)


class Documents:
    """Held-out documents in a file's vocabulary, read once for models with features and once for the others."""

    def __init__(self, path: Path, reading: dict[str, Any]) -> None:
        self.path, self._reading = path, reading
        self._found: dict[str, Corpus] = {}

    def of(self, model: Any) -> Corpus:
        """Documents for one model; all models of a file share the vocabulary."""
        from topoi import read_corpus

        # Somebody new is a feature too; other models do without.
        newcomers = "add" if isinstance(model, ReadsMetadata) else "drop"
        if newcomers not in self._found:
            self._found[newcomers] = read_corpus(self.path, like=model.corpus_, new_authors=newcomers, **self._reading)
        corpus = self._found[newcomers]
        if not corpus.n_tokens:
            raise ModelError(f"none of the words of {self.path} is in the model's vocabulary")
        if len(model.authors_):
            note_unknown_authors(corpus)
        return corpus


def scores(
    file: Path, names: list[str | None], every_model: bool, held_out: Documents, way_of: Any, jobs: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Score the documents: a frame with a row per document under the last model, and one with a row per model."""
    import pandas as pd

    import topoi

    if every_model:
        names = topoi.open_store(file).models()["name"].tolist()
    rows, summaries = pd.DataFrame(), []
    for each in names:
        model = topoi.load(file, each)
        model.n_jobs = jobs
        how, label, options = way_of(model)
        corpus = held_out.of(model)
        rows = topoi.evaluation.heldout(model, corpus, how, **options)
        if not rows["n_words"].sum():
            raise ModelError(f"no document of {held_out.path} has a word left to predict; give fewer words")
        summary = topoi.evaluation.heldout_summary(rows).assign(n_unknown=corpus.report.n_unknown_tokens)
        about = {"name": each, "model": type(model).__name__} if every_model else {"model": type(model).__name__}
        summaries.append(pd.DataFrame([about | {"estimator": label}]).join(summary))
    return rows, pd.concat(summaries, ignore_index=True)


def effort(estimator: Estimator, particles: int | None, samples: int | None, seed: int | None) -> dict[str, int]:
    """Options of the estimator; an option of another estimator is an error, not ignored.

    Examples
    --------
    >>> effort(Estimator.empirical, None, 500, 3)
    {'n_samples': 500, 'random_state': 3}
    """
    sampled = estimator is Estimator.empirical
    if (particles if sampled else samples) is not None:
        raise typer.BadParameter(f"{'--particles' if sampled else '--samples'} does not apply to {estimator.value}")
    options = {"n_samples": samples, "n_particles": particles, "random_state": seed}
    return {option: value for option, value in options.items() if value is not None}


def observed(given: str | None) -> str | int | None:
    """Parse ``--given`` of models with features: ``metadata``, ``words``, or a number of words.

    Examples
    --------
    >>> observed("metadata"), observed("16")
    ('metadata', 16)
    """
    if given is None or given in ("metadata", "words"):
        return given
    if not given.isdecimal():
        raise typer.BadParameter(f"--given {given}: metadata, words, or a number of words")
    return int(given)


def way(
    model: ModelLike, estimator: Estimator | None, given: str | int | None, options: dict[str, int]
) -> tuple[str, str, dict[str, Any]]:
    """Choose the estimator of a model: its name, its name for display, its options; an unsuitable one is an error."""
    family = type(model).__name__
    if not isinstance(model, ReadsMetadata):
        if given is not None:
            raise typer.BadParameter(f"--given is for models with features; the {family} has none")
        how = (estimator or Estimator.filter).value
        return how, how, options
    if given is not None:
        if "n_particles" in options:
            raise typer.BadParameter("--particles does not apply to --given: nothing in that score is drawn")
        label = given if isinstance(given, str) else f"metadata and {counted(given, 'word')}"
        return "filter", "metadata and all words" if given == "words" else label, {"given": given}
    how = (estimator or Estimator.filter).value
    return how, how, options


def note_unknown_authors(corpus: Corpus) -> None:
    """Print the number of documents without an author that the model knows."""
    import numpy as np

    unknown = int((np.diff(corpus.doc_author_start) == 0).sum())
    if unknown:
        what = "1 document has" if unknown == 1 else f"{unknown:,} documents have"
        look.say(f"topoi: note: {what} no author that the model knows: somebody new wrote them", err=True)


def draw_summary(row: dict[Any, Any], screen: Console) -> None:
    """Print what was scored, and the three numbers that papers report, one per line."""
    from rich.text import Text

    unknown = f", {counted(row['n_unknown'], 'unknown word')} left out" if row["n_unknown"] else ""
    scored = f"{counted(row['n_docs'], 'document')}, {counted(row['n_words'], 'word')}{unknown}"
    screen.print(look.row(Text(row["model"], style="bold"), Text(scored, style="dim")), soft_wrap=True)
    lines = {
        "perplexity": f"{row['perplexity_tokens']:,.1f}  over all words",
        "": f"{row['perplexity_documents']:,.1f}  mean over documents",
        "bits per word": f"{row['bits_per_word']:.4f}",
        "log likelihood": f"{row['log_likelihood']:,.1f}",
    }
    for what, value in lines.items():
        number, _, rest = value.partition("  ")
        screen.print(look.row((Text(what, style="dim"), 14), (number.rjust(14), 14), Text(rest, style="dim")))


def draw_comparison(frame: pd.DataFrame, screen: Console) -> None:
    """Print a line per model, the best first."""
    from rich.text import Text

    rows = frame.sort_values("bits_per_word").to_dict("records")
    names = [look.printable(row["name"])[: look.at_most(28, screen)] for row in rows]
    width = max(map(len, names))
    screen.print(Text(f"{'':{width}}  bits per word  {'perplexity':>12}", style="dim"))
    for row, name in zip(rows, names, strict=True):
        bits, perplexity = f"{row['bits_per_word']:.4f}".rjust(13), f"{row['perplexity_tokens']:,.1f}".rjust(12)
        screen.print(look.row((Text(name, style="bold"), width), (bits, 13), (perplexity, 12)))


def draw_extremes(rows: pd.DataFrame, n: int, screen: Console) -> None:
    """Print the documents that are predicted best and worst, with their perplexities."""
    from rich.text import Text

    ordered = rows.dropna(subset="perplexity").sort_values("perplexity", kind="stable")
    if not n or ordered.empty:
        return
    few = len(ordered) <= 2 * n
    parts = {"all documents": ordered} if few else {"predicted best": ordered.head(n), "worst": ordered.tail(n)}
    for heading, part in parts.items():
        screen.print(Text(f"\n{heading}", style="dim"))
        for row in part.to_dict("records"):
            start = look.row((Text(f"{row['perplexity']:,.0f}".rjust(9)), 9))
            screen.print(document_line(start, row, screen.width))
