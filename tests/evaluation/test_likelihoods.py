"""Estimates of documents' probabilities against sums over every state, and what they must not depend on."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import topoi
from author_topic.small_states import dirichlet_multinomial
from pachinko.small_states import DAGS, all_paths
from thinning import slow_unless
from topoi import evaluation
from topoi.models.graph import slot_children

WORDS = ["a", "b", "c", "d"]
DOCUMENTS = [["a", "d", "b", "b"], ["c"], ["d", "d", "d"], []]


def training(seed=0):
    rng = np.random.default_rng(seed)
    rows = [[WORDS[w] for w in rng.choice(4, 8, p=rng.dirichlet([0.3] * 4))] for _ in range(12)]
    lists = [[f"A{a}" for a in rng.choice(3, 1 + d % 2, replace=False)] for d in range(12)]
    return topoi.Corpus.from_tokens(rows, authors=lists, words=WORDS)


OPTIONS = {"n_iter": 5, "random_state": 0, "beta": 0.2}
ALPHA = np.array([0.5, 0.2, 0.9])


def new_documents(corpus, authors):
    return corpus.encode(DOCUMENTS, authors=[authors] * len(DOCUMENTS))


def author_probability(chain, words, priors, weights):
    """P(words): each author's mixture has a Dirichlet prior, all integrated out by summing over topics and authors."""
    total = 0.0
    for state in product(product(range(3), range(len(priors))), repeat=len(words)):
        number = np.zeros((len(priors), 3), int)
        p = 1.0
        for w, (k, q) in zip(words, state, strict=True):
            p *= chain.topic_word[k, w] * weights[q]
            number[q, k] += 1
        total += p * np.exp(sum(dirichlet_multinomial(n, prior) for n, prior in zip(number, priors, strict=True)))
    return total


def graph_probability(dag, chain, words):
    """P(words) by summing over every path of every token."""
    ways = all_paths(dag)
    paths = [(k, way) for k, here in enumerate(ways) for way in here]
    slots = [(u, v) for u, below in slot_children(dag).items() for v in below]
    total = 0.0
    for state in product(paths, repeat=len(words)):
        number = dict.fromkeys(slots, 0)
        for _, way in state:
            for slot in way:
                number[slot] += 1
        p = np.prod([chain.topic_word[k, w] for w, (k, _) in zip(words, state, strict=True)])
        for node, below in slot_children(dag).items():
            if below:
                prior = [chain.edge_alpha[slots.index((node, v))] for v in below]
                p *= np.exp(dirichlet_multinomial([number[node, v] for v in below], prior))
        total += p
    return total


def lda():
    model = topoi.LDA(3, alpha=ALPHA, **OPTIONS).fit(training())
    return model, new_documents(training(), []), lambda c, w: author_probability(c, w, [ALPHA], [1.0])


def counts_of(chain, author):
    return chain.counts.author_topic[training().authors.tolist().index(author), :3] + ALPHA


def author_topic():
    model = topoi.AuthorTopicModel(3, alpha=ALPHA, **OPTIONS).fit(training())
    return (
        model,
        new_documents(training(), ["A0", "A2"]),
        lambda c, w: author_probability(c, w, [counts_of(c, "A0"), counts_of(c, "A2")], [0.5, 0.5]),
    )


def fictitious():
    how = {"fictitious_authors": True, "fictitious_weight": 0.3}
    model = topoi.AuthorTopicModel(3, alpha=ALPHA, **how, **OPTIONS).fit(training())
    test = new_documents(training(), ["A1"])
    return model, test, lambda c, w: author_probability(c, w, [counts_of(c, "A1"), ALPHA], [0.7, 0.3])


def unknown_author():
    model = topoi.AuthorTopicModel(3, alpha=ALPHA, **OPTIONS).fit(training())
    return model, new_documents(training(), []), lambda c, w: author_probability(c, w, [ALPHA], [1.0])


def pachinko(name):
    def make():
        dag = DAGS[name]
        options = OPTIONS | {"root_alpha": 0.7, "alpha": 0.4, "learn_alpha": False}
        model = topoi.PachinkoAllocation(dag=dag, **options).fit(training())
        return model, new_documents(training(), []), lambda c, w: graph_probability(dag, c, w)

    return make


def aspect():
    model = topoi.AspectModel(3, alpha=ALPHA, learn_alpha=False, n_iter=5, random_state=0).fit(training())
    return model, new_documents(training(), []), lambda c, w: author_probability(c, w, [ALPHA], [1.0])


PEOPLE = {"author-topic": author_topic, "fictitious": fictitious, "unknown author": unknown_author}
CASES = {"LDA": lda, "aspect": aspect, **PEOPLE} | {f"graph: {name}": pachinko(name) for name in DAGS}


def is_quick(name):
    """Whether a case is tried by ``make test``: of the graphs only two."""
    return not name.startswith("graph") or name in ("graph: four levels", "graph: diamond")


def exact(model, test, probability):
    return np.array([probability(model.chains_[0], row) for row in np.split(test.tokens, test.doc_start[1:-1])])


@pytest.mark.parametrize("name", list(CASES))
@pytest.mark.filterwarnings("ignore:.*rest on too few samples")
def test_single_words_have_probabilities_that_sum_to_one(name):
    """Of graphs, too, in which inner nodes draw words: what a node passes on to its children is no longer its own."""
    model = CASES[name]()[0]
    words = training().encode([[word] for word in WORDS], authors=[[]] * len(WORDS))
    log_p = evaluation.empirical_likelihood(model, words, 50, random_state=0)
    assert np.exp(log_p).sum() == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize("name", slow_unless(is_quick, CASES))
def test_empirical_likelihood_equals_enumeration(name):
    model, test, probability = CASES[name]()
    truth = exact(model, test, probability)
    report = evaluation.empirical_likelihood_report(model, test, n_samples=20_000, random_state=1)
    error = report["standard_error"].to_numpy()
    assert (np.abs(np.exp(report["log_likelihood"]) / truth - 1) < 4 * error + 1e-6).all()
    assert (error < 0.02).all() and error[0] > 1e-4
    assert report["log_likelihood"].iloc[3] == 0.0
    first = test.subset([0])
    repeated = [np.exp(evaluation.empirical_likelihood(model, first, 400, random_state=s)[0]) for s in range(300)]
    small = evaluation.empirical_likelihood_report(model, test, 400, random_state=0)
    assert small["log_likelihood"][0] == pytest.approx(np.log(repeated[0]), rel=1e-12)
    promised = np.median(
        [evaluation.empirical_likelihood_report(model, first, 400, s)["standard_error"][0] for s in range(20)]
    )
    assert np.std(repeated) / np.mean(repeated) == pytest.approx(promised, rel=0.25)
    assert (small["effective_samples"] <= 400 + 1e-9).all()


@pytest.mark.parametrize("name", slow_unless(is_quick, [name for name in CASES if name != "author-topic"]))
def test_left_to_right_is_unbiased(name):
    """Few particles, so that weights matter; known authors' mixtures are plugged in, so those have tests elsewhere."""
    model, test, probability = CASES[name]()
    if name == "fictitious":
        chain = model.chains_[0]
        mean = counts_of(chain, "A1") / counts_of(chain, "A1").sum()

        def probability(c, words):
            return author_probability(c, words, [mean * 1e9, ALPHA], [0.7, 0.3])

    truth, first = exact(model, test, probability)[0], test.subset([0])
    found = np.exp([evaluation.left_to_right(model, first, n_particles=2, random_state=s)[0] for s in range(1500)])
    assert abs(found.mean() - truth) < 4 * found.std() / np.sqrt(len(found)) + 1e-6 * truth
    assert evaluation.left_to_right(model, test, n_particles=2)[3] == 0.0


def test_a_word_that_no_aspect_draws_is_impossible():
    model = topoi.AspectModel.from_parameters([[0.5, 0.5, 0.0], [0.1, 0.9, 0.0]], 1.0, words=["a", "b", "c"])
    test = topoi.Corpus.from_tokens([["a", "c", "b"], ["a", "b"]], words=["a", "b", "c"])
    found = evaluation.left_to_right(model, test, n_particles=5)
    assert found[0] == -np.inf and np.isfinite(found[1])


def test_the_unweighted_version_is_biased_and_the_weighted_is_not():
    """A document whose last words tell what its first ones were about, and topics that are hard to leave."""
    corpus = topoi.Corpus.from_tokens([["a", "b"] * 10, ["a", "c"] * 10] * 10)
    model = topoi.LDA(2, alpha=0.01, beta=0.01, n_iter=50, random_state=0).fit(corpus)
    test = corpus.encode([["a"] * 6 + ["b"] * 4])
    truth = sum(
        np.prod([model.topic_word_[k, w] for w, k in zip(test.tokens, state, strict=True)])
        * np.exp(dirichlet_multinomial(np.bincount(state, minlength=2), [0.01, 0.01]))
        for state in product(range(2), repeat=10)
    )
    off = {}
    for weighted in (True, False):
        found = np.exp([evaluation.left_to_right(model, test, 30, s, weighted)[0] for s in range(800)])
        off[weighted] = abs(found.mean() - truth) / (found.std() / np.sqrt(len(found)))
    assert off[True] < 4 < off[False]


def fitted_models():
    story = topoi.AuthorTopicModel(4, alpha=0.2, beta=0.05)
    train, test = story.simulate(90, 30, authors=8, random_state=2).split(25, random_state=0, known_authors=True)
    options = {"n_iter": 30, "n_chains": 2, "random_state": 0}
    models = [
        topoi.LDA(4, **options),
        topoi.AuthorTopicModel(4, **options),
        topoi.AuthorTopicModel(4, fictitious_authors=True, **options),
        topoi.AuthorModel(**options),
        topoi.PachinkoAllocation(3, 4, **options),
    ]
    return [model.fit(train) for model in models], test


@pytest.fixture(scope="module")
def fitted():
    return fitted_models()


ESTIMATORS = {
    "empirical": lambda m, c: evaluation.empirical_likelihood(m, c, 150),
    "left to right": lambda m, c: evaluation.left_to_right(m, c, 3),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimates_depend_neither_on_order_nor_batch_nor_threads(fitted, name, monkeypatch):
    models, test = fitted
    order = np.random.default_rng(0).permutation(test.n_docs)
    for model in models:
        whole = ESTIMATORS[name](model, test)
        assert np.isfinite(whole).all() and (whole < 0).all()
        assert np.array_equal(whole[order], ESTIMATORS[name](model, test.subset(order)))
        assert np.array_equal(whole[3:4], ESTIMATORS[name](model, test.subset([3])))
        model.n_jobs = 3
        assert np.array_equal(whole, ESTIMATORS[name](model, test))
        model.n_jobs = 1
        monkeypatch.setattr("topoi.evaluation.empirical._NUMBERS_AT_ONCE", 2000)
        assert np.array_equal(whole, ESTIMATORS[name](model, test))
        monkeypatch.undo()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_seeds_matter_and_the_fits_seed_is_the_default(fitted, name):
    models, test = fitted
    estimate = {"empirical": evaluation.empirical_likelihood, "left to right": evaluation.left_to_right}[name]
    lda = models[0]
    assert np.array_equal(estimate(lda, test, 10), estimate(lda, test, 10, random_state=0))
    assert not np.array_equal(estimate(lda, test, 10), estimate(lda, test, 10, random_state=1))


@pytest.mark.parametrize("estimate", ["empirical_likelihood", "left_to_right"])
def test_chains_are_averaged_as_probabilities(fitted, estimate):
    models, test = fitted
    for model in models:
        chains = model.chains_
        if isinstance(model, topoi.AuthorModel):
            np.testing.assert_array_equal(getattr(evaluation, estimate)(model, test), model.log_likelihood(test))
            continue
        each = []
        for chain in chains:
            model.chains_ = [chain]
            each.append(getattr(evaluation, estimate)(model, test, 70))
        model.chains_ = chains
        both = getattr(evaluation, estimate)(model, test, 70)
        np.testing.assert_allclose(both, np.logaddexp(*each) - np.log(2), rtol=1e-12)


def test_standard_error_of_two_chains(fitted):
    models, test = fitted
    model = models[0]
    chains = model.chains_
    parts = []
    for chain in chains:
        model.chains_ = [chain]
        parts.append(evaluation.empirical_likelihood_report(model, test, 2000))
    model.chains_ = chains
    both = evaluation.empirical_likelihood_report(model, test, 2000)
    p, e = (np.stack([part[c] for part in parts]) for c in ("log_likelihood", "standard_error"))
    expected = np.sqrt(((np.exp(p) * e) ** 2).sum(axis=0)) / np.exp(p).sum(axis=0)
    stated = np.isfinite(e).all(axis=0) & both["standard_error"].notna().to_numpy()
    assert stated.sum() > 5
    np.testing.assert_allclose(both["standard_error"][stated], expected[stated], rtol=1e-9)
    top = np.stack([part["effective_samples"] for part in parts])
    squares = (np.exp(p) ** 2 / top).sum(axis=0)
    np.testing.assert_allclose(both["effective_samples"], np.exp(p).sum(axis=0) ** 2 / squares, rtol=1e-9)


def test_one_topic_is_exact(fitted):
    _, test = fitted
    model = topoi.LDA(1, n_iter=2, random_state=0).fit(test)
    expected = np.array(
        [np.log(model.topic_word_[0, row]).sum() for row in np.split(test.tokens, test.doc_start[1:-1])]
    )
    np.testing.assert_allclose(evaluation.empirical_likelihood(model, test, 5), expected, rtol=1e-9)
    np.testing.assert_allclose(evaluation.left_to_right(model, test, 2), expected, rtol=1e-6)
    report = evaluation.empirical_likelihood_report(model, test, 5)
    np.testing.assert_allclose(report["effective_samples"], 5)
    np.testing.assert_allclose(report["standard_error"], 0, atol=1e-6)
    single = evaluation.empirical_likelihood_report(model, test, 1)
    assert single["standard_error"].isna().all()
    assert single["note"].str.startswith("no error: too few of 1 samples count; use model.log_likelihood").all()


def test_report_names_documents_and_counts_known_words():
    corpus = topoi.Corpus.from_tokens([["a", "b"]] * 6, ids=[f"p{i}" for i in range(6)])
    model = topoi.LDA(1, n_iter=2, random_state=0).fit(corpus)
    new = topoi.Corpus.from_tokens([["a", "zebra"], ["b"]], ids=["x", "y"])
    with pytest.warns(UserWarning, match="1 of 3 tokens"):
        report = evaluation.empirical_likelihood_report(model, new, 3)
    assert list(report) == [
        "document",
        "id",
        "n_words",
        "log_likelihood",
        "standard_error",
        "effective_samples",
        "note",
    ]
    assert report["id"].tolist() == ["x", "y"] and report["n_words"].tolist() == [1, 1]
    author = topoi.AuthorModel(n_iter=2, random_state=0).fit(
        topoi.Corpus.from_tokens([["a", "b"]] * 2, authors=["Ann"] * 2)
    )
    with pytest.warns(UserWarning):
        report = evaluation.empirical_likelihood_report(author, new, 3)
    assert report["n_words"].tolist() == [1, 1] and (report["standard_error"] == 0).all()


def test_texts_and_matrices_are_taken_where_the_model_takes_them():
    model = topoi.LDA(2, n_iter=5, random_state=0).fit(np.array([[3, 0, 1], [0, 2, 2]]))
    assert evaluation.empirical_likelihood(model, np.array([[1, 1, 0]]), 5).shape == (1,)
    assert evaluation.left_to_right(model, np.array([[1, 1, 0]]), 5).shape == (1,)


@pytest.mark.parametrize("estimate", ["empirical_likelihood", "left_to_right"])
def test_bad_input(estimate):
    corpus = topoi.Corpus.from_tokens([["a", "b"]] * 4)
    function = getattr(evaluation, estimate)
    model = topoi.LDA(2, n_iter=2, random_state=0)
    with pytest.raises(Exception, match="not fitted"):
        function(model, corpus)
    model.fit(corpus)
    for bad in (0, 1.5, True):
        with pytest.raises(topoi.ModelError, match="whole number"):
            function(model, corpus, bad)
    with pytest.raises(topoi.ModelError, match="random_state"):
        function(model, corpus, 5, random_state="x")
    with pytest.raises(topoi.ModelError, match="cannot score documents"):
        function(pd.DataFrame(), corpus)

    class Other(topoi.LDA):
        """A family whose chains know nothing of estimators."""

    other = Other(2, n_iter=2, random_state=0).fit(corpus)
    other.chains_ = [object()]
    with pytest.raises(topoi.ModelError, match="Other does not have this estimator"):
        function(other, corpus)
    with pytest.raises(topoi.ModelError, match="none of these"):
        function(model, topoi.Corpus.from_tokens([["x"]]))
    assert function(model, corpus.subset([]), 5).shape == (0,)
