"""Stores and clients that the tests of the browser share."""

from __future__ import annotations

import shutil
import warnings

import pytest

from topoi.web.app import make_app
from web.samples import hostile_corpus, ordinary_corpus, save_all, save_featured, save_graphs

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

BASE = "http://127.0.0.1:8765"


def client_of(path, **options):
    return TestClient(make_app(path, **options), base_url=BASE, follow_redirects=False)


@pytest.fixture(scope="session")
def corpus():
    return ordinary_corpus()


@pytest.fixture(scope="session")
def stored(corpus, tmp_path_factory):
    """A store that no test may write to."""
    return save_all(corpus, tmp_path_factory.mktemp("web") / "small-collection.topoi")


@pytest.fixture(scope="session")
def graphed(corpus, tmp_path_factory):
    """A store of models over graphs that no test may write to."""
    return save_graphs(corpus, tmp_path_factory.mktemp("graphs") / "graphs.topoi")


@pytest.fixture(scope="session")
def featured(tmp_path_factory):
    """A store of models that read metadata that no test may write to."""
    return save_featured(tmp_path_factory.mktemp("featured") / "metadata.topoi")


@pytest.fixture
def path(stored, tmp_path):
    """A store of one's own."""
    return shutil.copy(stored, tmp_path / "copy.topoi")


@pytest.fixture(scope="session")
def client(stored):
    return client_of(stored)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    path = save_all(hostile_corpus(), tmp_path_factory.mktemp("hostile") / "hostile.topoi")
    return client_of(path)


@pytest.fixture
def token(client):
    return client.app.state.server.tokens.token
