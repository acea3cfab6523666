"""The description of the API, and that the server keeps to it whatever is asked."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance

from topoi.web.app import make_app
from web.addresses import MAIN

HOST = {"host": "127.0.0.1:8765"}
# A few of each kind with every change, many at night.
FEW, MANY = 5, 150
TWINS = [
    "overview",
    "topic/{topic}",
    "together",
    "names",
    "oddities",
    "change/{change}",
    "history",
    "structure",
    "structure/{node}",
    "metadata",
    "authors",
    "author/{author}",
    "documents",
    "document/{document}",
    "word/{word}",
    "trends",
    "groups",
    "compare",
    "compare/{other}",
    "search",
    "parse",
    "reviewers",
    "submissions",
    "models",
    "ready",
    "complete",
    "map",
]
OPERATIONS = [*((twin, "get") for twin in TWINS), ("parse", "post"), ("reviewers", "post"), ("submissions", "post")]
PLAN = {
    "derandomize": True,
    "deadline": None,
    "database": None,
    "phases": [Phase.explicit, Phase.generate],
    "suppress_health_check": list(HealthCheck),
}


@pytest.fixture(scope="module")
def apis(stored, graphed, featured):
    """The API for models without and with a graph of topics or metadata, each with the name of a model."""
    return [
        (schemathesis.openapi.from_asgi("/openapi.json", make_app(path), headers=HOST), slug)
        for path, slug in ((stored, MAIN), (graphed, "four"), (featured, "regression"))
    ]


def test_describes_every_twin(client):
    paths = client.get("/openapi.json").json()["paths"]
    assert {(path, method) for path in paths for method in paths[path]} == {
        (f"/m/{{slug}}/{twin}.json", method) for twin, method in OPERATIONS
    }
    for operations in paths.values():
        for operation in operations.values():
            assert "422" not in operation["responses"]
            assert {"200", "400", "404", "503"} <= set(operation["responses"])
            assert operation["summary"]
            for parameter in operation["parameters"]:
                assert parameter["description"]
                limits = {"maximum", "maxLength", "maxItems", "maxProperties", "enum", "anyOf"}
                assert limits & set(parameter["schema"]), parameter


@pytest.mark.parametrize("n_examples", [FEW, pytest.param(MANY, marks=pytest.mark.slow)], ids=["few", "many"])
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["as described", "otherwise"])
@pytest.mark.parametrize(("twin", "method"), OPERATIONS)
def test_keeps_to_its_description(apis, twin, method, mode, n_examples):
    api, slug = apis[1 if "structure" in twin else 2 if twin == "metadata" else 0]
    operation = api[f"/m/{{slug}}/{twin}.json"][method]
    n_answered = 0

    @settings(max_examples=n_examples, **PLAN)
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case):
        nonlocal n_answered
        case.path_parameters["slug"] = slug
        answer = case.call(headers=HOST)
        assert answer.status_code != 421
        case.validate_response(answer, checks=[not_a_server_error, response_schema_conformance])
        n_answered += answer.status_code == 200

    ask()
    # No table of submissions is made up by chance.
    if mode is GenerationMode.POSITIVE and "{" not in twin and (twin, method) != ("submissions", "post"):
        assert n_answered


def test_types_keep_their_published_names(client):
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    assert {"Face", "MapFace", "NodeFace"} <= schemas.keys()
    assert not [name for name in schemas if name.endswith("Summary")]
