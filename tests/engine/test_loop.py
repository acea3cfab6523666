"""The loop: interruption, callbacks, traces, progress, executors, shards, diagnostics."""

import hashlib
import io
import signal
import sys
import threading
import warnings
from typing import NamedTuple
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topoi
from engine.processes import start_python
from topoi.engine import executors, shards
from topoi.engine.chains import diagnose, trace_frame
from topoi.engine.executors import SerialExecutor, open_executor, resolve_jobs
from topoi.engine.interruption import interruptible
from topoi.engine.progress import NotebookBar, Silent, open_progress
from topoi.engine.shards import Merger, cut, resolve_shards
from topoi.errors import ModelError


def digest(model):
    return hashlib.blake2b(b"".join(c.assignments.topic.tobytes() for c in model.chains_), digest_size=8).hexdigest()


@pytest.fixture(scope="module")
def corpus():
    return topoi.LDA(4, alpha=0.2, beta=0.05).simulate(40, 30, random_state=1)


def interrupt_at(sweep):
    return lambda info: signal.raise_signal(signal.SIGINT) if info.sweep == sweep else None


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interrupted_fit_is_usable_and_resumes_with_the_same_bits(corpus, n_jobs):
    handler = signal.getsignal(signal.SIGINT)
    options = {"n_iter": 30, "n_chains": 2, "n_jobs": n_jobs, "random_state": 0}
    model = topoi.LDA(4, **options).fit(corpus, callback=interrupt_at(7))
    assert signal.getsignal(signal.SIGINT) is handler
    assert model.fit_info_["interrupted"] and model.fit_info_["n_sweeps"] == model.n_iter_ == 7
    np.testing.assert_allclose(model.transform(corpus).sum(axis=1), 1)
    model.resume(23)
    assert not model.fit_info_["interrupted"]
    assert digest(model) == digest(topoi.LDA(4, **options).fit(corpus))


LONG = """
import sys, topoi
corpus = topoi.LDA(4, alpha=0.2, beta=0.05).simulate(200, 100, random_state=1)
model = topoi.LDA(4, n_iter=10**9, random_state=0).fit(corpus, callback=lambda info: print(info.sweep, flush=True))
print("interrupted", model.fit_info_["interrupted"], model.topic_word_.shape)
"""


def test_ctrl_c_ends_a_long_fit_in_another_process():
    process = start_python(LONG)
    for _ in range(3):
        process.stdout.readline()
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert output.splitlines()[-1] == "interrupted True (4, 1000)"


def test_second_ctrl_c_ends_at_once_and_leaves_the_earlier_result_whole(corpus):
    model = topoi.LDA(4, n_iter=12, n_shards=3, random_state=0).fit(corpus)
    before, frozen = digest(model), model.chains_[0]
    counts = [array.copy() for array in frozen.counts]

    def twice(info):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        model.resume(10, callback=twice)
    with pytest.raises(KeyboardInterrupt):
        model.fit(topoi.Corpus.from_tokens([["x", "y"]] * 4), callback=twice)
    assert digest(model) == before and model.n_iter_ == 12 and model.corpus_ is corpus
    assert all(np.array_equal(a, b) for a, b in zip(counts, frozen.counts, strict=True))
    assert digest(model.resume(5)) == digest(topoi.LDA(4, n_iter=17, n_shards=3, random_state=0).fit(corpus))
    assert all(np.array_equal(a, b) for a, b in zip(counts, frozen.counts, strict=True))  # a frozen result stays


def test_first_fit_that_fails_leaves_no_model(corpus):
    model = topoi.LDA(4, n_iter=5)
    with pytest.raises(ZeroDivisionError):
        model.fit(corpus, callback=lambda info: 1 / 0)
    with pytest.raises(ValueError, match="not fitted"):
        model.transform(corpus)


def test_signals_are_left_alone_in_threads_and_where_they_are_ignored():
    def enter():
        with interruptible() as flag:
            return signal.getsignal(signal.SIGINT), flag.is_set()

    default = signal.getsignal(signal.SIGINT)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(enter()))
    thread.start()
    thread.join()
    assert seen == [(default, False)]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert enter() == (signal.SIG_IGN, False)
    finally:
        signal.signal(signal.SIGINT, default)


def test_callback_sees_every_sweep_and_a_true_result_stops(corpus):
    seen = []
    model = topoi.LDA(4, n_iter=30, evaluate_every=5, random_state=0)
    model.fit(corpus, callback=lambda info: seen.append(info) or info.sweep == 12)
    assert [info.sweep for info in seen] == list(range(1, 13))
    assert model.n_iter_ == 12 and not model.fit_info_["interrupted"]
    assert [info.sweep for info in seen if info.log_joint_per_token is not None] == [5, 10]
    assert all(info.n_iter == 30 and info.tokens_per_second > 0 for info in seen)


def test_traces_hold_every_chain_at_every_evaluation_and_the_end(corpus):
    model = topoi.LDA(4, n_iter=13, evaluate_every=5, n_chains=2, random_state=0).fit(corpus)
    trace = model.trace_
    assert trace[["chain", "sweep"]].values.tolist() == [[c, s] for c in (0, 1) for s in (5, 10, 13)]
    np.testing.assert_allclose(trace["log_joint_per_token"], trace["log_joint"] / corpus.n_tokens)
    last = trace[trace["sweep"] == 13]["log_joint"].tolist()
    assert last == [model._sampler.log_joint(chain) for chain in model._chains]


@pytest.mark.parametrize(("progress", "drawn"), [(True, True), (False, False), (None, False)])
def test_progress_bar_is_drawn_only_when_asked(corpus, capsys, progress, drawn):
    topoi.LDA(2, n_iter=3, n_shards=2, random_state=0, progress=progress).fit(corpus)
    output, errors = capsys.readouterr()
    assert output == ""
    assert ("LDA, approximate" in errors and "3/3" in errors) if drawn else errors == ""


def test_progress_follows_the_terminal_if_not_asked(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    bar = open_progress(None, "x", 5)
    bar.close()
    assert not isinstance(bar, Silent)
    assert isinstance(open_progress(None, "x", 5, done=5), Silent)
    monkeypatch.setattr(sys, "stderr", None)
    assert isinstance(open_progress(None, "x", 5), Silent)


@pytest.fixture
def notebook(monkeypatch):
    """Displays of a notebook, in place of one: every picture that is shown, in order."""
    import IPython.core.getipython
    import IPython.display

    pictures = []

    class Handle:
        def update(self, picture):
            pictures.append(picture._repr_html_())

    def display(picture, display_id):
        pictures.append(picture._repr_html_())
        assert " iterations" in repr(picture) and "<div" not in repr(picture)
        return Handle()

    class Shell:
        kernel = object()

    monkeypatch.setitem(sys.modules, "ipykernel", io)
    monkeypatch.setattr(IPython.core.getipython, "get_ipython", Shell)
    monkeypatch.setattr(IPython.display, "display", display)
    return pictures


def test_a_notebook_has_a_bar_without_being_asked(notebook, corpus):
    topoi.LDA(2, n_iter=3, random_state=0).fit(corpus)
    assert '<progress max="3" value="0"' in notebook[0] and '<progress max="3" value="1"' in notebook[1]
    assert "M tokens/s" in notebook[1] and "left" in notebook[1]
    # What is stored with the notebook is the same after every run.
    assert "<progress" not in notebook[-1] and "3 of 3 iterations" in notebook[-1] and "tokens/s" not in notebook[-1]
    notebook.clear()
    topoi.LDA(2, n_iter=3, random_state=0, progress=False).fit(corpus)
    assert not notebook


def test_a_notebooks_bar_escapes_its_title(notebook):
    bar = open_progress(None, "<b>x", 5)
    bar.close()
    assert isinstance(bar, NotebookBar) and all("&lt;b&gt;x" in picture for picture in notebook)


def test_refused_setting_leaves_no_bar_behind(corpus, capsys):
    for _ in range(2):
        with pytest.raises(ModelError, match="n_jobs"):
            topoi.LDA(2, n_iter=3, n_jobs=0, progress=True).fit(corpus)
    topoi.LDA(2, n_iter=3, progress=True).fit(corpus)
    assert "3/3" in capsys.readouterr().err


def test_executors_apply_the_function_to_every_task():
    for n_jobs, n_tasks in ((1, 5), (3, 5), (8, 2), (4, 0)):
        with open_executor(n_jobs, n_tasks) as executor:
            assert isinstance(executor, SerialExecutor) == (min(n_jobs, n_tasks) <= 1)
            assert list(executor.map(lambda x: x * x, range(n_tasks))) == [x * x for x in range(n_tasks)]


def test_jobs_are_resolved_as_scikit_learn_does(monkeypatch):
    monkeypatch.setattr(executors, "_cores", lambda: 4)
    assert [resolve_jobs(n) for n in (None, 1, 7, -1, -2, -4, -9, np.int64(2))] == [1, 1, 7, 4, 3, 1, 1, 2]


@pytest.mark.parametrize("n_jobs", [0, True, False, 2.5, "2", "all"])
def test_other_jobs_are_refused(n_jobs):
    with pytest.raises(ModelError, match="n_jobs is .*-1 for all cores"):
        resolve_jobs(n_jobs)


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(1, 40))
@settings(deadline=None)
def test_cut_covers_all_documents_in_order(lengths, n_shards):
    ranges = cut(np.array(lengths, np.int64), n_shards)
    assert len(ranges) == n_shards
    assert ranges[0][0] == 0 and ranges[-1][1] == len(lengths)
    assert all(a <= b for a, b in ranges)
    assert all(before[1] == after[0] for before, after in zip(ranges, ranges[1:], strict=False))


@given(st.lists(st.integers(1, 50), min_size=1, max_size=60), st.integers(1, 8))
@settings(deadline=None)
def test_cut_is_even_up_to_one_document(lengths, n_shards):
    sizes = [sum(lengths[a:b]) for a, b in cut(np.array(lengths), n_shards)]
    assert max(sizes) <= sum(lengths) / n_shards + max(lengths)


def test_shards_follow_from_the_corpus_alone():
    assert [resolve_shards("auto", n, 10**6) for n in (0, 1_999_999, 2_000_000, 10**9)] == [1, 1, 2, 16]
    assert resolve_shards("auto", 10**9, 3) == 3 and resolve_shards(9, 100, 4) == 4 and resolve_shards(2, 0, 0) == 1


class Pair(NamedTuple):
    table: np.ndarray
    total: np.ndarray


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 4))
@settings(deadline=None, max_examples=30)
def test_merger_sums_whole_numbers_exactly_on_any_number_of_threads(seed, n_shards, n_jobs):
    rng = np.random.default_rng(seed)
    counts = Pair(rng.integers(0, 2**23, (3, 5)).astype(np.float32), rng.integers(0, 2**60, 5))
    changes = [(rng.integers(-1000, 1000, (3, 5)), rng.integers(-1000, 1000, 5)) for _ in range(n_shards)]
    expected = [counts.table.astype(np.int64), counts.total.copy()]
    with mock.patch.object(shards, "_BLOCK", 4):
        merger = Merger(counts)
    for _ in range(2):
        merger.begin(SerialExecutor())

        def sample(shard):
            def change(private):
                private.table[...] += changes[shard][0]
                private.total[...] += changes[shard][1]

            merger.sample(change)

        with open_executor(n_jobs, n_shards) as executor:
            list(executor.map(sample, range(n_shards)))
            merger.finish(executor)
        expected = [e + sum(c[i] for c in changes) for i, e in enumerate(expected)]
        assert np.array_equal(counts.table, expected[0]) and np.array_equal(counts.total, expected[1])


def test_many_sweeps_over_shards_with_private_authors_keep_the_counts():
    """The private author's row is scratch, and what the merger makes of it must never be read."""
    corpus = topoi.AuthorTopicModel(3, alpha=0.3).simulate(20, 20, authors=4, random_state=0)
    model = topoi.AuthorTopicModel(3, fictitious_authors=True, n_iter=150, n_shards=5, random_state=0).fit(corpus)
    chain = model._chains[0]
    before = [array.copy() for array in chain.counts]
    assert np.isfinite(model._sampler.log_joint(chain))
    model._sampler.recount(chain)
    assert np.array_equal(before[0], chain.counts.word_topic)
    assert np.array_equal(before[2][:-1], chain.counts.author_topic[:-1])
    assert np.array_equal(before[3][:-1], chain.counts.author[:-1])


def noise(n_chains, n):
    values = np.random.default_rng(0).normal(size=(n_chains, n)).cumsum(axis=1)
    return values, trace_frame([list(enumerate(row)) for row in values], n_tokens=10)


@pytest.mark.parametrize("burn_in", [0.0, 0.5])
def test_diagnose_is_arviz_after_burn_in(burn_in):
    values, frame = noise(3, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import arviz
    kept = values[:, int(60 * burn_in) :]
    found = diagnose(frame, burn_in)
    assert found == {"r_hat": arviz.rhat(kept), "ess": arviz.ess(kept), "n_chains": 3, "n_draws": kept.shape[1]}


def test_diagnose_of_one_chain_has_no_r_hat():
    found = diagnose(noise(1, 40)[1])
    assert np.isnan(found["r_hat"]) and found["ess"] > 0


def test_diagnose_needs_a_long_enough_trace_and_a_sensible_burn_in():
    with pytest.raises(ModelError, match="run longer"):
        diagnose(noise(2, 6)[1])
    for burn_in in (-0.1, 1.0, 3, float("nan")):
        with pytest.raises(ModelError, match="burn_in is"):
            diagnose(noise(2, 60)[1], burn_in)


QUIET = """
import warnings
warnings.simplefilter("error")
from topoi.engine.chains import diagnose, trace_frame
print(diagnose(trace_frame([[(s, float(s % 3)) for s in range(20)] for _ in range(2)], 1))["n_draws"])
"""


@pytest.mark.slow
def test_diagnose_raises_no_warning_of_arviz_on_users():
    output, errors = start_python(QUIET).communicate()
    assert output.strip() == "10", errors
