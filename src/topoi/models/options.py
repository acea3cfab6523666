"""Settings of models as command-line options: declared by the families, built into options by ``topoi fit``.

Light to import: every run of the program reads this and the ``family.py`` files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple


class Option(NamedTuple):
    """A setting of a model, or an action after its fit, that ``topoi fit`` offers.

    Families that share a flag share its meaning; each may have its own default and choices.

    Attributes
    ----------
    flag : str
        The flag itself, ``"--super"``.
    setting : str
        The argument of the model's class; empty if ``after`` is given.
    kind : type
        ``int``, ``float``, ``str``, ``Path`` or ``bool``.
    help : str
        One line, in plain words.
    metavar : str
        Placeholder of the value in the help.
    short : str
        A short form, ``"-k"``.
    minimum : int or None
        The smallest number that is allowed.
    default : object, or a function of the other settings
        Value used if the flag is absent; None leaves it to the model's class.
    shown : str
        The default in words, where it differs from ``default``; "" to show none.
    choices : tuple of str
        Allowed values of a ``str``; any if empty.
    read : str
        ``"module:function"`` that converts the typed value; a ``ValueError`` says what is wrong.
    required : str
        Message if the flag is missing; empty if it is optional.
    excludes : tuple of str
        Flags that cannot be given at the same time.
    after : str
        The method to call after the fit if the flag is given, instead of setting anything.
    panel : str
        Group in the help; by default that of the model, or of all models if several have it.
    """

    flag: str
    setting: str
    kind: type
    help: str
    metavar: str = ""
    short: str = ""
    minimum: int | None = None
    default: Any = None
    shown: str | None = None
    choices: tuple[str, ...] = ()
    read: str = ""
    required: str = ""
    excludes: tuple[str, ...] = ()
    after: str = ""
    panel: str = ""

    def but(self, **changes: Any) -> Option:
        """A copy with some fields changed.

        Examples
        --------
        >>> TOPICS.but(default=10).default
        10
        """
        return self._replace(**changes)

    def value_of(self, typed: Any) -> Any:
        """Value of the setting for the typed text."""
        if self.choices and typed not in self.choices:
            raise ValueError(f"{typed} is none of {', '.join(self.choices)}")
        if not self.read:
            return typed
        module, _, name = self.read.partition(":")
        return getattr(import_module(module), name)(typed)

    def default_of(self, settings: Mapping[str, Any]) -> Any:
        """Default value, given the other settings."""
        return self.default(settings) if callable(self.default) else self.default


def at_most(number: int, share: float) -> Callable[[Mapping[str, Any]], int]:
    """Default for a warm-up of ``number`` sweeps, but at most this share of all.

    Examples
    --------
    >>> at_most(100, 2 / 3)({"n_iter": 30}), at_most(100, 2 / 3)({"n_iter": 1000})
    (20, 100)
    """
    return lambda settings: min(number, int(settings["n_iter"] * share))


_SAMPLING = "Sampling"
_GUIDANCE = "Guidance"

TOPICS = Option("--topics", "n_topics", int, "Topics.", "K", "-k", 1, 100)
PRIOR = Option(
    "--prior",
    "prior",
    str,
    "What is not given is learned (auto), or is that of the papers and stays (paper).",
    "auto|paper",
    shown="auto",
    choices=("auto", "paper"),
)
ALPHA = Option("--alpha", "alpha", float, "Prior weight of each topic.", "X")
BETA = Option("--beta", "beta", float, "Prior weight of each word in a topic.", "X")
LEARN_ALPHA = Option("--learn-alpha", "learn_alpha", bool, "Learn alpha.")
LEARN_BETA = Option("--learn-beta", "learn_beta", bool, "Learn beta while sampling.")
SPARSE = Option("--sparse", "sparse", bool, "For many topics: start from few documents, prune candidates.")
SEEDS = Option(
    "--seeds",
    "seeds",
    Path,
    'Seed words of topics, a JSON file: {"trade": ["tariff", "import"]}.',
    "FILE",
    read="topoi.models.guidance.model:read_guidance",
    panel=_GUIDANCE,
)
SEED_STRENGTH = Option(
    "--seed-strength",
    "seed_strength",
    int,
    "How often each seed counts as seen in its topic.",
    "N",
    "",
    1,
    shown="1 % of a topic",
    panel=_GUIDANCE,
)
BAN = Option(
    "--ban",
    "ban",
    Path,
    "Words that topics may not have, a JSON file by number or name of topic.",
    "FILE",
    read="topoi.models.guidance.model:read_guidance",
    panel=_GUIDANCE,
)
PIN = Option(
    "--pin",
    "pin",
    Path,
    "Words that only these topics may have, a JSON file.",
    "FILE",
    read="topoi.models.guidance.model:read_guidance",
    panel=_GUIDANCE,
)
DOC_LABELS = Option(
    "--doc-labels",
    "doc_labels",
    str,
    "Column of documents' labels, each a topic: they have those and the unlabelled topics.",
    "COLUMN",
    panel=_GUIDANCE,
)
FEATURES = Option(
    "--features",
    "features",
    str,
    "Columns that topics depend on; with a kind: year:date,venue.",
    "A,B",
    read="topoi.models.features.typed:feature_kinds",
    required="columns of the documents, such as year,authors",
)
INFERENCE = Option("--inference", "inference", str, "How documents' mixtures are found.", "HOW")
SWEEPS = Option("--iterations", "n_iter", int, "Sweeps over the corpus.", "N", "-i", 1, 500, panel=_SAMPLING)
WARMUP = Option("--warmup", "n_warmup", int, "Sweeps without features.", "N", "", 0, panel=_SAMPLING)
CHAINS = Option("--chains", "n_chains", int, "Independent chains.", "N", "", 1, panel=_SAMPLING)
SHARDS = Option(
    "--shards",
    "n_shards",
    str,
    "Parts sampled side by side; 1 is exact, more is approximate.",
    "N|auto",
    shown="auto",
    read="topoi.models.options:shard_count",
    panel=_SAMPLING,
)
CHECKPOINT = Option(
    "--checkpoint", "checkpoint", Path, "Keep progress here, and continue from it.", "FILE", panel=_SAMPLING
)
CLUSTER = Option(
    "--cluster",
    "executor",
    str,
    "Sweep on the Dask cluster with this scheduler, such as tcp://scheduler:8786, or in this scheduler file.",
    "ADDRESS",
    read="topoi.engine.cluster.connect:client_at",
    panel=_SAMPLING,
)
SHARED_FOLDER = Option(
    "--shared-folder",
    "shared_folder",
    str,
    "A folder that all workers of the cluster reach, to go back to when one is lost.",
    "FOLDER",
    panel=_SAMPLING,
)

LEARNED = (ALPHA, BETA, LEARN_ALPHA, LEARN_BETA)
GIBBS = (SWEEPS, CHAINS, SHARDS, CHECKPOINT)
ON_CLUSTERS = (CLUSTER, SHARED_FOLDER)
GUIDANCE = (SEEDS, SEED_STRENGTH, BAN, PIN, DOC_LABELS)


def shard_count(typed: str) -> int | str:
    """A number of shards, or ``"auto"``.

    Examples
    --------
    >>> shard_count("4"), shard_count("auto")
    (4, 'auto')
    """
    if typed == "auto":
        return typed
    if typed.isdecimal() and int(typed) > 0:
        return int(typed)
    raise ValueError(f"{typed!r} is neither a positive number nor auto")
