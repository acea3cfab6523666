"""``topoi fit``: from a file of documents to a fitted model in one file."""

from __future__ import annotations

import shlex
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from topoi.cli import fit_options as given
from topoi.cli import look
from topoi.cli.authors import author_words_frame, draw_author_words
from topoi.cli.model_options import AUTO, after_fit, given_flags, new_model, with_model_options
from topoi.cli.options import AsCsv, AsJson, available_cores
from topoi.cli.output import check_one_format, print_frame
from topoi.cli.saving import (
    checkpoint_beside,
    checkpoint_settings,
    naming,
    refuse_corpus,
    refuse_name,
    refuse_overwriting,
    save_soon,
    say_how_to_go_on,
)
from topoi.cli.signals import nothing_to_keep, nothing_to_lose, something_to_lose
from topoi.cli.topics import draw_topics, topics_frame
from topoi.errors import CorpusError
from topoi.models.contract import LoadedModel
from topoi.models.options import TOPICS
from topoi.models.registry import Model, default_model, model_named

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from topoi.corpus.corpus import Corpus

TOPICS_IN_SUMMARY = 8
ITERATIONS_OF_SEARCH = 200
KNOWN_ENDINGS = (".gz", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".mbox", ".txt", ".zip", ".corpus")


@with_model_options
def fit(
    source: given.Source,
    model: given.ModelOption = None,
    jobs: given.Jobs = None,
    seed: given.Seed = 0,
    text: given.TextFields = None,
    authors: given.AuthorFields = None,
    date: given.DateField = None,
    title: given.TitleField = None,
    id_field: given.IdField = None,
    on_error: given.OnErrorOption = given.OnError.stop,
    min_df: given.MinDf = None,
    max_df: given.MaxDf = None,
    max_words: given.MaxWords = None,
    stop_words: given.StopWords = None,
    function_words: given.FunctionWords = None,
    phrases: given.Phrases = False,
    output: given.Output = None,
    name: given.Name = None,
    force: given.Force = False,
    quiet: given.Quiet = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    **by_flag: dict[str, Any],
) -> None:
    """Fit a model to a collection of documents, and save both in one file."""
    check_one_format(as_json, as_csv)
    path = output or default_output(source)
    if name is None:
        refuse_overwriting(path, force, "add a model to it with --name NAME, ")
    else:
        refuse_name(path, name, force)
    typed, searches = without_auto(by_flag["typed"])
    shared = {"n_jobs": jobs or available_cores(), "random_state": seed, "progress": False if quiet else None}
    chosen = default_model() if model is None else model_named(model)
    keep: bool | None = keeps_function_words(chosen, function_words, stop_words)
    if is_encoded(source):
        keep = function_words or None  # the words of such a corpus were chosen before
    reading = given.reading_options(text, authors, date, title, id_field, min_df, max_df, max_words, phrases, keep)
    beside = checkpoint_beside(path, name)
    with nothing_to_lose():
        unfitted = new_model(chosen, typed, **shared, **checkpoint_settings(chosen, typed, beside))
        corpus = read(source, on_error, stop_words, reading)
        if name is not None:
            refuse_corpus(path, corpus, source)
    screen = look.console(stderr=True)
    screen.quiet = quiet
    report(corpus, screen)
    if not corpus.n_authors and chosen.needs_authors:
        chosen = without_authors(chosen, "" if model is None else f"--model {model}", typed)
        unfitted = new_model(chosen, typed, **shared, **checkpoint_settings(chosen, typed, beside))
    if searches:
        typed |= {TOPICS.flag: best_number(unfitted, corpus, screen)}
        unfitted = new_model(chosen, typed, **shared, **checkpoint_settings(chosen, typed, beside))
    if advice := few_documents(unfitted.get_params(deep=False).get("n_topics"), corpus.n_docs):
        screen.print(advice, style="bold", soft_wrap=True)
    keeps = unfitted.get_params(deep=False).get("checkpoint")
    if keeps is not None and Path(keeps).exists():
        look.say(f"topoi: going on from {keeps}; remove that file to begin anew", err=True)
    with something_to_lose() as asked, naming(keeps):
        fitted = unfitted.fit(corpus)

        def save() -> None:
            fitted.save(path, name=name, replace_file=force and name is None)

        if not fitted.fit_info_["interrupted"]:
            save()
        else:
            look.say(f"topoi: saving what there is in {path}", err=True)
            if not save_soon(asked, keeps, save):
                say_how_to_go_on(keeps, fitted.fit_info_["n_sweeps"])
                raise typer.Exit(exit_code(fitted.fit_info_))
        for method in after_fit(chosen, typed):
            if not fitted.fit_info_["interrupted"] and done_within(fitted, method):
                fitted.save(path, name=name)
    beside.unlink(missing_ok=True)
    summarise(fitted, path, name, screen)
    if as_json or as_csv or not (quiet or fitted.fit_info_["interrupted"]):
        print_result(fitted, path, as_json, as_csv)
    verb = "topics" if chosen.posterior else "authors"
    screen.print(f"\nnext: topoi {verb} {shlex.quote(str(path))}", soft_wrap=True)
    if fitted.fit_info_["interrupted"]:
        raise typer.Exit(exit_code(fitted.fit_info_))


def without_auto(typed: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Flags with a number of topics in place of ``auto``, so that they can be checked; and whether to search for it.

    Examples
    --------
    >>> without_auto({"--topics": "auto"}), without_auto({"--topics": 20})
    (({'--topics': 1}, True), ({'--topics': 20}, False))
    """
    searches = typed.get(TOPICS.flag) == AUTO
    return typed | ({TOPICS.flag: 1} if searches else {}), searches


def best_number(model: LoadedModel, corpus: Corpus, screen: Console) -> int:
    """Number of topics by which a tenth of the documents is predicted well; prints which, and why."""
    from topoi.evaluation.topic_search import search_topics, suited_numbers

    settings = model.get_params(deep=False)
    quick = {"n_chains": 1, "n_iter": min(settings["n_iter"], ITERATIONS_OF_SEARCH), "progress": False}
    numbers = suited_numbers(corpus)
    screen.print(f"trying {', '.join(map(str, numbers))} topics on held-out documents", style="dim")
    with nothing_to_keep():
        found = search_topics(corpus, numbers, model, 1, **{k: v for k, v in quick.items() if k in settings})
    screen.print(found.recommendation, soft_wrap=True)
    return found.n_topics


def done_within(model: LoadedModel, method: str) -> bool:
    """Call a method of the fitted model; False if a signal came and the call was abandoned."""
    from topoi.engine.interruption import Abandoned, interruptible

    with interruptible() as interruption:
        try:
            interruption.run(getattr(model, method))
        except Abandoned:
            model.fit_info_ = model.fit_info_ | {"interrupted": True, "stopped": interruption.reason}
            return False
    return True


def exit_code(info: dict[str, Any]) -> int:
    """Exit code of a fit that a signal has ended: 128 plus the signal's number.

    Examples
    --------
    >>> exit_code({"stopped": "SIGINT"}), exit_code({"stopped": "SIGTERM"})
    (130, 143)
    """
    return 128 + signal.Signals.__members__.get(info["stopped"], signal.SIGINT)


def without_authors(model: Model, asked: str, typed: dict[str, Any]) -> Model:
    """Replacement for a default model with authors if no document has one; an error if the user asked for authors."""
    where = "name the fields that hold them with --authors A,B"
    instead = model_named(model.without_authors or default_model().without_authors)
    fewer = given_flags(typed).keys() - {option.flag for option in instead.options}
    asked = asked or " ".join(sorted(fewer))
    if not asked:
        note = f"no document has an author, so {instead.title} is fitted; if there are any, {where}"
        typer.echo(f"topoi: note: {note}", err=True)
        return instead
    raise CorpusError(
        f"{asked} needs authors, and no document has one; {where}, or leave out {asked} and fit {instead.title}"
    )


def default_output(source: Path) -> Path:
    """Path of the source's name with the suffix ``.topoi``, in the current folder.

    Examples
    --------
    >>> str(default_output(Path("data/papers.v2.jsonl.gz")))
    'papers.v2.topoi'
    """
    name = source.resolve().name
    while name.lower().endswith(KNOWN_ENDINGS):
        name = name.rpartition(".")[0]
    return Path(f"{name}.topoi")


def read(source: Path, on_error: given.OnError, stop_words: str | None, reading: dict[str, Any]) -> Corpus:
    """Read the corpus in a file or folder; options that the user did not set have the reader's defaults."""
    if not source.exists():
        raise FileNotFoundError(2, "No such file", str(source))
    chosen = {name: value for name, value in reading.items() if value is not None}
    if stop_words is not None:
        chosen["stop_words"] = stop_word_list(stop_words)
    import topoi

    return topoi.read_corpus(source, on_error=on_error.value, **chosen)


def is_encoded(source: Path) -> bool:
    """Whether the source is a folder that ``topoi encode`` wrote."""
    if not source.is_dir():
        return False
    from topoi.corpus.folder import is_corpus_folder

    return is_corpus_folder(source)


def keeps_function_words(model: Model, chosen: bool | None, stop_words: str | None) -> bool:
    """Whether function words are kept: as the user chose, else for authorship models without a stop list.

    Examples
    --------
    >>> keeps_function_words(model_named("author"), None, None), keeps_function_words(model_named("lda"), None, None)
    (True, False)
    """
    if chosen and stop_words not in (None, "none"):
        raise typer.BadParameter("--function-words are what --stop-words leaves out: give one of them")
    return (model.function_words and stop_words is None) if chosen is None else chosen


def stop_word_list(choice: str) -> str | list[str] | None:
    """Resolve a stop list: ``"english"``, None for ``"none"``, or the words of a file, one or several per line."""
    if choice == "english":
        return choice
    if choice == "none":
        return None
    path = Path(choice)
    if not path.is_file():
        raise CorpusError(f"--stop-words {choice}: no such file; give a file, english or none")
    return path.read_text(encoding="utf-8").split()


def report(corpus: Corpus, screen: Console) -> None:
    """Print what was read, what was dropped, and what is left."""
    screen.print(str(corpus.report), style="dim", soft_wrap=True)
    left = f"{corpus.n_tokens:,} tokens of {corpus.n_words:,} words"
    screen.print(f"{left}, {corpus.n_authors:,} authors" if corpus.n_authors else left)


def few_documents(n_topics: object, n_docs: int) -> str:
    """Advice for a collection with fewer documents than topics; empty if there are enough.

    Examples
    --------
    >>> few_documents(100, 3)
    '100 topics for 3 documents: most will stay empty; ask for fewer by --topics, and keep rare words by --min-df 1'
    >>> few_documents(100, 5000)
    ''
    """
    if not isinstance(n_topics, int) or n_topics <= n_docs:
        return ""
    few = "1 document" if n_docs == 1 else f"{n_docs:,} documents"
    return (
        f"{n_topics:,} topics for {few}: most will stay empty; ask for fewer by --topics, and keep rare words by "
        "--min-df 1"
    )


def summarise(model: LoadedModel, path: Path, name: str | None, screen: Console) -> None:
    """Print a summary of the fit and the path of the model."""
    info = model.fit_info_
    chains = "" if info["n_chains"] == 1 else f" of {info['n_chains']} chains"
    exactness = "" if info.get("exact", True) else f"; approximate, {info['n_shards']} shards"
    sweeps = "EM steps" if "learning" in info else "sweeps"
    screen.print(f"{info['n_sweeps']:,} {sweeps}{chains} in {info['seconds']:.1f} s{exactness}", style="dim")
    settings = model.get_params(deep=False)
    if choice := cross_validated(info, settings.get("width"), settings.get("variance")):
        screen.print(choice, style="dim", soft_wrap=True)
    if info.get("advice"):
        screen.print(info["advice"], style="dim", soft_wrap=True)
    if info["interrupted"]:
        screen.print(f"interrupted; what was sampled so far is saved in {path}", style="bold", soft_wrap=True)
    else:
        what = str(path) if name is None else f"{name!r} in {path}"
        screen.print(f"saved {what} ({path.stat().st_size / 1e6:.1f} MB)", style="bold", soft_wrap=True)


def cross_validated(info: dict[str, Any], width: object, variance: object) -> str:
    """Text about the settings that a regression has chosen by cross-validation; empty if none.

    Examples
    --------
    >>> cross_validated({"widths": {"year": 23.6}, "variance": 0.3}, "cv", 0.3)
    'chosen by cross-validation: year in bumps of width 23.6'
    """
    wide = dict(width) if isinstance(width, dict) else dict.fromkeys(info.get("widths", {}), width)
    chosen = [f"{name} in bumps of width {info['widths'][name]:g}" for name, each in wide.items() if each == "cv"]
    if variance == "cv" and info.get("variance") is not None:
        chosen.append(f"variance {info['variance']:g}")
    return f"chosen by cross-validation: {', '.join(chosen)}" if chosen else ""


def print_result(model: LoadedModel, path: Path, as_json: bool, as_csv: bool) -> None:
    """Print the topics, as ``topoi topics`` does; for a model without topics, the busiest authors' words."""
    import topoi

    view = topoi.view(path)  # the model saved last
    if view.n_topics:
        print_frame(topics_frame(view, 10, 5), as_json=as_json, as_csv=as_csv, render=draw_largest)
    else:
        frame = author_words_frame(model, TOPICS_IN_SUMMARY)
        print_frame(frame, as_json=as_json, as_csv=as_csv, render=draw_author_words)


def draw_largest(frame: pd.DataFrame, screen: Console) -> None:
    """Print only the ``TOPICS_IN_SUMMARY`` largest topics: a summary should fit the screen."""
    from rich.text import Text

    largest = frame.head(TOPICS_IN_SUMMARY)
    connecting = int(frame["background"].iloc[len(largest) :].sum())
    without = f", without {connecting} of connecting words" if connecting else ""
    heading = f"\nthe {len(largest)} largest of {len(frame)} topics{without}" if len(frame) > len(largest) else ""
    screen.print(Text(heading, style="dim"))
    draw_topics(largest, screen)
