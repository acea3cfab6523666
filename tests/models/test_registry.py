"""The registry of families; ``test_skeleton`` has a family of another package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import topoi
from topoi.models import registry
from topoi.models.options import TOPICS, Option


def test_every_model_is_what_its_family_says() -> None:
    for model in registry.models().values():
        made = model.model_class(**model.small)
        settings = made.get_params(deep=False)
        assert {option.setting for option in model.options if option.setting} <= settings.keys(), model.name
        assert all(callable(getattr(made, option.after)) for option in model.options if option.after)
        assert {"n_iter", "n_jobs", "random_state", "progress"} <= settings.keys()
        assert sum(each.is_default for each in registry.models().values()) == 1


def test_flags_mean_the_same_everywhere() -> None:
    first: dict[str, Option] = {}
    for model in registry.models().values():
        for option in model.options:
            known = first.setdefault(option.flag, option)
            assert (option.kind, option.metavar, option.short, option.panel) == known[2:3] + known[4:6] + known[14:15]


def test_values_that_are_wrong_are_said() -> None:
    with pytest.raises(ValueError, match="c is none of a, b"):
        TOPICS.but(choices=("a", "b")).value_of("c")
    with pytest.raises(topoi.NotFoundError, match="'nonsense' is none of author-topic, lda"):
        registry.model_named("nonsense")


def test_the_family_in_the_guide_is_one() -> None:
    guide = Path(topoi.__file__).parents[2] / "docs" / "developer" / "new-family.md"
    source = guide.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    names: dict[str, Any] = {}
    exec(source, names)
    (model,) = names["FAMILY"].models
    assert model.option == "unigram-mixture" and "--shyness" in {option.flag for option in model.options}
