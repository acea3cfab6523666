"""What people do to the models: bad settings, odd corpora, other vocabularies."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import topoi
from topoi.errors import ModelError
from topoi.models.author_topic.state import AuthorTopicSampler
from topoi.models.inputs import WeightedAuthors

FAMILIES = [topoi.AuthorTopicModel, topoi.LDA, topoi.AuthorModel]


@pytest.fixture(scope="module")
def corpus():
    return topoi.AuthorTopicModel(3, alpha=0.2, beta=0.05).simulate(25, 20, authors=6, random_state=0)


def small(family, **options):
    start = {} if family is topoi.AuthorModel else {"n_topics": 3}
    return family(**start | {"n_iter": 4, "random_state": 0} | options)


BAD = [
    ({"n_topics": 0}, "n_topics is 0; it must be a whole number of at least 1"),
    ({"n_topics": 70_000}, "n_topics is 70000; at most 65535"),
    ({"alpha": [0.1, 0.2]}, "alpha has 2 entries but n_topics is 3; pass a scalar or 3 values"),
    ({"alpha": -0.1}, "alpha has the value -0.1; it must be positive"),
    ({"alpha": [0.1, float("nan"), 1]}, "alpha has the value nan; it must be positive"),
    ({"alpha": 0}, "alpha has the value 0.0; it must be positive"),
    ({"alpha": 1e-40}, "alpha has the value 1e-40; it must be positive"),
    ({"alpha": "x"}, "alpha is 'x'; pass a positive number or 3 of them"),
    ({"learn_alpha": "x"}, "learn_alpha is 'x'; it must be one of False, True, 'symmetric', 'asymmetric'"),
    ({"learn_alpha": 1}, "learn_alpha is 1; it must be one of"),
    ({"learn_beta": "yes"}, "learn_beta is 'yes'; it must be one of False, True"),
    ({"beta": [0.1, 0.2]}, "beta has 2 entries but the number of words is 1000"),
    ({"beta": float("inf")}, "beta has the value inf; it must be positive"),
    ({"beta": float("nan")}, "beta has the value nan; it must be positive"),
    ({"n_jobs": 0}, "n_jobs is 0; pass a number of threads, or -1 for all cores"),
    ({"n_shards": 0}, "n_shards is 0; it must be 'auto' or a whole number of at least 1"),
    ({"random_state": "x"}, "random_state is 'x'; pass None, a whole number from 0, or a numpy generator"),
    ({"fictitious_authors": "yes"}, "fictitious_authors is 'yes'; it must be one of False, True"),
    ({"fictitious_weight": 0.5}, "set fictitious_authors=True"),
    ({"fictitious_authors": True, "fictitious_weight": 0}, "fictitious_weight is 0; it is a probability, between"),
    ({"fictitious_authors": True, "fictitious_weight": 1.0}, "fictitious_weight is 1.0; it is a probability"),
    ({"fictitious_authors": True, "fictitious_weight": "x"}, "fictitious_weight is 'x'; it is a probability"),
    ({"no_authors": "drop"}, "no_authors is 'drop'; it must be one of 'private', 'raise'"),
]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("settings", "message"), BAD, ids=[str(s) for s, _ in BAD])
def test_bad_settings_are_named_with_what_to_do(corpus, family, settings, message):
    if not set(settings) <= set(inspect.signature(family).parameters):
        with pytest.raises(TypeError, match="unexpected keyword"):
            family(**settings)
        return
    model = small(family, **settings)  # nothing happens before fit
    with pytest.raises(ModelError) as caught:
        model.fit(corpus)
    assert message in str(caught.value) and isinstance(caught.value, ValueError)


@pytest.mark.parametrize("family", [topoi.AuthorTopicModel, topoi.AuthorModel])
def test_author_models_need_a_corpus_with_authors(family):
    with pytest.raises(ModelError, match=r"no authors; use LDA, or choose some with corpus\.with_authors"):
        small(family).fit(topoi.Corpus.from_tokens([["a"]]))
    for other, given in ((np.ones((2, 3)), "ndarray"), (["some text"], "texts alone"), (None, "NoneType")):
        with pytest.raises(ModelError, match=rf"needs documents with authors.*{given}"):
            small(family).fit(other)


CALLS = {
    "author_log_likelihoods": lambda m, c: m.author_log_likelihoods(np.array([0]), np.array([1])),
    "transform": lambda m, c: m.transform(c),
    "log_likelihood": lambda m, c: m.log_likelihood(c),
    "perplexity": lambda m, c: m.perplexity(c),
    "score": lambda m, c: m.score(c),
    "log_completion": lambda m, c: m.log_completion(c, np.ones(c.n_tokens, bool)),
    "resume": lambda m, c: m.resume(1),
    "diagnose": lambda m, c: m.diagnose(),
    "guidance_report": lambda m, c: m.guidance_report(),
    "save": lambda m, c: m.save("never-written"),
    "to_bundle": lambda m, c: m.to_bundle(),
    "bundle_pieces": lambda m, c: m.bundle_pieces(),
    "family_tables": lambda m, c: m.family_tables(c),
    "family_parameters": lambda m, c: m.family_parameters(),
    "identity_of_fit": lambda m, c: m.identity_of_fit(),
    "top_words": lambda m, c: m.top_words(),
    "topic_labels": lambda m, c: m.topic_labels(),
    "top_authors": lambda m, c: m.top_authors(),
    "author_topics": lambda m, c: m.author_topics(),
    "topic_sizes": lambda m, c: m.topic_sizes(),
    "author_word": lambda m, c: m.author_word("author 0"),
    "author_words": lambda m, c: m.author_words("author 0"),
    "label_words": lambda m, c: topoi.label_words(m, "a text"),
    "topic_trends": lambda m, c: topoi.topic_trends(m),
    "completion_curve": lambda m, c: topoi.evaluation.completion_curve(m, c),
    "label_text": lambda m, c: m.label_text(None, None),
    "read_documents": lambda m, c: m.read_documents(c),
    "documents_and_chains": lambda m, c: m.documents_and_chains(c),
    "log_likelihood_report": lambda m, c: m.log_likelihood_report(c),
    "topic_counts": lambda m, c: m.topic_counts(c),
    "topic_draws": lambda m, c: m.topic_draws(c),
    "update": lambda m, c: m.update(c),
}
NOT_ABOUT_FITTING = {"restore_bundle", "fit", "fit_transform", "simulate", "get_params", "set_params", "set_output"}
NOT_ABOUT_FITTING |= {"get_metadata_routing", "get_feature_names_out", "why_not_edited"}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_public_method_says_not_fitted(corpus, family):
    methods = {n for n, f in inspect.getmembers(family, inspect.isfunction) if not n.startswith("_")}
    assert methods - NOT_ABOUT_FITTING - set(CALLS) - {n for n in methods if n.endswith("_request")} == set()
    for name, call in CALLS.items():
        if name in methods or name in ("label_words", "topic_trends", "completion_curve"):
            with pytest.raises(NotFittedError):
                call(family(), corpus)
    for name in ("topic_word_", "doc_topic_", "alpha_", "beta_", "author_topic_", "components_", "author_calibration_"):
        if hasattr(type(family()), name):
            with pytest.raises(NotFittedError):
                getattr(family(), name)


def some_without_authors():
    return topoi.Corpus.from_tokens([["a", "b"]] * 5, authors=["Ann", None, "Bob", None, "Ann; Bob"])


@pytest.mark.parametrize("family", [topoi.AuthorTopicModel, topoi.AuthorModel])
def test_documents_without_authors_are_counted_in_one_warning_at_the_callers_line(family, tmp_path):
    with pytest.warns(UserWarning, match="2 of 5 documents have no authors: each gets a private one") as caught:
        model = small(family).fit(some_without_authors())
    assert len(caught) == 1 and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.save(tmp_path / "m")
        topoi.load(tmp_path / "m").resume(1)  # said once, not again
    with pytest.raises(ModelError, match=r"2 of 5 documents have no authors \(no_authors='raise'\)"):
        small(family, no_authors="raise").fit(some_without_authors())


@pytest.mark.parametrize("family", FAMILIES)
def test_empty_documents_may_stand_anywhere(family):
    rows = [[], ["a", "b"], [], [], ["b", "c", "c"], []]
    corpus = topoi.Corpus.from_tokens(rows, authors=["Ann", "Bob", "Ann; Bob", "Ann", "Bob; Ann", "Cy"])
    for n_shards in (1, 4, 6):
        model = small(family, n_shards=n_shards, n_chains=2).fit(corpus)
        log_p = model.log_likelihood(corpus)
        assert log_p[[0, 2, 3, 5]].tolist() == [0, 0, 0, 0] and (log_p[[1, 4]] < 0).all()
        assert np.isnan(model.perplexity(corpus, per_document=True)).tolist() == [True, False, True, True, False, True]
        assert np.isfinite(model.perplexity(corpus))
        if family is not topoi.AuthorModel:
            np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1)
            np.testing.assert_allclose(model.transform(corpus).sum(axis=1), 1)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("options", [{"n_topics": 1}, {"n_iter": 0}, {}], ids=["one topic", "no sweeps", "one word"])
def test_smallest_models(family, options):
    if family is topoi.AuthorModel:
        options.pop("n_topics", None)
    corpus = topoi.Corpus.from_tokens([["a"] * 3, ["a"]], authors=["Ann", "Ann; Bob"])
    model = small(family, n_chains=2, **options).fit(corpus)
    assert model.n_iter_ == options.get("n_iter", 4)
    np.testing.assert_allclose(model.log_likelihood(corpus), 0, atol=1e-6)
    assert model.perplexity(corpus) == pytest.approx(1)
    assert len(model.resume(2).trace_) > 0


@pytest.mark.parametrize("family", FAMILIES)
def test_document_longer_than_sixteen_bits(family):
    words = [f"w{i % 11}" for i in range(70_000)]
    corpus = topoi.Corpus.from_tokens([words, ["w0"] * 3], authors=["Ann; Bob", "Ann"])
    model = small(family, n_iter=2).fit(corpus)
    if family is not topoi.AuthorModel:
        assert model.topic_sizes()["n_words"].sum() == 70_003
        counts = model.doc_topic_[0] * (70_000 + model.alpha_.sum()) - model.alpha_
        assert counts.sum() == pytest.approx(70_000)
        assert not model._sampler.by_words
    assert np.isfinite(model.resume(1).trace_["log_joint"]).all()


@pytest.mark.parametrize("family", [topoi.AuthorTopicModel, topoi.AuthorModel])
def test_authors_without_documents_have_the_prior(family):
    whole = topoi.Corpus.from_tokens([["a", "b"], ["c"]] * 3, authors=["Ann", "Bob"] * 3)
    model = small(family).fit(whole.subset([0, 2, 4]))
    assert model.authors_.tolist() == ["Ann", "Bob"]
    if family is topoi.AuthorModel:
        np.testing.assert_allclose(model.author_word("Bob"), model.beta_ / model.beta_.sum())
    else:
        np.testing.assert_allclose(model.author_topic_[1], 1 / 3)
    assert np.isfinite(model.log_likelihood(whole)).all()


def test_fitting_twice_forgets_the_first_corpus(corpus):
    other = topoi.Corpus.from_tokens([["x", "y"], ["y", "z"]] * 4, authors=["Zoe", "Yan"] * 4)
    for family in FAMILIES:
        twice = small(family).fit(corpus).fit(other)
        once = small(family).fit(other)
        assert twice.vocabulary_ is other.vocabulary and twice.corpus_ is other
        assert twice.trace_.equals(once.trace_)
        assert np.array_equal(twice.log_likelihood(other), once.log_likelihood(other))


@pytest.mark.parametrize("family", FAMILIES)
def test_words_and_authors_are_matched_by_name(family):
    rows, authors = [["a", "b", "c", "a"], ["c", "c", "d"]] * 4, ["Ann", "Bob; Ann"] * 4
    train = topoi.Corpus.from_tokens(rows, authors=authors)
    model = small(family, n_chains=2).fit(train)
    other = topoi.Corpus.from_tokens(rows[::-1], authors=authors[::-1], words=["d", "x", "c", "b", "a"])
    expected = model.log_likelihood(train)[::-1]
    assert np.array_equal(model.log_likelihood(other), expected)
    assert model.perplexity(other) == pytest.approx(model.perplexity(train))
    observed = np.arange(other.n_tokens) % 2 == 0
    same = topoi.Corpus.from_tokens(rows[::-1], authors=authors[::-1], words=list(train.words))
    same.doc_author, same.authors = np.array([[1, 0][a] for a in same.doc_author], np.int32), train.authors
    assert np.array_equal(model.log_completion(other, observed), model.log_completion(same, observed))
    if family is not topoi.AuthorModel:
        assert np.array_equal(model.transform(other), model.transform(train)[::-1])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("call", ["transform", "log_likelihood", "perplexity", "score", "log_completion"])
def test_unknown_words_and_authors_are_left_out_with_one_warning_each(family, call):
    if call == "transform" and family is topoi.AuthorModel:
        call = "score"
    train = topoi.Corpus.from_tokens([["a", "b"], ["b", "c"]] * 4, authors=["Ann", "Bob"] * 4)
    model = small(family).fit(train)
    strange = topoi.Corpus.from_tokens([["a", "zz", "b"], ["b", "yy", "c"]], authors=["Ann; Eve", "Mal"])
    known = train.encode([["a", "b"], ["b", "c"]], authors=["Ann", None])

    def run(corpus, extra):
        return CALLS[call](model, corpus) if not extra else model.log_completion(corpus, extra(corpus))

    extra = (lambda c: np.isin(c.words[c.tokens], ["a", "yy"])) if call == "log_completion" else None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        got = run(strange, extra)
    messages = sorted(str(w.message) for w in caught)
    expected = ["2 of 6 tokens are words the model does not know: they are left out"]
    if family is not topoi.LDA:
        expected.append("2 authors are not known to the model: they are left out")
    assert messages == sorted(expected) and {w.filename for w in caught} == {__file__}
    assert np.array_equal(got, run(known, extra))


def test_nothing_known_is_an_error():
    model = small(topoi.LDA).fit(topoi.Corpus.from_tokens([["a"]]))
    with pytest.raises(ModelError, match="none of these documents' words"):
        model.transform(topoi.Corpus.from_tokens([["b"]]))


@pytest.mark.parametrize("family", [topoi.AuthorTopicModel, topoi.LDA])
def test_texts_are_encoded_as_the_training_texts_were(family):
    texts = ["The Sun and stars", "Genes in cells"] * 6
    corpus = topoi.Corpus.from_texts(texts, authors=["Ann", "Bob"] * 6, min_df=1, max_df=1.0)
    model = small(family, n_iter=20, alpha=0.1).fit(corpus)
    new = ["SUN stars, unheard-of", "", "genes here"]
    assert np.array_equal(model.transform(new), model.transform(corpus.encode(new)))
    assert model.log_likelihood(tuple(new))[1] == 0
    with pytest.raises(ValueError):
        model.transform("one string")


@pytest.mark.parametrize("observed", [np.ones(3, bool), np.ones((2, 2), bool), True])
@pytest.mark.parametrize("family", FAMILIES)
def test_observed_must_fit_the_tokens(family, observed):
    corpus = topoi.Corpus.from_tokens([["a", "b"]] * 4, authors=["Ann"] * 4)
    with pytest.raises(ModelError, match="observed has . values for 8 tokens; pass one per token"):
        small(family).fit(corpus).log_completion(corpus, observed)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("bad", [{"burn_in": -1}, {"n_samples": 0}, {"lag": 0}, {"n_samples": 1.5}])
def test_sampling_settings_are_checked(corpus, family, bad):
    model = small(family).fit(corpus)
    with pytest.raises(ModelError, match=f"{next(iter(bad))} is"):
        model.log_completion(corpus, np.ones(corpus.n_tokens, bool), **bad)


@pytest.mark.parametrize("family", FAMILIES)
def test_completion_depends_on_neither_order_nor_batch(corpus, family):
    model = small(family, n_chains=2).fit(corpus)
    observed = np.random.default_rng(0).random(corpus.n_tokens) < 0.5
    whole = model.log_completion(corpus, observed)
    order = np.random.default_rng(1).permutation(corpus.n_docs)
    doc = np.repeat(np.arange(corpus.n_docs), corpus.doc_lengths)
    shuffled = np.concatenate([observed[doc == d] for d in order])
    assert np.array_equal(model.log_completion(corpus.subset(order), shuffled), whole[order])
    assert np.array_equal(model.log_completion(corpus.subset([7]), observed[doc == 7]), whole[[7]])


def test_tables_are_sorted_ranked_and_checked(corpus):
    model = small(topoi.AuthorTopicModel, n_iter=20).fit(corpus)
    for frame, key, matrix, names in (
        (model.top_words(5), "topic", model.topic_word_, model.vocabulary_.words),
        (model.author_topics(), "author", model.author_topic_, np.arange(3)),
    ):
        for row, (_, group) in enumerate(frame.groupby(key, sort=False)):
            best = np.argsort(-matrix[row], kind="stable")[: len(group)]
            assert group["rank"].tolist() == list(range(1, len(group) + 1))
            assert group.iloc[:, 2].tolist() == names[best].tolist()
            assert group["probability"].tolist() == matrix[row][best].tolist()
    share = model.author_topic_[:, 1] / model.author_topic_[:, 1].sum()
    assert model.top_authors(2, topic=1)["probability"].tolist() == np.sort(share)[::-1][:2].tolist()
    assert len(model.top_authors(5, min_words=10**6)) == 0
    assert model.author_topics("AUTHOR 3", n=1)["author"].tolist() == ["author 3"]
    with pytest.raises(topoi.NotFoundError, match="did you mean 'author "):
        model.author_topics("author x")
    with pytest.raises(topoi.NotFoundError, match="numbered 0 to 2"):
        model.top_words(topic=3)
    with pytest.raises(ModelError, match="n is 0"):
        model.top_words(0)
    with pytest.raises(ModelError, match="LDA has no authors"):
        small(topoi.LDA).fit(corpus).top_authors()


def test_private_slot_and_weights_follow_the_settings():
    lists = WeightedAuthors.from_csr(np.array([0, 1, 1]), np.array([0, 2, 2, 3]), 2, True, 0.4)
    assert lists.author.tolist() == [0, 1, 2, 2, 1, 2] and lists.start.tolist() == [0, 3, 4, 6]
    np.testing.assert_allclose(lists.weight, [0.3, 0.3, 0.4, 1.0, 0.6, 0.4], rtol=1e-6)
    assert lists.private_slot.tolist() == [2, 0, 1]


def test_a_sampler_is_not_fooled_by_signed_assignments():
    corpus = topoi.Corpus.from_tokens([["a", "b"]])
    sampler = AuthorTopicSampler(corpus, WeightedAuthors.private(1), np.ones(2), np.ones(2))
    good = sampler.to_arrays(sampler.start(0, 0))
    for bad in (
        {"topic": np.array([-1, 0])},
        {"topic": np.array([0.0, 1.0])},
        {"alpha": np.ones(3)},
        {"beta": -np.ones(2)},
    ):
        with pytest.raises(ModelError, match="saved"):
            sampler.restore(0, good | bad, [])


def test_top_authors_by_mixture_or_by_words():
    """One rests on theta normalised over authors, the other on shares of the topic's words."""
    docs = [["a"] * 5] * 20 + [["a"] * 5, ["b"] * 5]
    corpus = topoi.Corpus.from_tokens(docs, authors=["Much"] * 20 + ["Little", "Other"])
    model = topoi.AuthorTopicModel(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    topic = int(model.topic_word_[:, model.vocabulary_.index("a")].argmax())
    theta = model.author_topic_[:, topic] / model.author_topic_[:, topic].sum()
    by_mixture = model.top_authors(3, topic=topic).set_index("author")["probability"]
    np.testing.assert_allclose(by_mixture[list(corpus.authors)], theta)
    by_words = model.top_authors(3, topic=topic, by="words").set_index("author")
    assert by_words.index[0] == "Much"
    np.testing.assert_allclose(
        by_words["probability"]["Much"], (by_words["n_words"]["Much"] + 0.1) / (105 + 0.3), rtol=0.05
    )
    with pytest.raises(topoi.ModelError, match="by is 'x'"):
        model.top_authors(3, by="x")


def test_relevance_prefers_words_that_tell_topics_apart():
    corpus = topoi.Corpus.from_tokens([["the", "the", "star"]] * 20 + [["the", "the", "gene"]] * 20)
    model = topoi.LDA(2, alpha=0.1, n_iter=100, random_state=0).fit(corpus)
    k = int(model.topic_word_[:, model.vocabulary_.index("star")].argmax())
    phi = model.topic_word_
    overall = model.topic_sizes()["share"].to_numpy() @ phi
    score = 0.1 * np.log(phi[k]) + 0.9 * np.log(phi[k] / overall)
    words = model.top_words(3, topic=k, relevance=0.1)["word"].tolist()
    assert words == list(corpus.words[np.argsort(-score)])
    assert words[0] == "star"
    with pytest.raises(topoi.ModelError, match="relevance"):
        model.top_words(3, relevance=2.0)
