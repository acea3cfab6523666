"""Plain-text help with options in groups; typer itself groups them only in its rich panels."""

from __future__ import annotations

from typing import Any

from typer.core import TyperArgument, TyperCommand

_OTHER = "Other options"


class GroupedCommand(TyperCommand):
    """A command that lists its options under their panels, in the order in which panels first occur."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options by group."""
        groups: dict[str, list[tuple[str, str]]] = {}
        arguments = []
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            if isinstance(parameter, TyperArgument):
                arguments.append(record)
            else:
                groups.setdefault(getattr(parameter, "rich_help_panel", None) or _OTHER, []).append(record)
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl(arguments)
        last = groups.pop(_OTHER, [])
        for title, records in [*groups.items(), (_OTHER, last)]:
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
