"""The families of models that ``topoi fit`` offers: which settings each has, and what they are if nothing is said."""

from __future__ import annotations

from typing import Any, NamedTuple

import typer

from topoi.cli.fit_options import (
    CLASSES,
    DEFAULT_ASPECT_STEPS,
    DEFAULT_ASPECTS,
    DEFAULT_KERNEL_SWEEPS,
    DEFAULT_KERNEL_TOPICS,
    DEFAULT_SUB,
    DEFAULT_SUPER,
    DEFAULT_SWEEPS,
    DEFAULT_TOPICS,
    Family,
)
from topoi.cli.graph_file import read_graph

# Settings that not every family has, as the command line calls them.
OPTION = {
    "n_topics": "--topics",
    "n_super": "--super",
    "n_sub": "--sub",
    "dag": "--dag",
    "n_aspects": "--aspects",
    "features": "--features",
    "width": "--width",
    "variance": "--variance",
    "n_warmup": "--warmup",
    "refit": "--refit",
    "inference": "--inference",
    "learning": "--learning",
    "alpha": "--alpha",
    "beta": "--beta",
    "learn_alpha": "--learn-alpha",
    "learn_beta": "--learn-beta",
    "fictitious_authors": "--fictitious-authors",
    "sparse": "--sparse",
    "n_chains": "--chains",
    "n_shards": "--shards",
    "checkpoint": "--checkpoint",
}
_EVERYWHERE = ("n_iter", "n_jobs", "random_state", "progress")
_GIBBS = ("beta", "n_chains", "n_shards", "checkpoint")
# What these are when nothing was said; all others are then empty or false.
_UNSAID = {"n_chains": 1, "n_shards": "auto"}


class _Member(NamedTuple):
    """A family: the settings it has, and those whose values are not the class's own when nothing is said."""

    settings: tuple[str, ...]
    defaults: dict[str, Any] = {}
    inference: tuple[str, ...] = ()
    # Sweeps, and how many of them are a warm-up: at most so many, and at most this share.
    sweeps: int = DEFAULT_SWEEPS
    warmup: tuple[int, float] | None = None


_LEARNED = ("alpha", "learn_alpha", "learn_beta")
_MEMBERS = {
    Family.author_topic: _Member(("n_topics", *_LEARNED, "fictitious_authors", *_GIBBS), {"n_topics": DEFAULT_TOPICS}),
    Family.lda: _Member(("n_topics", *_LEARNED, "sparse", *_GIBBS), {"n_topics": DEFAULT_TOPICS}),
    Family.author: _Member(_GIBBS),
    # Pachinko models learn alpha anyway.
    Family.pachinko: _Member(
        ("n_super", "n_sub", "dag", "alpha", "sparse", *_GIBBS),
        {"n_super": DEFAULT_SUPER, "n_sub": DEFAULT_SUB},
    ),
    Family.aspect: _Member(
        ("n_aspects", "inference", "learning", "alpha", "learn_alpha", "beta", "n_chains"),
        {"n_aspects": DEFAULT_ASPECTS},
        ("ep", "vb"),
        DEFAULT_ASPECT_STEPS,
    ),
    Family.kernel: _Member(
        ("n_topics", "features", "inference", "n_warmup", "beta"),
        {"n_topics": DEFAULT_KERNEL_TOPICS},
        ("laplace", "bridge"),
        DEFAULT_KERNEL_SWEEPS,
        (100, 2 / 3),
    ),
    Family.dmr: _Member(
        ("n_topics", "features", "width", "variance", "n_warmup", "refit", "alpha", *_GIBBS),
        {"n_topics": DEFAULT_TOPICS},
        warmup=(50, 1 / 3),
    ),
}


def new_model(family: Family, given: dict[str, Any]) -> Any:
    """An unfitted model; an option that the family does not have is an error, not ignored."""
    member = _MEMBERS[family]
    said = {name: value for name, value in given.items() if value is not None and value is not False}
    said = {name: value for name, value in said.items() if value != _UNSAID.get(name)}
    for name in said:
        if name not in member.settings and name not in _EVERYWHERE:
            raise typer.BadParameter(f"{OPTION[name]} does not apply to --model {family}")
    if "features" in member.settings and "features" not in said:
        raise typer.BadParameter(f"--model {family} needs --features: columns of the documents, such as year,authors")
    if member.inference and said.get("inference", member.inference[0]) not in member.inference:
        choices = " and ".join(member.inference)
        raise typer.BadParameter(
            f"--inference {said['inference']} does not apply to --model {family}; it has {choices}"
        )
    if "dag" in said:
        if "n_super" in said or "n_sub" in said:
            raise typer.BadParameter("--dag is a whole graph: leave out --super and --sub")
        said["dag"] = read_graph(said["dag"])
    settings = member.defaults | {"n_iter": member.sweeps} | said
    if member.warmup is not None and "n_warmup" not in said:
        most, share = member.warmup
        settings["n_warmup"] = min(most, int(settings["n_iter"] * share))
    if family is Family.aspect:
        other = {"n_chains": "n_restarts", "beta": "smoothing"}
        settings = {other.get(name, name): value for name, value in settings.items()}
    if settings.get("width") == "none":
        settings["width"] = None
    settings.pop("refit", None)
    # False is no less said than True: without a terminal there is a bar only if somebody asks for it.
    settings["progress"] = given["progress"]
    import topoi

    return getattr(topoi, CLASSES[family])(**settings)
