"""Work that a signal does not wait for: it is abandoned and stopped, and the fit goes back to the last whole state."""

import signal
import threading
import time

import numpy as np
import pytest

import topoi
from topoi.engine import gibbs, interruption, loop
from topoi.engine.interruption import Abandoned, interruptible
from topoi.models.aspect.learning import Learner
from topoi.models.kernel_topic.fitting import Process

SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    """Little patience, and signals that nobody else has taken: servers of other tests may leave handlers behind."""
    monkeypatch.setattr(interruption, "PATIENCE", 0.1)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="module")
def corpus():
    drawn = topoi.LDA(4, alpha=0.2, beta=0.05).simulate(40, 30, random_state=1)
    words = [drawn.tokens[a:b] for a, b in zip(drawn.doc_start[:-1], drawn.doc_start[1:], strict=True)]
    return topoi.Corpus.from_tokens([[f"w{w}" for w in each] for each in words], dates=list(range(1980, 2020)))


@SIGNALS
def test_abandoned_work_is_stopped(number):
    begun, steps = threading.Event(), [0]

    def work():
        try:
            begun.set()
            while steps[0] < 20_000:  # it must not wait for ever if nobody stops it
                steps[0] += 1
                time.sleep(0.001)
        except Exception:
            steps[0] = -1

    def press():
        begun.wait()
        signal.raise_signal(number)

    presser = threading.Thread(target=press)
    with interruptible() as flag:
        presser.start()
        with pytest.raises(Abandoned):
            flag.run(work)
    presser.join()
    deadline = time.monotonic() + 10
    while any(thread.name == "topoi work" for thread in threading.enumerate()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(thread.name == "topoi work" for thread in threading.enumerate())
    assert steps[0] > 0


def test_work_that_may_not_be_abandoned_is_waited_for():
    def work():
        time.sleep(0.3)
        return "done"

    threading.Timer(0.05, signal.raise_signal, [signal.SIGINT]).start()
    with interruptible() as flag:
        assert flag.run(work, may_abandon=False) == "done"
        assert flag.is_set()


class Spoiler:
    """Calls a function; its ``n``-th call changes what it changes, asks for the end, and never comes back."""

    def __init__(self, method, n):
        self._method, self._n, self._calls = method, n, 0

    def __get__(self, owner, kind=None):
        return lambda *args, **kwargs: self(owner, *args, **kwargs)

    def __call__(self, *args, **kwargs):
        result = self._method(*args, **kwargs)
        self._calls += 1
        if self._calls >= self._n:
            signal.raise_signal(signal.SIGTERM)
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline:
                time.sleep(0.005)
        return result


def topics(model):
    return [chain.assignments.topic.copy() for chain in model.chains_]


@pytest.mark.parametrize("options", [{}, {"n_shards": 3}], ids=["one shard", "three shards"])
def test_sweep_that_is_abandoned_leaves_the_sweep_before(corpus, monkeypatch, options):
    settings = {"random_state": 0, "n_chains": 2, "evaluate_every": 1, **options}  # chains are ordered by the trace
    expected = topoi.LDA(4, n_iter=6, **settings).fit(corpus)
    # Every sweep is thought to take long, and every state is noted.
    monkeypatch.setattr(loop, "PATIENCE", -1.0)
    monkeypatch.setattr(loop, "_BETWEEN_STATES", -1.0)
    monkeypatch.setattr(gibbs, "sweep_chains", Spoiler(gibbs.sweep_chains, 7))
    model = topoi.LDA(4, n_iter=20, **settings).fit(corpus)
    assert model.n_iter_ == 6 and model.fit_info_["stopped"] == "SIGTERM"
    assert all(np.array_equal(a, b) for a, b in zip(topics(model), topics(expected), strict=True))
    for ours, theirs in zip(model.chains_, expected.chains_, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(ours.counts, theirs.counts, strict=True))
    np.testing.assert_array_equal(model.topic_word_, expected.topic_word_)


def test_state_that_a_fit_goes_back_to_may_be_older_than_the_last_sweep(corpus, monkeypatch):
    expected = topoi.LDA(4, n_iter=1, random_state=0).fit(corpus)
    monkeypatch.setattr(loop, "PATIENCE", -1.0)  # noted after the first sweep, and not again for ten seconds
    monkeypatch.setattr(gibbs, "sweep_chains", Spoiler(gibbs.sweep_chains, 5))
    model = topoi.LDA(4, n_iter=20, random_state=0).fit(corpus)
    assert model.n_iter_ == 1
    assert np.array_equal(topics(model)[0], topics(expected)[0])


def test_first_sweep_that_is_abandoned_leaves_nothing(corpus, monkeypatch):
    monkeypatch.setattr(gibbs, "sweep_chains", Spoiler(gibbs.sweep_chains, 1))
    with pytest.raises(KeyboardInterrupt, match="nothing to keep"):
        topoi.LDA(4, n_iter=20, random_state=0).fit(corpus)


def test_aspect_step_that_is_abandoned_leaves_the_step_before(corpus, monkeypatch):
    expected, kept = {}, topoi.AspectModel(3, n_iter=4, tol=0, random_state=0)
    settle = Learner.settle

    def note(learner, *args):
        expected["room"] = learner.room.copy()
        return settle(learner, *args)

    monkeypatch.setattr(Learner, "settle", note)
    expected["words"] = kept.fit(corpus).topic_word_
    monkeypatch.setattr(Learner, "settle", settle)
    monkeypatch.setattr(loop, "PATIENCE", -1.0)
    monkeypatch.setattr(loop, "_BETWEEN_STATES", -1.0)
    monkeypatch.setattr(Learner, "step", Spoiler(Learner.step, 5))
    model = topoi.AspectModel(3, n_iter=20, tol=0, random_state=0).fit(corpus)
    assert model.n_iter_ == 4 and model.fit_info_["stopped"] == "SIGTERM"
    np.testing.assert_array_equal(model.topic_word_, expected["words"])
    shares = expected["room"][:, :3]
    np.testing.assert_allclose(model.doc_topic_, shares / shares.sum(axis=1, keepdims=True))


def test_kernel_step_that_is_abandoned_leaves_the_step_before(corpus, monkeypatch):
    settings = {"features": ["year"], "n_warmup": 2, "random_state": 0, "process_every": 1, "learn_every": 100}
    states, step = [], Process.step

    def note(process, *args):
        step(process, *args)
        states.append(process.y.copy())

    monkeypatch.setattr(Process, "step", note)
    topoi.KernelTopicModel(3, n_iter=6, **settings).fit(corpus)
    monkeypatch.setattr(Process, "step", Spoiler(step, 6))
    model = topoi.KernelTopicModel(3, n_iter=20, **settings).fit(corpus)
    assert model.fit_info_["stopped"] == "SIGTERM" and model.fit_info_["interrupted"]
    np.testing.assert_array_equal(model._posterior.y, states[4])
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1)
