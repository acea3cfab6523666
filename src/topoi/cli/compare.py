"""``topoi compare``: models side by side, fitted before or here, on documents that none of them has seen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from topoi.cli import fit_options as given
from topoi.cli import look
from topoi.cli.fit import read, report
from topoi.cli.model_options import chosen_model, new_model
from topoi.cli.models import counted
from topoi.cli.options import AsCsv, AsJson, available_cores, check_file, split_names
from topoi.cli.output import check_one_format, print_frame
from topoi.cli.saving import refuse_overwriting
from topoi.cli.signals import nothing_to_keep
from topoi.errors import CorpusError, ModelError
from topoi.models.contract import ReadsMetadata
from topoi.models.registry import Model, model_named

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from topoi.corpus.corpus import Corpus

_STORE_BEGINS = b"SQLite format 3\0"
_TOPICS = "--topics"


def compare(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Fitted models; with --models, documents to fit them to.")
    ],
    test: Annotated[
        Path | None, typer.Option("--test", metavar="DOCUMENTS", help="Documents that no model has seen.")
    ] = None,
    models: Annotated[
        str | None, typer.Option("-m", "--models", metavar="A,B", help="Fit these, as named in `topoi fit --model`.")
    ] = None,
    test_size: Annotated[
        str | None,
        typer.Option(metavar="N", help="Without --test: documents to hold out; with a point, a share.  [default: 0.1]"),
    ] = None,
    topics: Annotated[
        int | None,
        typer.Option("-k", "--topics", metavar="K", min=1, help="Topics.  [default: as in `topoi fit`]"),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option("-i", "--iterations", metavar="N", min=1, help="Sweeps.  [default: as in `topoi fit`]"),
    ] = None,
    chains: Annotated[
        int | None, typer.Option("--chains", metavar="N", min=1, help="Independent chains; two or more show stability.")
    ] = None,
    features: Annotated[
        str | None, typer.Option("--features", metavar="A,B", help="Columns that topics depend on, as in `topoi fit`.")
    ] = None,
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
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Save the models that are fitted here.")
    ] = None,
    seed: given.Seed = 0,
    jobs: given.Jobs = None,
    quiet: given.Quiet = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Compare models on held-out documents: likelihood, with what is a clear difference, and quality of topics."""
    check_one_format(as_json, as_csv)
    typed = {_TOPICS: topics, "--iterations": iterations, "--chains": chains, "--features": features}
    words = {
        "min_df": None if min_df is None else given.count_or_share(min_df),
        "max_df": None if max_df is None else given.count_or_share(max_df),
        "max_words": max_words,
    }
    named = {"text": split_names(text), "authors": split_names(authors), "date": date, "title": title, "id": id_field}
    fields = {name: value for name, value in named.items() if value is not None}
    held_out = Reading(test, fields | {"on_error": on_error.value})
    for path in [*files, *([test] if test else [])]:
        if not path.exists():
            raise FileNotFoundError(2, "No such file", str(path))
    if test is not None and test_size is not None:
        raise typer.BadParameter("--test and --test-size are two ways to hold documents out: leave one out")
    n_jobs = jobs or available_cores()
    from topoi import evaluation

    if models is None:
        settings = {"--test-size": test_size, "--output": output, "--stop-words": stop_words, **_flags(words)}
        _refuse_settings_of_fits(typed | settings)
        ready = loaded_models(files, n_jobs)
        frame = evaluation.compare(ready, test=read_test(held_out, list(ready.values())), random_state=seed)
    else:
        chosen = [model_named(chosen_model(name)) for name in split_names(models) or []]
        shared = {"n_jobs": n_jobs, "random_state": seed, "progress": False if quiet else None}
        unfitted = new_models(chosen, typed, shared)
        if output is not None:
            refuse_overwriting(output, False)
        corpus = read(documents_in(files), on_error, stop_words, fields | words)
        _refuse_missing_authors(chosen, corpus)
        screen = look.console(stderr=True)
        screen.quiet = quiet
        report(corpus, screen)
        train, new = split(corpus, held_out, test_size or "0.1", seed)
        with nothing_to_keep():
            frame = evaluation.compare(unfitted, train, new, random_state=seed)
        if output is not None:
            for name, model in unfitted.items():
                model.save(output, name=name)
    print_frame(frame, as_json=as_json, as_csv=as_csv, render=draw)


def loaded_models(files: list[Path], n_jobs: int) -> dict[str, Any]:
    """All models of some files by name; of several files, by the file's name and theirs."""
    import topoi

    found: dict[str, Any] = {}
    for path in files:
        check_file(path)
        if not is_store(path):
            raise ModelError(f"{path} holds documents, not models; name what to fit to them: --models A,B")
        for name in topoi.open_store(path).models()["name"].tolist():
            model = topoi.load(path, name)
            model.n_jobs = n_jobs
            label = name if len(files) == 1 else f"{path.stem}: {name}"
            if label in found:
                raise ModelError(f"there are two models {label!r}; give files with different names")
            found[label] = model
    return found


class Reading(NamedTuple):
    """Held-out documents: their file, if there is one, and how it is read."""

    path: Path | None
    options: dict[str, Any]

    def like(self, corpus: Corpus, new_authors: bool) -> Corpus:
        """Read the documents in the words of a corpus."""
        from topoi import read_corpus

        assert self.path is not None
        return read_corpus(self.path, like=corpus, new_authors="add" if new_authors else "drop", **self.options)


def read_test(held_out: Reading, models: list[Any]) -> Corpus:
    """Held-out documents in the words of the first model."""
    if held_out.path is None:
        raise typer.BadParameter("name documents that the models have not seen: --test FILE")
    return held_out.like(models[0].corpus_, any(isinstance(model, ReadsMetadata) for model in models))


def is_store(path: Path) -> bool:
    """Whether a file is a store of fitted models, by its first bytes."""
    if path.is_dir():
        return False
    with path.open("rb") as file:
        return file.read(len(_STORE_BEGINS)) == _STORE_BEGINS


def documents_in(files: list[Path]) -> Path:
    """The one source of documents that models are fitted to."""
    if len(files) > 1:
        raise typer.BadParameter(f"with --models give one source of documents, not {len(files)}")
    if is_store(files[0]):
        raise ModelError(f"{files[0]} holds fitted models; leave out --models to compare them, or name documents")
    return files[0]


def split(corpus: Corpus, held_out: Reading, test_size: str, seed: int) -> tuple[Corpus, Corpus]:
    """Training and held-out documents: a file of its own, or some of the documents at random."""
    if held_out.path is not None:
        return corpus, held_out.like(corpus, True)
    return corpus.split(given.count_or_share(test_size), random_state=seed)


def new_models(models: list[Model], typed: dict[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    """Unfitted models by their options, each with those of the typed settings that it has; none may be for nobody."""
    if len({model.option for model in models}) < len(models) or not models:
        raise typer.BadParameter("--models names different models, separated by commas")
    offers = {model.option: _offered(model, typed) for model in models}
    for flag, value in typed.items():
        if value is not None and not any(flag in offered for offered in offers.values()):
            raise typer.BadParameter(f"{flag} does not apply to {', '.join(offers)}")
    return {
        model.option: new_model(model, {name: typed[flag] for flag, name in offers[model.option].items()}, **shared)
        for model in models
    }


def _offered(model: Model, typed: dict[str, Any]) -> dict[str, str]:
    """Typed flags that a model has, by its own names for them: topics may be called aspects."""
    from topoi.evaluation.topic_search import SIZES

    flags = {option.flag: option.flag for option in model.options if option.flag in typed}
    size = next((option.flag for option in model.options if option.setting in SIZES), None)
    return flags if size is None else {**flags, _TOPICS: size}


def _flags(words: dict[str, Any]) -> dict[str, Any]:
    return {f"--{name.replace('_', '-')}": value for name, value in words.items()}


def _refuse_settings_of_fits(settings: dict[str, Any]) -> None:
    for flag, value in settings.items():
        if value is not None:
            raise typer.BadParameter(f"{flag} is for models that are fitted here; name them with --models A,B")


def _refuse_missing_authors(models: list[Model], corpus: Corpus) -> None:
    for model in models:
        if model.needs_authors and not corpus.n_authors:
            raise CorpusError(
                f"{model.option} needs authors, and no document has one; "
                "name the fields that hold them with --authors A,B, or leave the model out"
            )


def draw(frame: pd.DataFrame, screen: Console) -> None:
    """Print a line per model, the best first, and below it what the numbers are."""
    from rich.text import Text

    from topoi.evaluation.comparison import UNCLEAR

    names = [look.printable(name)[: look.at_most(12, screen)] for name in frame["name"]]
    width = max(map(len, names))
    titles = ("perplexity", "to the best", "", "completion", "npmi", "c_v", "diverse")
    sizes = (10, 15, 1, 10, 6, 5, 7)
    head = [(Text(title.rjust(size), style="dim"), size) for title, size in zip(titles, sizes, strict=True)]
    screen.print(look.row(("", width), *head))
    for name, row in zip(names, frame.to_dict("records"), strict=True):
        best = row["verdict"] == "best"
        cells = (
            _number(row["perplexity"], ",.1f"),
            "best" if best else _with_error(row["difference"], row["difference_error"]),
            "=" if row["verdict"] == UNCLEAR else "",
            _number(row["completion_perplexity"], ",.1f"),
            _number(row["npmi"], ".3f"),
            _number(row["c_v"], ".3f"),
            _number(row["diversity"], ".2f"),
        )
        parts = [(cell.rjust(size), size) for cell, size in zip(cells, sizes, strict=True)]
        screen.print(look.row((Text(name, style="bold"), width), *parts))
    first = frame.iloc[0]
    scored = f"{counted(int(first['n_docs']), 'document')}, {counted(int(first['n_words']), 'word')}"
    screen.print(
        f"\n{scored}; to the best: log likelihood per word, ± its standard error over documents; = no clear difference",
        style="dim",
    )


def _number(value: float, form: str) -> str:
    return format(value, form) if value == value else "–"


def _with_error(value: float, error: float) -> str:
    return f"{value:.3f} ± {_number(error, '.3f')}" if value == value else "–"
