"""docs/command-line.md keeps up with the program: every verb has a section, every option a row in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from topoi.cli.main import app

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
EVERYWHERE = {"-h", "--help"}


def section(verb: str) -> str:
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(rf"^## `topoi {verb}`\n(.*?)(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    assert found, f"docs/command-line.md has no section '## `topoi {verb}`'"
    return found.group(1)


@pytest.mark.parametrize("verb", COMMANDS)
def test_verb_is_documented(verb: str) -> None:
    documented = set(re.findall(r"`(-{1,2}[a-z][a-z-]*)`", section(verb)))
    every = [name for parameter in COMMANDS[verb].params for name in (*parameter.opts, *parameter.secondary_opts)]
    options = {name for name in every if name.startswith("-")}
    assert options - EVERYWHERE <= documented
    assert documented <= options | EVERYWHERE, "documented, but not there"


@pytest.mark.parametrize("verb", COMMANDS)
def test_verb_and_options_have_help(verb: str) -> None:
    assert COMMANDS[verb].help
    assert [parameter.name for parameter in COMMANDS[verb].params if not getattr(parameter, "help", None)] == []


def test_options_of_the_program_are_documented() -> None:
    opening = PAGE.read_text(encoding="utf-8").partition("\n## ")[0]
    for parameter in typer.main.get_command(app).params:
        assert any(f"`{name}`" in opening for name in parameter.opts)


def test_no_documented_verb_is_missing() -> None:
    assert set(re.findall(r"^## `topoi ([a-z]+)`", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)) == set(
        COMMANDS
    )
