"""``topoi update``: new documents for a fitted model."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topoi.cli import fit_options as given
from topoi.cli import look
from topoi.cli.fit import exit_code, is_encoded, read
from topoi.cli.options import AsCsv, AsJson, ModelFile, ModelName, available_cores, check_file
from topoi.cli.output import check_one_format, print_frame
from topoi.cli.saving import refuse_overwriting
from topoi.cli.signals import nothing_to_lose, something_to_lose
from topoi.errors import ModelError, StoreError

if TYPE_CHECKING:
    import pandas as pd

    from topoi.store.store import Store

# New texts are read again with the analyser of the model's corpus, so nothing is to be dropped before.
_ALL_WORDS = {"min_df": 1, "max_df": 1.0, "stop_words": None, "min_length": 1}


_how = partial(typer.Option, rich_help_panel="Sampling")
_what = partial(typer.Option, rich_help_panel="Documents and words")
_output = partial(typer.Option, rich_help_panel="Output")


def update(
    file: ModelFile,
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="[SOURCE]", help="The new documents, in any form that topoi fit reads; without it, the last report."
        ),
    ] = None,
    n_iter: Annotated[int, _how("-i", "--iterations", metavar="N", min=0, help="Sweeps over everything.")] = 100,
    spare_topics: Annotated[
        int, _how("--spare-topics", metavar="N", min=0, help="Topics that may form in the new documents.")
    ] = 0,
    name: ModelName = None,
    min_df: Annotated[
        int, _what("--min-df", metavar="N", min=1, help="New words must be in N of the new documents.")
    ] = 2,
    no_new_words: Annotated[bool, _what("--no-new-words", help="Keep the vocabulary as it is.")] = False,
    skip_known: Annotated[bool, _what("--skip-known", help="Leave out documents whose ids are there already.")] = False,
    text: given.TextFields = None,
    authors: given.AuthorFields = None,
    date: given.DateField = None,
    title: given.TitleField = None,
    id_field: given.IdField = None,
    on_error: given.OnErrorOption = given.OnError.stop,
    jobs: given.Jobs = None,
    output: Annotated[
        Path | None, _output("-o", "--output", metavar="FILE", help="A new file; FILE itself stays as it is.")
    ] = None,
    quiet: given.Quiet = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Add new documents to a fitted model: topics keep their numbers and labels, and the report says what changed."""
    check_one_format(as_json, as_csv)
    check_file(file)
    if output is not None:
        refuse_overwriting(output, force=False)
    with nothing_to_lose():
        import topoi
        from topoi.store.updates import check_place

        store = topoi.open_store(file)
        if source is None:
            show(store, name, as_json, as_csv)
            return
        check_place(store, output)
        fields = {"text": text, "authors": authors, "date": date, "title": title, "id_field": id_field}
        reading = given.reading_options(
            **fields, min_df=None, max_df=None, max_words=None, phrases=False, function_words=None
        )
        reading = {key: value for key, value in reading.items() if key in ("text", "authors", "date", "title", "id")}
        new = read(source, on_error, None, reading if is_encoded(source) else reading | _ALL_WORDS)
        chosen = topoi.view(store, name).name
        model = topoi.load(store, chosen)
    model.set_params(n_jobs=jobs or available_cores(), progress=False if quiet else None)
    before = model.corpus_.fingerprint()
    with something_to_lose():
        words = None if no_new_words else min_df
        try:
            model.update(new, n_iter, spare_topics, min_df=words, known="skip" if skip_known else "error")
        except ModelError as error:
            raise ModelError(
                str(error).replace('known="skip"', "--skip-known").replace("min_df=1", "--min-df 1")
            ) from error
        from topoi.store.updates import save_updated

        save_updated(model, store, chosen, before, output)
    if not quiet:
        screen = look.console(stderr=True)
        screen.print(f"saved {output or file}", style="bold", soft_wrap=True)
    if not quiet or as_json or as_csv:
        with topoi.open_store(output or file) as saved:
            show(saved, chosen, as_json, as_csv)
    if model.fit_info_["interrupted"]:
        raise typer.Exit(exit_code(model.fit_info_))


def show(store: Store, name: str | None, as_json: bool, as_csv: bool) -> None:
    """Print the report of the last update; for programs, its rows of topics with their labels."""
    reports = store.updates(name)
    if not reports:
        raise StoreError(f"{store.path} has not been updated; name a SOURCE of new documents")
    labels = store.labels(name)
    if not (as_json or as_csv):
        look.say(str(reports[-1]))
        return
    frame: pd.DataFrame = reports[-1].topics
    frame.insert(1, "label", [labels.get(int(topic)) for topic in frame["topic"]])
    print_frame(frame, as_json=as_json, as_csv=as_csv)
