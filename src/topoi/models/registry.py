"""Registry of model families: the folders here that have a ``family.py``, and those of other packages.

Another package offers a family by an entry point:

    [project.entry-points."topoi.families"]
    unigrams = "my_package.family"

where ``my_package/family.py`` has a list ``MODELS`` of ``Model``. See docs/developer/new-family.md.
"""

from __future__ import annotations

import logging
import math
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NamedTuple

from topoi.errors import ModelError, NotFoundError
from topoi.models.options import Option

_LOG = logging.getLogger(__name__)
GROUP = "topoi.families"


class Model(NamedTuple):
    """Description of a public model class that can be read without importing the class.

    Attributes
    ----------
    name : str
        The class, which is also the model's name in files.
    option : str
        Its name in ``topoi fit --model``.
    title : str
        Its name in prose: "author-topic model".
    home : str
        The module that defines the class.
    posterior : str
        ``module:class`` of its posterior, which reads counts of a store by ``from_source``; empty if it has no topics.
    options : tuple of Option
        What ``topoi fit`` offers.
    needs_authors : bool
        Whether documents must have authors.
    without_authors : str
        Option of the model to fit instead, if no model was named and no document has an author.
    is_default : bool
        Whether it is fitted if no model is named.
    is_common : bool
        Whether ``topoi warm`` compiles it by default.
    function_words : bool
        Whether words like "upon" and "while" are kept when a corpus is read for it.
    takes_assignments : bool
        Whether its class has ``from_assignments``: a fitted model from a corpus and the topic of every token.
    gives : tuple of str
        Features that only some models have: "topics" (named first to those who look for them), "authors", "graph",
        "features", "coefficients", "correlations".
    small : dict
        Settings of a fit to a few words, by which ``topoi warm`` compiles everything.
    many : dict
        Those of a second fit, if other kernels sample many topics.
    not_edited : dict
        Why topics cannot be edited by hand (``topoi.edit``): by settings, the reason if one is given; by "", one that
        always holds. As ``why_not_edited`` of the class, which takes longer to import.
    """

    name: str
    option: str
    title: str
    home: str
    posterior: str = ""
    options: tuple[Option, ...] = ()
    needs_authors: bool = False
    without_authors: str = ""
    is_default: bool = False
    is_common: bool = False
    function_words: bool = False
    takes_assignments: bool = False
    gives: tuple[str, ...] = ()
    small: dict[str, Any] = {}
    many: dict[str, Any] = {}
    not_edited: dict[str, str] = {"": "its words have no topics of their own, one each, that could be moved"}

    def why_not_edited(self, settings: dict[str, Any]) -> str | None:
        """Reason why a model of these settings cannot be edited by hand; None if it can.

        Examples
        --------
        >>> model_named("LDA").why_not_edited({"n_topics": 2}) is None
        True
        >>> model_named("AuthorModel").why_not_edited({})
        'its words have no topics of their own, one each, that could be moved'
        """
        reasons = (why for name, why in self.not_edited.items() if not name or settings.get(name) is not None)
        return next(reasons, None)

    @property
    def model_class(self) -> Any:
        """The class itself, imported.

        Examples
        --------
        >>> model_named("LDA").model_class(2).n_topics
        2
        """
        return getattr(import_module(self.home), self.name)

    @property
    def posterior_class(self) -> Any:
        """The class of its posterior, imported.

        Examples
        --------
        >>> model_named("LDA").posterior_class.__name__
        'AuthorTopicPosterior'
        """
        module, name = self.posterior.split(":")
        return getattr(import_module(module), name)


class Family(NamedTuple):
    """A folder's models, and the other public names that it exports, each with its module.

    ``modules`` are those names that are modules themselves. ``builds_on`` are other families, by their folders, whose
    sampler or posterior this one is, with a prior of its own; it may import no others.
    """

    models: tuple[Model, ...]
    names: dict[str, str] = {}
    modules: tuple[str, ...] = ()
    builds_on: tuple[str, ...] = ()


@cache
def built_in() -> tuple[Family, ...]:
    """The families in this folder, in the order in which help lists them: by ``PLACE``, those without one last.

    Examples
    --------
    >>> [model.option for family in built_in() for model in family.models][:3]
    ['author-topic', 'lda', 'author']
    """
    folders = sorted(path.parent.name for path in Path(__file__).parent.glob("*/family.py"))
    modules = [import_module(f"topoi.models.{folder}.family") for folder in folders]
    return tuple(module.FAMILY for module in sorted(modules, key=lambda module: getattr(module, "PLACE", math.inf)))


@cache
def models() -> dict[str, Model]:
    """All models by the names of their classes, those of other packages last.

    A package whose family cannot be read, or whose name is taken, is left out, with a warning in the log.
    """
    found = {model.name: model for family in built_in() for model in family.models}
    options = {model.option for model in found.values()}
    for entry in entry_points(group=GROUP):
        try:
            offered = entry.load()
            for model in getattr(offered, "FAMILY", offered).models:
                if model.name in found or model.option in options:
                    _LOG.warning("the family %r offers %r, which there is already", entry.name, model.option)
                    continue
                found[model.name] = model
                options.add(model.option)
        except Exception as error:  # a broken foreign package must not break ours
            _LOG.warning("the family %r cannot be read (%s: %s)", entry.name, type(error).__name__, error)
            _LOG.debug("where it failed", exc_info=True)
    return found


def find(name: str) -> Model | None:
    """The model with this class name, or None; other packages are only searched if we have no such model.

    Examples
    --------
    >>> find("LDA").option, find("Unheard")
    ('lda', None)
    """
    ours = (model for family in built_in() for model in family.models if model.name == name)
    return next(ours, None) or models().get(name)


def model_named(name: str) -> Model:
    """A model by its class or its option, in any letter case, with or without hyphens.

    Examples
    --------
    >>> model_named("lda").name, model_named("author_topic").name, model_named("AuthorTopicModel").option
    ('LDA', 'AuthorTopicModel', 'author-topic')
    """
    named = {_letters(each): model for model in models().values() for each in (model.option, model.name)}
    if _letters(name) not in named:
        raise NotFoundError(f"{name!r} is none of {', '.join(model.option for model in models().values())}")
    return named[_letters(name)]


def default_model() -> Model:
    """The model that is fitted if none is named.

    Examples
    --------
    >>> default_model().option
    'author-topic'
    """
    return next(model for model in models().values() if model.is_default)


def assigned_model() -> Model:
    """The model that words with given topics become, as other programs have sampled them.

    Examples
    --------
    >>> assigned_model().option
    'lda'
    """
    return next(model for model in models().values() if model.takes_assignments)


def giving(what: str) -> str:
    """Models that have a feature, as a phrase for messages.

    Examples
    --------
    >>> giving("graph"), giving("features")
    ('a PachinkoAllocation', 'a KernelTopicModel or a DirichletMultinomialRegression')
    """
    return " or ".join(_with_article(model.name) for model in _giving(what))


def _with_article(name: str) -> str:
    if name.isupper():
        return name
    return f"an {name}" if name[0] in "AEIOU" else f"a {name}"


def options_giving(what: str) -> str:
    """Options of ``topoi fit`` that select models with a feature, as a phrase for messages.

    Examples
    --------
    >>> options_giving("features")
    '--model kernel or --model dmr'
    """
    return " or ".join(f"--model {model.option}" for model in _giving(what))


def _giving(what: str) -> list[Model]:
    found = [model for model in models().values() if what in model.gives]
    if not found:
        raise ModelError(f"no model gives {what!r}")
    return found


def _letters(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())
