"""Model files: the same model comes back, and a stranger's file can only be refused."""

import os
import pickle
import sqlite3
import zlib
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

import topoi
from topoi.errors import StoreError
from topoi.store.arrays import checksum, put_arrays, to_json

MODELS = {
    "AuthorTopicModel": lambda **kw: topoi.AuthorTopicModel(3, learn_alpha=True, **kw),
    "fictitious": lambda **kw: topoi.AuthorTopicModel(3, fictitious_authors=True, fictitious_weight=0.2, **kw),
    "LDA": lambda **kw: topoi.LDA(3, alpha=np.array([0.1, 0.2, 0.3]), **kw),
    "AuthorModel": lambda **kw: topoi.AuthorModel(**kw),
}


@pytest.fixture(scope="module")
def corpus():
    texts = ["Sun and stars shine", "Genes make cells", "Stars, genes: secretword"] * 5
    return topoi.Corpus.from_texts(
        texts,
        authors=["Ann", "Bob; Cy", "Ann; Bob"] * 5,
        titles=[f"title {d}" for d in range(15)],
        dates=[2000 + d for d in range(15)],
        min_df=1,
        max_df=1.0,
    )


def fit(name, corpus, **options):
    return MODELS[name](**{"n_iter": 25, "n_chains": 2, "n_shards": 2, "random_state": 4} | options).fit(corpus)


@pytest.fixture
def saved(corpus, tmp_path):
    fit("AuthorTopicModel", corpus).save(tmp_path / "m.topoi")
    return tmp_path / "m.topoi"


def arrays_of(model):
    return [a for chain in model._chains for a in model._sampler.to_arrays(chain).values()]


@pytest.mark.parametrize("name", MODELS)
def test_same_posterior_predictions_and_future(corpus, tmp_path, name):
    model = fit(name, corpus)
    model.save(tmp_path / "m")
    loaded = topoi.load(tmp_path / "m")
    assert type(loaded) is type(model)
    assert all(np.array_equal(a, b) for a, b in zip(arrays_of(model), arrays_of(loaded), strict=True))
    if name != "AuthorModel":
        for attribute in ("topic_word_", "doc_topic_", "alpha_", "beta_"):
            assert np.array_equal(getattr(model, attribute), getattr(loaded, attribute))
        assert np.array_equal(model.transform(corpus), loaded.transform(corpus))
        assert np.array_equal(model.transform(["stars shine"]), loaded.transform(["stars shine"]))
        assert model.top_words(3).equals(loaded.top_words(3))
    assert model.authors_.tolist() == loaded.authors_.tolist()
    assert np.array_equal(model.log_likelihood(corpus), loaded.log_likelihood(corpus))
    observed = np.arange(corpus.n_tokens) % 2 == 0
    assert np.array_equal(model.log_completion(corpus, observed), loaded.log_completion(corpus, observed))
    assert model.fit_info_ == loaded.fit_info_ and model.trace_.equals(loaded.trace_)
    model.resume(9)
    loaded.resume(9)
    assert all(np.array_equal(a, b) for a, b in zip(arrays_of(model), arrays_of(loaded), strict=True))


@pytest.mark.parametrize("name", MODELS)
def test_fit_and_load_leave_the_same_attributes(corpus, tmp_path, name):
    model = fit(name, corpus)
    model.save(tmp_path / "m")
    assert vars(topoi.load(tmp_path / "m")).keys() == vars(model).keys()


def test_settings_come_back_and_a_file_names_no_checkpoint(corpus, tmp_path):
    options = {"checkpoint": tmp_path / "c", "progress": False, "evaluate_every": 3, "n_jobs": 2}
    model = fit("LDA", corpus, random_state=np.random.default_rng(0), **options)
    model.save(tmp_path / "m", name="mine")
    loaded = topoi.load(tmp_path / "m").get_params()
    assert loaded["checkpoint"] is None and loaded["progress"] is None and loaded["random_state"] is None
    assert loaded["alpha"] == [0.1, 0.2, 0.3] and loaded["evaluate_every"] == 3
    assert topoi.open_store(tmp_path / "m").models()["name"].tolist() == ["mine"]


@pytest.mark.parametrize("alpha", [[np.float32(0.5)] * 3, (0.5, 0.5, 0.5), np.float32(0.5), pd.Series([0.5] * 3)])
def test_settings_of_every_numeric_type_can_be_saved(corpus, tmp_path, alpha):
    topoi.LDA(3, alpha=alpha, n_iter=2, random_state=0).fit(corpus).save(tmp_path / "m")
    np.testing.assert_allclose(topoi.load(tmp_path / "m").alpha_, 0.5)


def test_settings_changed_after_the_fit_do_not_spoil_the_file(corpus, tmp_path):
    model = fit("AuthorTopicModel", corpus)
    model.set_params(n_topics=7, alpha=0.3).save(tmp_path / "m")
    loaded = topoi.load(tmp_path / "m")
    assert loaded.n_topics == 3 and np.array_equal(loaded.topic_word_, model.topic_word_)


def test_without_the_corpus_texts_and_metadata_stay_out(corpus, tmp_path):
    model = fit("AuthorTopicModel", corpus)
    model.save(tmp_path / "with")
    model.save(tmp_path / "without", corpus=False)
    contents = {name: (tmp_path / name).read_bytes() for name in ("with", "without")}
    for private in (b"Genes make cells", b"title 3"):  # the year, four digits, may be in a file by chance
        assert private in contents["with"] and private not in contents["without"]
    bare = topoi.load(tmp_path / "without")
    assert bare.corpus_.texts is None and bare.corpus_.token_start is None
    assert np.array_equal(bare.topic_word_, model.topic_word_)
    assert np.array_equal(bare.transform(["stars shine"]), model.transform(["stars shine"]))
    with pytest.raises(topoi.ModelError, match="no column 'year'"):
        topoi.topic_trends(bare)


def test_saving_adds_to_the_file_and_needs_a_place(corpus, saved):
    model = fit("LDA", corpus)
    model.save(saved)
    assert type(topoi.load(str(saved))) is topoi.LDA
    assert type(topoi.load(saved, "AuthorTopicModel")) is topoi.AuthorTopicModel
    with pytest.raises(StoreError, match="missing"):
        model.save(saved.parent / "missing" / "m")


def test_missing_truncated_and_foreign_files_are_store_errors(saved, tmp_path):
    data = saved.read_bytes()
    for name, contents in (("half", data[: len(data) // 2]), ("empty", b""), ("text", b"{}")):
        (tmp_path / name).write_bytes(contents)
        with pytest.raises(StoreError, match=name):
            topoi.load(tmp_path / name)
    with pytest.raises(StoreError, match="nowhere does not exist"):
        topoi.load(tmp_path / "nowhere")


@pytest.fixture
def forge(saved):
    """Write other settings or arrays in place of a good file's, with the checksum that belongs to them."""

    def forged(change):
        with topoi.open_store(saved) as store:
            found = store.read_model()
            meta, arrays = found.meta, found.arrays
        change(meta, arrays)
        with closing(sqlite3.connect(saved)) as connection, connection:
            mine = "SELECT array_id FROM array WHERE model_id = 1"
            connection.execute(f"DELETE FROM array_part WHERE array_id IN ({mine})")
            connection.execute("DELETE FROM array WHERE model_id = 1")
            put_arrays(connection, 1, arrays)
            row = (to_json(meta), str(meta.get("model")), checksum(meta, arrays))
            connection.execute("UPDATE model SET bundle = ?, model = ?, digest = ?", row)

    return forged


def like(arrays, value, dtype=None):
    return np.full(len(arrays["chain0_topic"]), value, dtype)


# What to change in (meta, arrays) of a good file of 3 topics.
CHANGES = {
    "unknown model": lambda m, a: m.update(model="os.system"),
    "model is a list": lambda m, a: m.update(model=["LDA"]),
    "other model": lambda m, a: m.update(model="AuthorModel"),
    "no model": lambda m, a: m.pop("model"),
    "extra setting": lambda m, a: m["settings"].update(callback="evil"),
    "settings are a list": lambda m, a: m.update(settings=[1]),
    "setting of a wrong type": lambda m, a: m["settings"].update(n_topics="3"),
    "other n_topics": lambda m, a: m["settings"].update(n_topics=9),
    "no progress": lambda m, a: m.pop("progress"),
    "negative sweep": lambda m, a: m["progress"].update(sweep=-1),
    "negative seed": lambda m, a: m["progress"].update(seed=-1),
    "seed is a text": lambda m, a: m["progress"].update(seed="1"),
    "traces missing": lambda m, a: m["progress"].update(traces=[]),
    "traces are numbers": lambda m, a: m["progress"].update(traces=[1, 2]),
    "no chains": lambda m, a: m["fit_info"].update(n_chains=0),
    "many chains": lambda m, a: m["fit_info"].update(n_chains=10**9),
    "no shards": lambda m, a: m["fit_info"].update(n_shards=0),
    "topic too large": lambda m, a: a.update(chain0_topic=like(a, 3, np.uint16)),
    "topic negative": lambda m, a: a.update(chain0_topic=like(a, -1, np.int16)),
    "topic is a fraction": lambda m, a: a.update(chain0_topic=like(a, 0.5)),
    "topic in two dimensions": lambda m, a: a.update(chain0_topic=a["chain0_topic"][:, None]),
    "topic missing": lambda m, a: a.pop("chain1_topic"),
    "slot too large": lambda m, a: a.update(chain0_slot=like(a, 2, np.uint16)),
    "slot negative": lambda m, a: a.update(chain0_slot=like(a, -1, np.int16)),
    "alpha of another length": lambda m, a: a.update(chain0_alpha=np.ones(2)),
    "alpha nan": lambda m, a: a.update(chain0_alpha=np.full(3, np.nan)),
    "beta too short": lambda m, a: a.update(chain0_beta=np.ones(1)),
}


@pytest.mark.parametrize("what", CHANGES)
def test_changed_file_is_refused_before_a_kernel_sees_it(saved, what, forge):
    forge(CHANGES[what])
    with pytest.raises(StoreError, match=r"m\.topoi"):
        topoi.load(saved)


def test_file_cannot_choose_where_a_later_fit_writes(saved, corpus, tmp_path, forge):
    forge(lambda m, a: m["settings"].update(checkpoint=str(tmp_path / "victim")))
    topoi.load(saved).fit(corpus)
    assert not (tmp_path / "victim").exists()


class Bomb:
    def __reduce__(self):
        return os.system, ("touch exploded",)


def test_hostile_file_runs_nothing(saved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pickled").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(StoreError):
        topoi.load(tmp_path / "pickled")
    with closing(sqlite3.connect(saved)) as connection, connection:
        connection.execute("UPDATE array SET dtype = '|O'")
        connection.execute("UPDATE array_part SET data = ?", (zlib.compress(pickle.dumps(np.array([Bomb()], object))),))
    with pytest.raises(StoreError, match="refused"):
        topoi.load(saved)
    assert not (tmp_path / "exploded").exists()
