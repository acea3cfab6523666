"""Options of ``topoi fit`` that depend on the model, and construction of unfitted models from them.

One option per flag, even if several models have it; the help groups options of a single model under that model.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from typing import Annotated, Any

import typer

from topoi.errors import NotFoundError, TopoiError
from topoi.models.options import TOPICS, Option
from topoi.models.registry import Model, model_named, models

# Number of topics that is found by a search.
AUTO = "auto"


def chosen_model(typed: str) -> str:
    """Normalise the name of a model to its option; an unknown name is a usage error."""
    try:
        return model_named(typed).option
    except NotFoundError as error:
        raise typer.BadParameter(str(error)) from None


def complete_model(incomplete: str) -> list[str]:
    """Shell completion of model names."""
    return [model.option for model in models().values() if model.option.startswith(incomplete.casefold())]


def with_model_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add a parameter for every flag of every model to a command, which receives them as one dictionary by flag."""
    signature = inspect.signature(command, eval_str=True)
    own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    offers = _offers()
    added = {_parameter_name(flag): flag for flag in offers}
    added_parameters = [_parameter(flag, offered) for flag, offered in offers.items()]
    # The help lists groups in order of first occurrence: options of models before those that all models share.
    at = next(i for i, each in enumerate(own) if each.name == "model") + 1
    parameters = [*own[:at], *sorted(added_parameters, key=_is_of_one), *own[at:]]

    def run(**given: object) -> None:
        typed = {flag: given.pop(name) for name, flag in added.items()}
        command(**given, **{"typed": typed})

    run.__signature__ = inspect.Signature([each.replace(kind=each.KEYWORD_ONLY) for each in parameters])  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


def new_model(model: Model, typed: dict[str, Any], **settings: object) -> Any:
    """Make an unfitted model; an option that the model does not have is an error, not ignored."""
    said = given_flags(typed)
    offered = {option.flag: option for option in model.options}
    for flag in said:
        if flag not in offered:
            raise typer.BadParameter(f"{flag} does not apply to --model {model.option}")
    for option in model.options:
        _check_use(model, option, said)
    rest = [option for option in model.options if option.setting and option.flag not in said]
    for flag, value in said.items():
        if offered[flag].setting:
            settings[offered[flag].setting] = _value(model, offered[flag], value)
    # Last those whose defaults are computed from other settings.
    for option in sorted(rest, key=lambda option: callable(option.default)):
        if (default := option.default_of(settings)) is not None:
            settings[option.setting] = default
    return model.model_class(**settings)


def given_flags(typed: dict[str, Any]) -> dict[str, Any]:
    """Flags that the user gave."""
    return {flag: value for flag, value in typed.items() if value is not None and value is not False}


def after_fit(model: Model, typed: dict[str, Any]) -> list[str]:
    """Names of the methods to call after the fit."""
    return [option.after for option in model.options if option.after and option.flag in given_flags(typed)]


def _check_use(model: Model, option: Option, said: dict[str, Any]) -> None:
    if option.required and option.flag not in said:
        raise typer.BadParameter(f"--model {model.option} needs {option.flag}: {option.required}")
    if option.flag in said and said.keys() & set(option.excludes):
        raise typer.BadParameter(f"with {option.flag}, leave out {' and '.join(option.excludes)}")


def _value(model: Model, option: Option, typed: Any) -> Any:
    if option.choices:
        typed = typed.casefold()
        if typed not in option.choices:
            choices = " and ".join(option.choices)
            raise typer.BadParameter(
                f"{option.flag} {typed} does not apply to --model {model.option}; it has {choices}"
            )
    try:
        return option.value_of(typed)
    except TopoiError:
        raise  # its message names the file
    except ValueError as error:
        raise typer.BadParameter(f"{option.flag} {typed}: {error}") from None


def _offers() -> dict[str, list[tuple[Model, Option]]]:
    """Models and options by flag."""
    found: dict[str, list[tuple[Model, Option]]] = {}
    for model in models().values():
        for option in model.options:
            found.setdefault(option.flag, []).append((model, option))
    return found


def _parameter_name(flag: str) -> str:
    return "given_" + flag.lstrip("-").replace("-", "_")


def number_of_topics(typed: str) -> int | str:
    """A number of topics, or ``"auto"``.

    Examples
    --------
    >>> number_of_topics("20"), number_of_topics("auto")
    (20, 'auto')
    """
    if typed == AUTO or (typed.isdecimal() and int(typed) > 0):
        return AUTO if typed == AUTO else int(typed)
    raise typer.BadParameter(f"{typed!r} is neither a positive number nor {AUTO}")


def _parameter(flag: str, offered: list[tuple[Model, Option]]) -> inspect.Parameter:
    model, option = offered[0]
    panel = option.panel or (f"Only --model {model.option}" if len(offered) == 1 else "Model")
    choices = list(dict.fromkeys(choice for _, each in offered for choice in each.choices))
    declared: dict[str, Any] = {"help": _help(offered), "rich_help_panel": panel, "show_default": False}
    if option.metavar or choices:
        declared["metavar"] = option.metavar or f"[{'|'.join(choices)}]"
    if option.minimum is not None:
        declared["min"] = option.minimum
    if choices:
        declared["autocompletion"] = lambda incomplete: [c for c in choices if c.startswith(incomplete.casefold())]
    if flag == TOPICS.flag:
        # The library has no such value: `topoi fit` searches, and then sets a number.
        declared |= {"parser": number_of_topics, "metavar": f"{option.metavar}|{AUTO}"}
        del declared["min"]
    info = typer.Option(*filter(None, (option.short, flag)), **declared)
    kind: Any = bool if option.kind is bool else option.kind | None
    default = False if option.kind is bool else None
    name = _parameter_name(flag)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])


def _is_of_one(parameter: inspect.Parameter) -> bool:
    """Whether only one model has the option; the help lists those last."""
    return bool(parameter.annotation.__metadata__[0].rich_help_panel.startswith("Only "))


def _help(offered: list[tuple[Model, Option]]) -> str:
    """Help text of an option: its meaning, the models that have it, and its default."""
    option = offered[0][1]
    text = option.help
    if 1 < len(offered) < len(models()) // 2 + 1:
        text = f"{text.removesuffix('.')} ({', '.join(model.option for model, _ in offered)})."
    defaults = {model.option: _default_text(each) for model, each in offered}
    usual, number = Counter(defaults.values()).most_common(1)[0]
    if number == 1 and len(defaults) > 1:
        usual = ""
    others = [f"{name} {value}" for name, value in defaults.items() if value and value != usual]
    shown = "; ".join(filter(None, [usual, *others]))
    return f"{text}  [default: {shown}]" if shown else text


def _default_text(option: Option) -> str:
    if option.shown is not None:
        return option.shown
    return "" if option.default is None or callable(option.default) else str(option.default)
