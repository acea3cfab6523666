"""Edits by hand: what they change, what they leave, what is drawn from which law, and the way back."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import topoi
from thinning import slow_unless
from topoi.errors import ModelError, NotFoundError
from topoi.kernels.random import new_stream
from topoi.models.editing import splitting
from topoi.models.editing.draft import Draft
from topoi.models.editing.glance import telling_words
from topoi.models.editing.records import Edit, given_names, retired_topics
from topoi.models.editing.splitting import Restricted, empty_counts, log_joint, restricted_problem, restricted_sweep

WORDS = ("ship harbor sail anchor captain", "wheat harvest plough farmer barley", "judge verdict trial jury appeal")
EDITED = {
    "lda": lambda **more: topoi.LDA(4, alpha=0.1, beta=0.05, **more),
    "learned": lambda **more: topoi.LDA(4, **more),
    "counts": lambda **more: topoi.LDA(4, alpha=0.1, sparse="counts", **more),
    "pruned": lambda **more: topoi.LDA(4, alpha=0.1, sparse="pruned", **more),
    "authors": lambda **more: topoi.AuthorTopicModel(4, alpha=0.1, **more),
    "fictitious": lambda **more: topoi.AuthorTopicModel(4, alpha=0.1, fictitious_authors=True, **more),
    "dmr": lambda **more: topoi.DirichletMultinomialRegression(4, features=["authors", "year"], n_warmup=5, **more),
    "pachinko": lambda **more: topoi.PachinkoAllocation(2, 4, **more),
}
# Those that take guidance, which all edits but splits and names need.
GUIDED = [name for name, make in EDITED.items() if "ban" in make().get_params()]


@pytest.fixture(scope="module")
def corpus() -> topoi.Corpus:
    rng = np.random.default_rng(0)
    lists = [[str(w) for w in rng.choice(WORDS[d % 3].split(), 8 + d % 3)] for d in range(30)]
    names = [["Drake", "Cook", "Tull", "Coke"][d % 3 : d % 3 + 1 + d % 2] for d in range(30)]
    ids = [f"d{d}" for d in range(30)]
    return topoi.Corpus.from_tokens(lists, ids=ids, authors=names, dates=[1900 + d for d in range(30)])


def fitted(name: str, corpus: topoi.Corpus, **more: Any) -> Any:
    return EDITED[name](**{"n_iter": 20, "random_state": 0, "progress": False, "evaluate_every": 5} | more).fit(corpus)


def state(model: Any) -> dict[str, Any]:
    return {name: np.asarray(array) for name, array in model.to_bundle()[1].items()}


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name], equal_nan=True) for name in one)


def topics(model: Any) -> np.ndarray:
    return np.asarray(model._sampler.to_arrays(model._chains[0])["topic"])


def check_counts(model: Any) -> None:
    """The chain's counts are those of its assignments, phantoms included."""
    chain, sampler = model._chains[0], model._sampler
    found = [np.array(each) for each in chain.counts]
    sampler.recount(chain)
    for now, then in zip(chain.counts, found, strict=True):
        assert np.array_equal(np.asarray(now), then)
    table = np.zeros((model.corpus_.n_words, sampler.n_topics))
    np.add.at(table, (model.corpus_.tokens, topics(model)), 1)
    if sampler.guidance is not None:
        table += sampler.guidance.phantoms.rows(np.arange(len(table)), chain.priors.beta)
    w, k, values = chain.counts.word_cells()
    cells = np.zeros_like(table)
    cells[w, k] = values
    assert np.allclose(cells, table)


def every_edit(editor: Any) -> Any:
    editor.merge(0, 1).split(2).ban(0, ["ship", "wheat"]).pin(3, "judge").freeze(3).rename(0, "both")
    return editor.send("d4", to=0, away_from=3)


@pytest.mark.parametrize("name", slow_unless(lambda name: name != "pachinko", GUIDED))
def test_counts_are_recounted_and_an_undo_gives_the_same_bits(name: str, corpus: topoi.Corpus) -> None:
    model = fitted(name, corpus)
    before, settings, labels = state(model), model.get_params(), model.topic_labels()
    editor = topoi.edit(model)
    model = every_edit(editor).commit(n_iter=6)
    check_counts(model)
    assert editor.model is model and model.n_iter_ == 26 and not editor.pending
    found, words = topics(model), corpus.words[corpus.tokens]
    # The number of the topic that was merged away was taken by the split.
    assert editor.retired == [] and set(np.unique(found)) <= set(range(4))
    assert not np.isin(words[found == 0], ["ship", "wheat"]).any()
    assert (found[words == "judge"] == 3).all()
    assert not (found[corpus.doc_start[4] : corpus.doc_start[5]] == 3).any()
    assert editor.names() == {0: "both"} and not editor.history()["undone"].any()
    editor.undo()
    assert same(state(model), before) and model.topic_labels() == labels and model.n_iter_ == 20
    assert {key: repr(value) for key, value in model.get_params().items()} == {k: repr(v) for k, v in settings.items()}
    assert editor.history()["undone"].all() and editor.names() == {}
    with pytest.raises(ModelError, match="nothing to undo"):
        editor.undo()


@pytest.mark.parametrize("name", GUIDED)
def test_a_retired_topic_stays_empty_and_numbers_stay(name: str, corpus: topoi.Corpus) -> None:
    model = fitted(name, corpus)
    then = topics(model)
    editor = topoi.edit(model)
    assert editor.merge(0, 2).commit(n_iter=0) is model
    moved = topics(model)
    assert not (moved == 2).any() and editor.retired == [2]
    assert np.flatnonzero(model._sampler.guidance.phantoms.retired).tolist() == [2]
    for k in (1, 3):
        # Sweeps over documents concerned may move their words, and no others.
        docs = [d for d in range(30) if np.isin(then[corpus.doc_start[d] : corpus.doc_start[d + 1]], [0, 2]).any()]
        free = np.isin(np.repeat(np.arange(30), corpus.doc_lengths), docs)
        assert np.array_equal(moved[~free] == k, then[~free] == k)
    model.resume(30)
    assert not (topics(model) == 2).any() and model.doc_topic_.shape == (30, 4)
    check_counts(model)
    with pytest.raises(ModelError, match="topic 2 is retired"):
        editor.merge(0, 2)
    # A split takes the number again, then the next.
    model = editor.split(0, into=3).commit(n_iter=5)
    assert editor.retired == [] and model.topic_word_.shape == (5, 15) and model.edits_[-1].topics == (0, 2, 4)
    check_counts(model)


@pytest.mark.parametrize("name", GUIDED)
def test_same_bits_on_any_threads_and_from_a_file(name: str, corpus: topoi.Corpus, tmp_path: Any) -> None:
    models = [fitted(name, corpus, n_chains=2, n_jobs=jobs) for jobs in (1, 2)]
    models[0].save(tmp_path / "a.topoi")
    models.append(topoi.load(tmp_path / "a.topoi"))
    for model in models:
        every_edit(topoi.edit(model)).commit(n_iter=4)
    assert same(state(models[0]), state(models[1])) and same(state(models[0]), state(models[2]))
    assert models[0].fit_info_["n_chains"] == 1 and len(models[0].chains_) == 1
    models[0].save(tmp_path / "b.topoi")
    again = topoi.load(tmp_path / "b.topoi")
    assert same(state(again), state(models[0])) and again.edits_ == models[0].edits_
    assert same(state(again.resume(3)), state(models[0].resume(3)))


@pytest.mark.parametrize("name", GUIDED)
def test_only_documents_concerned_are_sampled_first(name: str, corpus: topoi.Corpus) -> None:
    model = fitted(name, corpus)
    before, own = topics(model), slice(corpus.doc_start[4], corpus.doc_start[5])
    k = int(np.bincount(before[own]).argmax())
    model = topoi.edit(model).send("d4").commit(n_iter=0)
    after = topics(model)
    assert model.edits_[0].topics == (k,) and not (after[own] == k).any()
    after[own] = before[own]
    assert np.array_equal(after, before)


@pytest.mark.parametrize("name", EDITED)
def test_splits_alone(name: str, corpus: topoi.Corpus) -> None:
    model = fitted(name, corpus)
    before, editor = state(model), topoi.edit(model)
    assert editor.split(1, into=3).commit(n_iter=12).topic_word_.shape == (6, 15)
    check_counts(model)
    assert model.get_params().get("sparse") == EDITED[name]().get_params().get("sparse")
    assert same(state(editor.undo()), before)
    if name not in GUIDED:
        with pytest.raises(ModelError, match="takes no guidance"):
            editor.merge(0, 1)
        assert not editor.pending


def test_a_preview_changes_nothing_and_a_commit_after_it_is_the_same(corpus: topoi.Corpus) -> None:
    one, other = fitted("lda", corpus), fitted("lda", corpus)
    before = state(one)
    editor = every_edit(topoi.edit(one))
    preview = editor.preview()
    assert same(state(one), before) and one.edits_ == []
    assert preview.topics["topic"].tolist() == [0, 1, 2, 3] and "merge 1 into 0" in repr(preview)
    assert preview.n_documents == len(preview.documents) > 0
    assert repr(editor.preview()) == repr(preview)
    assert [row["topic"] for row in preview.to_dict()["topics"]] == [0, 1, 2, 3]
    editor.commit(n_iter=3)
    every_edit(topoi.edit(other)).commit(n_iter=3)
    assert same(state(one), state(other))


def test_preview_compares_words_documents_and_likelihood(corpus: topoi.Corpus) -> None:
    """Three subjects in three topics: a merge of two is worse, a split of the two better again."""
    model = topoi.LDA(3, alpha=0.1, n_iter=100, random_state=1, progress=False).fit(corpus)
    shares = model.doc_topic_[:3].argmax(axis=1).tolist()
    assert sorted(shares) == [0, 1, 2]
    editor = topoi.edit(model).merge(shares[0], shares[1])
    preview = editor.preview()
    row = preview.topics.set_index("topic").loc[shares[0]]
    assert set(row["words_before"]) == set(WORDS[0].split())
    assert set(row["words_after"]) == set((WORDS[0] + " " + WORDS[1]).split())
    assert set(preview.documents["document"]) == set(range(1, 30, 3))
    assert (preview.documents["source"] == shares[1]).all() and (preview.documents["target"] == shares[0]).all()
    assert (preview.documents["part"] == 1.0).all() and preview.documents["id"].str.startswith("d").all()
    assert preview.log_likelihood_after < preview.log_likelihood_before - 0.3
    assert preview.log_joint_after < preview.log_joint_before
    phi = model.chains_[0].topic_word
    editor.commit(n_iter=2)
    back = editor.split(shares[0]).preview()
    assert back.log_likelihood_after > back.log_likelihood_before + 0.3 and back.n_documents == 10
    assert phi.shape == (3, 15)


def test_names_alone_need_no_sweeps(corpus: topoi.Corpus) -> None:
    model = fitted("lda", corpus)
    before = state(model)
    editor = topoi.edit(model, who="Ann").rename(1, " trade ")
    assert editor.preview().n_documents == 0
    editor.commit()
    assert same(state(model), before) and model.n_iter_ == 20 and editor.names() == {1: "trade"}
    row = editor.history().iloc[0]
    assert (row["who"], row["n_iter"], row["label"], row["text"]) == ("Ann", 0, "trade", "call 1 'trade'")
    editor.rename(1, None).commit()
    assert editor.names() == {}
    editor.undo()
    assert editor.names() == {1: "trade"}


@pytest.mark.parametrize("name", EDITED)
def test_restricted_conditional_is_that_of_the_joint(name: str, corpus: topoi.Corpus) -> None:
    """For every choice of one token, the draw's weights are as the whole model's joint probability has them."""
    model = fitted(name, corpus)
    draft = Draft(model)
    draft.apply(Edit("split", (2, 4, 5)))
    at, chosen = np.flatnonzero(np.isin(draft.arrays["topic"], [2, 4, 5])), np.array([2, 4, 5])
    sampler = model._sampler if draft.sampler is None else draft.sampler
    problem = restricted_problem(sampler, draft.arrays, corpus.tokens, at, chosen)
    place = np.searchsorted(chosen, draft.arrays["topic"][at])
    for i in (0, len(at) // 2, len(at) - 1):
        joints, restricted = [], []
        for m, k in enumerate(chosen):
            topic = draft.arrays["topic"].copy()
            topic[at[i]] = k
            joints.append(sampler.log_joint(sampler.restore(0, draft.arrays | {"topic": topic}, [])))
            other = place.copy()
            other[i] = m
            restricted.append(log_joint(problem, counted(problem, other)))
        assert np.allclose(np.diff(joints), np.diff(restricted), atol=2e-3)
        counts = counted(problem, place)
        drop(counts, problem, i, place[i])
        w, r = problem.word[i], problem.row[i]
        weights = (counts.word_topic[w] + problem.beta[w]) / (counts.topic + problem.beta_sum)
        weights = weights * (counts.row_topic[r] + problem.alpha[r])
        assert np.allclose(np.diff(np.log(weights)), np.diff(restricted), atol=1e-9)


def counted(problem: Restricted, choice: np.ndarray) -> Any:
    counts = empty_counts(problem)
    np.add.at(counts.word_topic, (problem.word, choice), 1)
    np.add.at(counts.topic, choice, 1)
    np.add.at(counts.row_topic, (problem.row, choice), 1)
    return counts


def drop(counts: Any, problem: Restricted, i: int, m: int) -> None:
    counts.word_topic[problem.word[i], m] -= 1
    counts.topic[m] -= 1
    counts.row_topic[problem.row[i], m] -= 1


def test_restricted_run_has_the_exact_law() -> None:
    """Frequencies of all states of five tokens between two topics, against the sum over all of them."""
    word, row = np.array([0, 1, 0, 2, 2]), np.array([0, 0, 1, 1, 2])
    beta = np.array([[0.3, 0.3], [0.2, 1.2], [0.5, 0.5]])
    problem = Restricted(word, row, beta, np.array([1.4, 2.4]), np.array([[0.2, 0.7], [0.4, 0.4], [1.0, 0.5]]))
    states = list(itertools.product(range(2), repeat=5))
    exact = np.exp([log_joint(problem, counted(problem, np.array(each))) for each in states])
    exact /= exact.sum()
    stream, choice, counts = new_stream(7), np.full(5, -1, np.int64), empty_counts(problem)
    times = np.zeros(len(states))
    n = 40_000
    for _ in range(n):
        restricted_sweep(problem, choice, counts, stream)
        times[choice @ (2 ** np.arange(4, -1, -1))] += 1
    assert np.abs(times / n - exact).max() < 0.012
    assert np.array_equal(counts.row_topic, counted(problem, choice).row_topic)


@pytest.mark.parametrize("seed", range(3))
def test_planted_pairs_merged_by_force_are_split_again(seed: int) -> None:
    simulated = topoi.LDA(8, alpha=0.1, beta=0.05).simulate(300, 60, random_state=seed)
    truth = simulated.truth.topic
    model = topoi.LDA.from_assignments(simulated, truth, 8, alpha=0.1, beta=0.05, random_state=seed, progress=False)
    editor = topoi.edit(model)
    for kept, gone in ((0, 1), (2, 3), (4, 5)):
        editor.merge(kept, gone)
    editor.commit(n_iter=5)
    for kept in (0, 2, 4):
        editor.split(kept)
    assert [edit.topics for edit in editor.pending] == [(0, 1), (2, 3), (4, 5)]
    model = editor.commit(n_iter=10)
    found = topics(model)
    for pair in ((0, 1), (2, 3), (4, 5)):
        own = np.isin(truth, pair)
        table = np.array([[np.count_nonzero(own & (truth == t) & (found == k)) for k in pair] for t in pair])
        assert max(np.trace(table), np.trace(table[::-1])) > 0.85 * own.sum(), table


def test_a_frozen_topic_hardly_moves(corpus: topoi.Corpus) -> None:
    one, other = fitted("lda", corpus), fitted("lda", corpus)
    before = one.topic_word_[1]
    topoi.edit(one).freeze(1).commit(n_iter=30)
    topoi.edit(other).merge(0, 2).commit(n_iter=30)
    assert 0.5 * np.abs(one.topic_word_[1] - before).sum() < 0.05
    assert 0.5 * np.abs(other.topic_word_[1] - before).sum() > 0.05


def test_edits_hold_for_new_documents(corpus: topoi.Corpus) -> None:
    model = fitted("learned", corpus)
    editor = topoi.edit(model)
    editor.merge(0, 1).ban(0, "ship").pin(3, "judge").send("d4", away_from=3).commit(n_iter=2)
    new = topoi.Corpus.from_tokens([["ship", "sail", "judge", "jury"] * 3] * 8, ids=[f"n{d}" for d in range(8)])
    model.update(new, n_iter=10)
    found, words = topics(model), model.corpus_.words[model.corpus_.tokens]
    assert not (found == 1).any() and not (found[words == "ship"] == 0).any() and (found[words == "judge"] == 3).all()
    assert not (found[model.corpus_.doc_start[4] : model.corpus_.doc_start[5]] == 3).any()
    assert len(editor.history()) == 4 and editor.retired == [1]
    with pytest.raises(ModelError, match="updated by new documents"):
        editor.undo()
    model = topoi.edit(model).split(0).commit(n_iter=2)
    check_counts(model)


def test_what_cannot_be_done_is_said_and_changes_nothing(corpus: topoi.Corpus) -> None:
    model = fitted("lda", corpus)
    editor = topoi.edit(model).merge(0, 3)
    for wrong, error, what in (
        (lambda: editor.merge(1, 1), ModelError, "merged with itself"),
        (lambda: editor.merge(1), ModelError, "which other"),
        (lambda: editor.merge(1, 4), NotFoundError, "numbered 0 to 3"),
        (lambda: editor.merge(1, 3), ModelError, "topic 3 is retired"),
        (lambda: editor.split(3), ModelError, "topic 3 is retired"),
        (lambda: editor.split("1"), NotFoundError, "no topic '1'"),
        (lambda: editor.split(1, into=1), ModelError, "into"),
        (lambda: editor.split(1, into=1000), ModelError, "at most"),
        (lambda: editor.rename(1, "x" * 1001), ModelError, "at most 1000"),
        (lambda: editor.ban(1, "shop"), NotFoundError, "ship"),
        (lambda: editor.ban(1, []), ModelError, "no words"),
        (lambda: editor.pin(1, "ship").ban(1, "ship"), ModelError, "pinned to topic 1 and banned there"),
        (lambda: editor.send("d99", away_from=1), NotFoundError, "no document 'd99'"),
        (lambda: editor.send(30, away_from=1), NotFoundError, "numbered 0 to 29"),
        (lambda: editor.send(3, to=1, away_from=1), ModelError, "and to it"),
        (lambda: editor.commit(n_iter=-1), ModelError, "n_iter"),
    ):
        with pytest.raises(error, match=what):
            wrong()
    assert [edit.text for edit in editor.pending] == ["merge 3 into 0", "pin ship to 1"]
    model.resume(1)
    with pytest.raises(ModelError, match="discard"):
        editor.commit()
    with pytest.raises(ModelError, match="nothing to commit"):
        editor.discard().commit()
    empty = topoi.LDA.from_assignments(corpus, np.zeros(corpus.n_tokens, int), 2, alpha=0.1, random_state=0)
    with pytest.raises(ModelError, match="topic 1 has 0 words"):
        topoi.edit(empty).split(1)
    with pytest.raises(ModelError, match="nothing to hold"):
        topoi.edit(empty).freeze(1)
    with pytest.raises(ModelError, match="cannot be undone|not known"):
        again = fitted("lda", corpus)
        topoi.edit(again).merge(0, 1).commit(n_iter=0)
        topoi.edit(again).undo()


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: topoi.HierarchicalDirichletProcess(n_iter=2, random_state=0), "numbered by size"),
        (lambda: topoi.CorrelatedTopicModel(3, n_iter=2, random_state=0), "covariance"),
        (lambda: topoi.PLSI(2, n_iter=2, random_state=0), "no topics of their own"),
        (lambda: topoi.PachinkoAllocation(dag=topoi.Dag.from_levels(2, 3), n_iter=2, random_state=0), "graph"),
    ],
)
def test_other_models_say_why_not(make: Any, why: str, corpus: topoi.Corpus) -> None:
    with pytest.raises(ModelError, match=why):
        topoi.edit(make().fit(corpus))
    with pytest.raises(ModelError, match="not list"):
        topoi.edit([])


def test_a_failing_commit_leaves_the_model(corpus: topoi.Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted("lda", corpus)
    before = state(model)
    editor = topoi.edit(model).split(1)
    with pytest.raises(ZeroDivisionError):
        editor.commit(callback=lambda info: 1 // 0)
    assert same(state(model), before) and model.edits_ == [] and len(editor.pending) == 1
    assert editor.commit(n_iter=9, callback=lambda info: info.sweep == 22).n_iter_ == 22
    monkeypatch.setattr(splitting, "_sweep", lambda *_: 1 // 0)
    editor.merge(0, 2)
    with pytest.raises(ZeroDivisionError):
        editor.split(1)
    assert [edit.kind for edit in editor.pending] == ["merge"]


def test_records_are_checked() -> None:
    edit = Edit("merge", (3, 7), number=1, step=1)
    assert Edit.from_dict(edit.to_dict()) == edit
    for wrong in (
        {},
        edit.to_dict() | {"kind": "burn"},
        edit.to_dict() | {"topics": []},
        edit.to_dict() | {"topics": 3},
    ):
        with pytest.raises(ModelError, match="cannot be read"):
            Edit.from_dict(wrong)
    assert retired_topics([edit, Edit("split", (2, 7))]) == []
    assert given_names([Edit("rename", (7,), label="x"), edit]) == {7: None}


def shuffled_model() -> Any:
    """A model whose words change topics all the time: topics that hardly differ."""
    rng = np.random.default_rng(0)
    rows = [[f"w{n}" for n in rng.integers(12, size=30)] for _ in range(40)]
    return topoi.LDA(4, alpha=1.0, n_iter=20, random_state=0).fit(topoi.Corpus.from_tokens(rows))


def test_documents_that_move_without_the_edit_are_not_listed() -> None:
    model = shuffled_model()
    editor = topoi.edit(model).freeze(1)
    before = model._sampler.to_arrays(model._chains[0])["topic"]
    after = editor._settle()["topic"]
    flips = [np.mean(before[30 * d : 30 * d + 30] != after[30 * d : 30 * d + 30]) for d in range(40)]
    assert np.mean(np.array(flips) > 0.1) > 0.8  # most of them move by chance
    assert editor.preview().n_documents < 8
    merged = topoi.edit(model).merge(0, 1).preview()  # a real change
    assert merged.n_documents > 2 * editor.preview().n_documents
    row = merged.documents.iloc[0]
    assert row["part"] >= 0.1 and (row["source"], row["target"]) == (1, 0)
    again = topoi.edit(model).merge(0, 1).preview()
    assert again.documents.equals(merged.documents)


def test_a_preview_is_interrupted_between_sweeps() -> None:
    editor, seen = topoi.edit(shuffled_model()).merge(0, 1), []

    def watch() -> None:
        seen.append(1)
        if len(seen) == 4:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        editor.preview(watch=watch)
    assert len(seen) == 4 and [edit.text for edit in editor.pending] == ["merge 1 into 0"]
    uninterrupted = topoi.edit(shuffled_model()).merge(0, 1)
    assert editor.preview().to_dict() == uninterrupted.preview(watch=lambda: None).to_dict()
    assert len(uninterrupted._settle()["topic"]) == len(editor._settle()["topic"])


def test_a_look_while_topics_settle() -> None:
    model, glances = shuffled_model(), []
    editor = topoi.edit(model).split(2)
    editor.commit(n_iter=6, look=lambda info, glance: glances.append((info.sweep, glance())))
    assert [sweep for sweep, _ in glances] == list(range(21, 27))
    last = glances[-1][1]
    state = model._sampler.to_arrays(model._chains[0])["topic"]
    assert last.sizes == np.bincount(state, minlength=5).tolist() and set(last.words) == {2, 4}
    assert all(sum(last.sources[k].values()) == last.sizes[k] for k in (2, 4))
    assert last.words[2] == telling_words(
        model.corpus_, np.bincount(model.corpus_.tokens[state == 2], minlength=12), np.bincount(model.corpus_.tokens)
    )
    plain = shuffled_model()
    topoi.edit(plain).split(2).commit(n_iter=6)
    assert np.array_equal(plain.topic_word_, model.topic_word_)  # who looks changes nothing
