"""Seeds, bans, pins and labels in LDA and author-topic models, against the model's definition."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topoi
from author_topic.small_states import dirichlet_multinomial
from topoi.errors import ModelError
from topoi.kernels.random import new_stream
from topoi.models.author_topic import equations, kernels, topic_lists, word_major
from topoi.models.guidance.documents import documents_told
from topoi.models.guidance.phantoms import Phantoms
from topoi.models.guidance.settings import resolve_guidance

WORDS = ["a", "b", "c"]
ALPHA, BETA = [0.7, 0.3, 1.1], [0.5, 0.2, 0.9]
DOCS = [["a", "b", "b"], ["c", "a", "b"]]
TOLD = {
    "seeds": {"seeds": {"x": {"b": 2}, "y": {"c": 1, "a": 3}}},
    "ban": {"ban": {0: ["b"], 2: ["a"]}},
    "pin": {"pin": {1: ["b"]}, "seeds": {"x": {"a": 1}}},
    "retired": {"ban": {1: "*"}},
    "labels": {"doc_labels": [["x"], ["y"]]},
    "labels and all the rest": {"doc_labels": [["x"], None], "seeds": {"y": {"a": 2}}, "ban": {"y": ["b"]}},
    "documents": {"doc_ban": {0: [1]}},
}


def small_corpus(docs=DOCS, authors=None):
    corpus = topoi.Corpus.from_tokens([WORDS, *docs], authors=authors)
    return corpus.subset(np.arange(1, len(docs) + 1))


def make_model(told, authors=None, **settings):
    kind = topoi.LDA if authors is None else topoi.AuthorTopicModel
    return kind(3, alpha=ALPHA, beta=BETA, random_state=0, **{"progress": False} | settings, **told)


def make_sampler(told, authors=None, docs=DOCS):
    whole = None if authors is None else [authors[0], *authors]
    corpus = small_corpus(docs, whole)
    return corpus, make_model(told, authors)._make_sampler(corpus, 1)


def prior_and_mask(told, corpus):
    """The prior of words in topics, topics × words, and the topics of documents, from the settings alone."""
    prior, names = np.tile(BETA, (3, 1)), list(told.get("seeds", {}))
    for labels in told.get("doc_labels", []):
        names += [name for name in labels or [] if name not in names]
    number = lambda topic: names.index(topic) if isinstance(topic, str) else topic  # noqa: E731
    for topic, words in told.get("seeds", {}).items():
        for word, n in words.items():
            prior[number(topic), WORDS.index(word)] += n
    for topic, words in told.get("ban", {}).items():
        prior[number(topic), [WORDS.index(word) for word in (WORDS if words == "*" else words)]] = 0
    for topic, words in told.get("pin", {}).items():
        for word in words:
            prior[[k for k in range(3) if k != number(topic)], WORDS.index(word)] = 0
    mask = np.ones((corpus.n_docs, 3), bool)
    labelled = {name for labels in told.get("doc_labels", []) for name in labels or []}
    for d, labels in enumerate(told.get("doc_labels", [])):
        if labels is not None:
            mask[d] = [k >= len(names) or names[k] not in labelled or names[k] in labels for k in range(3)]
    for topic, docs in told.get("doc_ban", {}).items():
        mask[docs, number(topic)] = False
    return prior, mask


def log_joint(corpus, topic, slot, prior, mask):
    """log P(words, topics, authors), -inf for what is not allowed; plain Python from the model's definition."""
    doc = np.repeat(np.arange(corpus.n_docs), corpus.doc_lengths)
    if not mask[doc, topic].all() or (prior[topic, corpus.tokens] == 0).any():
        return -np.inf
    result, rows = 0.0, {}
    for i, k in enumerate(topic):
        authors = corpus.doc_author[corpus.doc_author_start[doc[i]] : corpus.doc_author_start[doc[i] + 1]]
        who = int(authors[slot[i]]) if len(authors) else f"document {doc[i]}"
        rows.setdefault(who, np.zeros(3))[k] += 1
        result -= np.log(max(len(authors), 1))
    result += sum(dirichlet_multinomial(row, ALPHA) for row in rows.values())
    for k in range(3):
        own = prior[k] > 0
        counts = np.bincount(corpus.tokens[np.asarray(topic) == k], minlength=3)[own]
        result += dirichlet_multinomial(counts, prior[k][own]) if own.any() else 0.0
    return result


def all_states(corpus, prior, mask):
    n_slots = np.repeat(np.maximum(np.diff(corpus.doc_author_start), 1), corpus.doc_lengths)
    states = list(product(*(product(range(3), range(n)) for n in n_slots)))
    logs = np.array([log_joint(corpus, [k for k, _ in s], [q for _, q in s], prior, mask) for s in states])
    p = np.exp(logs - logs.max())
    return states, logs, p / p.sum()


AUTHORS = [["Ann", "Bob"], ["Bob"]]
CASES = [(name, None) for name in TOLD] + [("ban", AUTHORS), ("labels and all the rest", AUTHORS), ("seeds", AUTHORS)]


@pytest.mark.parametrize(("name", "authors"), CASES)
def test_the_sampler_draws_from_the_guided_posterior(name, authors):
    docs = DOCS if authors is None else [["a", "b"], ["c", "a"]]
    corpus, sampler = make_sampler(TOLD[name], authors, docs)
    states, _, exact = all_states(corpus, *prior_and_mask(TOLD[name], corpus))
    place = {state: number for number, state in enumerate(states)}
    chain, frequencies = sampler.start(1, 0), []
    for batch in range(15):
        stream, visits = new_stream(7, batch), np.zeros(len(states))
        for _ in range(1000):
            sampler.sample(chain, 0, chain.counts, stream)
            own = sampler.whole(chain)[1]
            visits[place[tuple(zip(own.topic.tolist(), own.slot.tolist(), strict=True))]] += 1
        frequencies.append(visits / visits.sum())
    found = np.array(frequencies)
    common = np.argsort(-exact)[:40]
    errors = found[:, common].std(axis=0, ddof=1) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0)[common] - exact[common]) / np.maximum(errors, 1e-4)).max() < 5
    assert found[:, exact == 0].sum() == 0


@pytest.mark.parametrize(("name", "authors"), CASES)
def test_log_joint_counts_and_recount(name, authors):
    corpus, sampler = make_sampler(TOLD[name], authors)
    prior, mask = prior_and_mask(TOLD[name], corpus)
    chain, differences = sampler.start(3, 0), []
    for sweep in range(5):
        sampler.sample(chain, 0, chain.counts, new_stream(2, sweep))
        own = sampler.whole(chain)[1]
        assert np.isfinite(log_joint(corpus, own.topic, own.slot, prior, mask))
        differences.append(sampler.log_joint(chain) - log_joint(corpus, own.topic, own.slot, prior, mask))
        before = [np.array(each) for each in chain.counts[:2]]
        sampler.recount(chain)
        for mine, again in zip(before, chain.counts[:2], strict=True):
            np.testing.assert_array_equal(mine, again)
        # Real tokens and the whole prior: (count + beta) is (real + prior).
        real = np.zeros((3, 3))
        np.add.at(real, (corpus.tokens, own.topic), 1)
        known = prior.sum(axis=1) > 0
        np.testing.assert_allclose(
            chain.counts.word_topic[:, :3] + np.array(BETA, np.float32)[:, None], real + prior.T, atol=1e-6
        )
        np.testing.assert_allclose(
            (chain.counts.topic + sum(BETA))[known], (real.sum(axis=0) + prior.sum(axis=1))[known], atol=1e-5
        )
    np.testing.assert_allclose(differences, 0.0, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["seeds", "ban", "labels and all the rest"])
def test_geweke(name):
    """Forward simulation, and a chain that samples topics given words and words given topics, agree."""
    docs = [["a"] * 3, ["a"] * 4]
    rng = np.random.default_rng(0)
    corpus, _ = make_sampler(TOLD[name], docs=docs)
    prior, mask = prior_and_mask(TOLD[name], corpus)
    doc = np.repeat([0, 1], [3, 4])

    def draw_words(topic):
        phi = rng.gamma(np.maximum(prior, 1e-300)) * (prior > 0)
        phi /= phi.sum(axis=1, keepdims=True)
        return np.array([rng.choice(3, p=phi[k]) for k in topic])

    def forward():
        theta = rng.gamma(np.tile(ALPHA, (2, 1))) * mask
        theta /= theta.sum(axis=1, keepdims=True)
        topic = np.array([rng.choice(3, p=theta[d]) for d in doc])
        return draw_words(topic), topic

    def features(words, topic):
        pairs = np.bincount(topic * 3 + words, minlength=9)
        return np.concatenate([pairs, pairs**2, [(topic[:3] == topic[0]).sum(), topic[3:].sum()]])

    n, topic, model = 3000, forward()[1], make_model(TOLD[name])
    first = np.array([features(*forward()) for _ in range(n)], float)
    second = []
    for step in range(n):
        words = draw_words(topic)
        made = topoi.Corpus.from_tokens([WORDS, *([WORDS[w] for w in words[doc == d]] for d in (0, 1))]).subset([1, 2])
        sampler = model._make_sampler(made, 1)
        arrays = {"topic": topic.astype(np.uint16), "alpha": np.array(ALPHA), "beta": np.array(BETA)}
        chain = sampler.restore(0, arrays, [])
        for sweep in range(2):
            sampler.sample(chain, 0, chain.counts, new_stream(5, step, sweep))
        topic = sampler.whole(chain)[1].topic.astype(np.int64)
        second.append(features(words, topic))
    batches = np.array(second, float).reshape(30, -1, first.shape[1]).mean(axis=1)
    error = np.sqrt(first.var(axis=0) / n + batches.var(axis=0, ddof=1) / len(batches))
    z = (first.mean(axis=0) - batches.mean(axis=0)) / np.maximum(error, 1e-3)
    assert np.abs(z).max() < 4.5, z.round(1)


@given(st.integers(0, 10**6), st.sampled_from([5, 40, 70, 300]))
@settings(max_examples=30, deadline=None)
def test_kernels_give_banned_words_no_weight(seed, n_topics):
    """Weights of the dense kernel, of lists and of document order, in a guided state."""
    rng = np.random.default_rng(seed)
    corpus = topoi.Corpus.from_tokens([[f"w{w}" for w in rng.integers(0, 30, 40)] for _ in range(6)])
    words = [str(word) for word in corpus.words]
    banned = {int(k): list(rng.choice(words, 3, replace=False)) for k in rng.choice(n_topics, 3, replace=False)}
    seeds = {"one": list(rng.choice([w for w in words if w not in banned.get(0, [])], 2, replace=False))}
    model = topoi.LDA(n_topics, alpha=0.3, beta=0.05, seeds=seeds, seed_strength=7, ban=banned, random_state=seed)
    sampler = model._make_sampler(corpus, 1)
    chain = sampler.start(seed, 0)
    documents, assignments = sampler.whole(chain)
    counts, priors, told = chain.counts, chain.priors, sampler.guidance.phantoms
    i = int(rng.integers(corpus.n_tokens))
    d, w, k0 = int(np.searchsorted(corpus.doc_start, i, "right") - 1), int(corpus.tokens[i]), int(assignments.topic[i])
    here = np.bincount(assignments.topic[corpus.doc_start[d] : corpus.doc_start[d + 1]], minlength=n_topics) + 0.3
    real = np.zeros((corpus.n_words, n_topics))
    np.add.at(real, (corpus.tokens, assignments.topic), 1)
    prior = np.maximum(0.05 + told.rows(np.arange(corpus.n_words), np.full(corpus.n_words, np.float32(0.05))), 0)
    prior[told.banned_word, told.banned_topic] = 0
    real[w, k0] -= 1
    here[k0] -= 1
    exact = here * (real[w] + prior[w]) / (real.sum(axis=0) + prior.sum(axis=0))
    exact /= exact.sum()
    lane = kernels.lane_weights(documents, assignments, counts, priors, d, i)
    np.testing.assert_allclose(lane / lane.sum(), exact, atol=2e-5)
    assert (lane[prior[w] == 0] == 0).all()
    runs, order, _ = word_major.word_runs(documents.tokens, documents.doc_start, corpus.n_docs)
    at = int(np.flatnonzero(order == i)[0])
    topic_of = assignments.topic[order]
    listed = topic_lists.listed_weights(runs, at, w, topic_of, counts, priors, corpus.doc_lengths)
    np.testing.assert_allclose(listed / listed.sum(), exact, atol=2e-5)
    doc_topic = np.zeros((corpus.n_docs, counts.word_topic.shape[1]), np.uint16)
    np.add.at(doc_topic, (runs.doc, topic_of), 1)
    dense = word_major.word_lane_weights(doc_topic, counts, priors, d, w, k0)
    np.testing.assert_allclose(dense / dense.sum(), exact, atol=2e-5)
    sets = (rng.random((2, n_topics)) < 0.5).astype(np.float32)
    sets[:, k0] = 1
    doc_set = np.arange(corpus.n_docs, dtype=np.int32) % 2
    allowed = kernels.allowed_weights(documents, assignments, counts, priors, sets, doc_set, d, i)
    masked = exact * sets[d % 2]
    np.testing.assert_allclose(allowed / allowed.sum(), masked / masked.sum(), atol=5e-5)


def simulated(n_docs=150, **settings):
    return topoi.LDA(6, alpha=0.2, beta=np.full(60, 0.1)).simulate(n_docs, 40, random_state=0, **settings)


GUIDED = {
    "seeds and bans": {"seeds": {"x": ["w3", "w5"]}, "ban": {2: ["w1", "w2"]}, "pin": {"x": ["w7"]}},
    "labels": {"doc_labels": [["x"], ["y", "x"], [], None, ["y"]] * 30, "seeds": {"y": ["w4"]}},
}


@pytest.mark.parametrize("kind", ["LDA", "AuthorTopicModel"])
@pytest.mark.parametrize("told", GUIDED, ids=lambda name: name)
def test_fits_resume_threads_checkpoints_and_files(kind, told, tmp_path):
    corpus = simulated()
    if kind == "AuthorTopicModel":
        model = topoi.AuthorTopicModel(6, alpha=0.2, beta=np.full(60, 0.1))
        corpus = model.simulate(150, 40, authors=[["Ann"], ["Bob", "Cy"], ["Cy"]] * 50, random_state=0)
    how = {"n_topics": 8, "n_iter": 30, "random_state": 2, "n_shards": 2, **GUIDED[told]}
    make = getattr(topoi, kind)
    model = make(**how).fit(corpus)
    phi = model.topic_word_
    np.testing.assert_allclose(phi.sum(axis=1), 1.0)
    other = make(**how | {"n_jobs": 2, "checkpoint": tmp_path / "fit", "checkpoint_every": 7}).fit(corpus)
    half = make(**how | {"n_iter": 13}).fit(corpus).resume(17)
    for one in (other, half):
        np.testing.assert_array_equal(one.topic_word_, phi)
    model.save(tmp_path / "file.topoi")
    loaded, view = topoi.load(tmp_path / "file.topoi"), topoi.view(tmp_path / "file.topoi")
    np.testing.assert_array_equal(loaded.topic_word_, phi)
    np.testing.assert_allclose(view.chains_[0].topic_word, phi, rtol=1e-12, atol=1e-15)
    assert view.topic_labels() == loaded.topic_labels() == model.topic_labels()
    assert model.topic_labels()[0] == ("x" if told == "seeds and bans" else "y")
    new = corpus.subset([0, 5, 9])
    np.testing.assert_array_equal(loaded.transform(new), model.transform(new))
    for k in range(8):
        listed = view.top_words(8, topic=k)  # words that the topic has tokens of
        mine = model.top_words(8, topic=k)[: len(listed)]
        assert listed["word"].tolist() == mine["word"].tolist()
        np.testing.assert_allclose(listed["probability"], mine["probability"])
    for d in (1, 3):
        np.testing.assert_allclose(view.chains_[0].document_shares(d), model.chains_[0].document_shares(d), atol=1e-3)
    if told == "labels":
        x, y = model.topic_labels().index("x"), 0
        assert (model.doc_topic_[0::5, y] == 0).all() and (model.doc_topic_[2::5][:, [x, y]] == 0).all()
        assert (model.doc_topic_[3::5] > 0).all()
        assert model.fit_info_["n_shards"] == 2
    else:
        assert (phi[2, [corpus.vocabulary.index(w) for w in ("w1", "w2")]] == 0).all()
        assert (np.delete(phi[:, corpus.vocabulary.index("w7")], 0) == 0).all()
    np.testing.assert_array_equal(loaded.resume(3).topic_word_, model.resume(3).topic_word_)


def test_an_update_keeps_what_was_said():
    corpus = simulated()
    told = GUIDED["labels"] | {"doc_ban": {3: [3, 8]}, "ban": {5: ["w1"]}}
    model = topoi.LDA(8, n_iter=20, random_state=0, **told).fit(corpus.subset(np.arange(150)))
    more = simulated(200).subset(np.arange(150, 200))
    model.update(
        topoi.Corpus.from_tokens(
            [
                [str(more.words[w]) for w in more.tokens[a:b]]
                for a, b in zip(more.doc_start, more.doc_start[1:], strict=False)
            ]
        ),
        n_iter=10,
    )
    assert model.corpus_.n_docs == 200
    y = 0
    assert (model.doc_topic_[0:150:5, y] == 0).all() and (model.doc_topic_[150:, y] > 0).all()
    assert (model.doc_topic_[[3, 8], 3] == 0).all()
    assert model.topic_word_[5, model.vocabulary_.index("w1")] == 0
    assert model.topic_labels()[0] == "y"


def test_beta_is_learned_from_what_is_not_guided():
    """Phantoms are not data: with strong seeds beta is what it is without them."""
    corpus = simulated(400)
    plain = topoi.LDA(6, n_iter=60, random_state=0).fit(corpus).beta_[0]
    seeds = {f"t{k}": {f"w{k}": 5000} for k in range(6)}
    told = topoi.LDA(6, n_iter=60, random_state=0, seeds=seeds, ban={0: ["w9"]}).fit(corpus)
    assert told.beta_[0] == pytest.approx(plain, rel=0.3)
    counts = told._chains[0].counts
    w9 = corpus.vocabulary.index("w9")
    assert counts.word_topic[w9, 0] + told._chains[0].priors.beta[w9] == 0


def test_seeds_find_a_planted_topic():
    """Two topics that share most words: seeds say which comes first, and the report that the data agree."""
    rng = np.random.default_rng(1)
    common = [f"c{i}" for i in range(30)]
    docs = []
    for d in range(200):
        own = [f"x{i}" for i in range(8)] if d % 4 == 0 else [f"y{i}" for i in range(8)]
        docs.append([*rng.choice(common, 20), *rng.choice(own, 10)])
    corpus = topoi.Corpus.from_tokens(docs)
    for seed in range(3):
        model = topoi.LDA(3, seeds={"rare": ["x0", "x1"]}, n_iter=80, random_state=seed).fit(corpus)
        assert len(set(model.top_words(8, topic=0)["word"]) & {f"x{i}" for i in range(8)}) >= 7
        report = model.guidance_report()
        assert (report["share"] > 0.9).all() and (report["expected"] < 0.5).all()


def test_an_error_names_the_id_of_a_document():
    corpus = topoi.Corpus.from_tokens([["a", "b"], ["b", "c"]], ids=["one", "two"])
    with pytest.raises(ModelError, match=r"document 1 \('two'\) may have no topic"):
        topoi.LDA(2, doc_labels=[["x", "y"], []]).fit(corpus)


def test_a_word_may_be_banned_from_one_of_two_topics_it_is_pinned_to():
    told = resolve_guidance(small_corpus(), 3, pin={0: ["a"], 1: ["a"]}, ban={1: ["a"]})
    assert told.phantoms.to_array()[:, 1:].tolist() == [[1, -1], [2, -1]]


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"seeds": ["tariff"]}, "mapping"),
        ({"seeds": {"x": "a"}}, "list of words"),
        ({"seeds": {"x": ["zebra"]}}, "none of the seeds of 'x'"),
        ({"seeds": {"x": ["a"], "y": ["b"], "z": ["c"], "u": ["a"]}}, "n_topics is 3"),
        ({"seeds": {"x": {"a": 0}}}, "whole number"),
        ({"seeds": {"x": {"a": 10**9}}}, "at most"),
        ({"seeds": {"x": ["a"]}, "seed_strength": 0.5}, "whole number"),
        ({"seeds": {"x": ["a"]}, "ban": {"x": ["a"]}}, "banned there"),
        ({"ban": {7: ["a"]}}, "numbered 0 to 2"),
        ({"ban": {"war": ["a"]}}, "numbered 0 to 2"),
        ({"ban": {0: ["zebra"]}}, r"ban\[0\].*zebra"),
        ({"seeds": {"x": ["a"]}, "pin": {"x": ["zebra"]}}, r"pin\['x'\].*zebra"),
        ({"ban": {0: None}}, r"ban\[0\] is None; pass a list of words"),
        ({"ban": {0: 5}}, "list of words"),
        ({"seeds": {"x": ["a"]}, "ban": {"x": ["b"], 0: "*"}}, "ban has topic 0 twice"),
        ({"seeds": {"x": ["a"]}, "ban": {"x": ["b"]}, "pin": {"x": ["b"]}}, "'b' is pinned to topic 'x' and banned"),
        ({"seeds": {"x": ["a"]}, "pin": {1: ["a"]}}, "'a' is a seed of topic 'x' and pinned to others"),
        ({"seeds": {"x": {"a": 5, "A": 7}}}, "'A' twice, with 5 and 7"),
        ({"ban": {0: ["a"], 1: ["a"], 2: ["a"]}}, "banned from every topic"),
        ({"ban": {0: "*", 1: "*", 2: "*"}}, "at least one topic"),
        ({"ban": ["a"]}, "mapping"),
        ({"pin": {0: "a"}}, "list of words"),
        ({"doc_labels": "venue"}, "no column"),
        ({"doc_labels": [["x"]]}, "1 entries"),
        ({"doc_labels": [["x"], [3]]}, "list of names"),
        ({"doc_labels": [["x"], ["y"]], "pin": {"x": ["b"]}}, r"document 1 \(.*\) has the word 'b'"),
        ({"doc_labels": [["x", "y", "z"], []]}, r"document 1 \(.*\) may have no topic"),
        ({"doc_ban": {0: [9]}}, "document 9"),
        ({"doc_ban": {0: "one"}}, "list of documents"),
        ({"seeds": {"x": ["a"]}, "sparse": "counts"}, "sparse"),
        ({"doc_labels": [["x"], None], "learn_alpha": True}, "learn_alpha"),
    ],
)
def test_bad_guidance_is_refused(told, message):
    corpus = small_corpus()
    with pytest.raises((ModelError, topoi.NotFoundError), match=message.replace("'", ".")):
        topoi.LDA(3, n_iter=2, random_state=0, **told).fit(corpus)


def test_words_that_are_not_there_are_named():
    corpus = small_corpus()
    with pytest.warns(UserWarning, match="1 seed word is not in the vocabulary and left out: 'zebra' of 'x'"):
        model = topoi.LDA(3, n_iter=2, random_state=0, seeds={"x": ["A", "zebra"]}).fit(corpus)
    assert model.guidance_report()["word"].tolist() == ["a"]


def test_a_store_keeps_the_order_of_seeds(tmp_path):
    corpus = topoi.Corpus.from_tokens([WORDS * 3] * 4)
    model = topoi.LDA(3, seeds={"z": ["a"], "m": ["b"], "b": ["c"]}, n_iter=5, random_state=0).fit(corpus)
    model.save(tmp_path / "file.topoi")
    again = topoi.load(tmp_path / "file.topoi")
    assert again.topic_labels() == model.topic_labels() == ["z", "m", "b"]
    np.testing.assert_array_equal(again.resume(2).topic_word_, model.resume(2).topic_word_)


def test_saved_phantoms_are_checked():
    good = Phantoms.from_array(np.array([[0, 1, 5], [2, 0, -1]]), 3, 2)
    assert good.to_array().tolist() == [[0, 1, 5], [2, 0, -1]]
    for bad in ([[3, 0, 1]], [[0, 2, 1]], [[0, 0, 0]], [[0, 0, -2]], [[0, 0, 1], [0, 0, 2]], [[0, 0]]):
        with pytest.raises(ModelError, match="does not fit"):
            Phantoms.from_array(np.array(bad), 3, 2)


def test_settings_of_documents_follow_their_ids():
    corpus = topoi.Corpus.from_tokens([["a"], ["b"], ["c"]])
    told = documents_told({"doc_labels": [["x"], None, []], "doc_ban": {0: [2]}}, corpus)
    again = resolve_guidance(corpus.subset([2, 0]), 2, **told)
    assert again.allowed[again.doc_set].tolist() == [[False, True], [True, True]]


@pytest.mark.parametrize("kernel", ["documents", "two authors", "allowed", "words", "lists"])
def test_a_token_without_any_possible_topic_stays(kernel):
    """Rounding may draw a topic of weight zero; here all have that, so that every draw is such a one."""
    n_topics, stream = 40, new_stream(3)
    corpus = topoi.Corpus.from_tokens([["a", "b"] * 10, ["b"] * 5], authors=[["Ann", "Bob"], ["Bob"]])
    kind = topoi.AuthorTopicModel if kernel == "two authors" else topoi.LDA
    sampler = kind(n_topics, alpha=0.5, beta=0.5)._make_sampler(corpus, 1)
    chain = sampler.start(0, 0)
    documents, assignments = sampler.whole(chain)
    word = corpus.vocabulary.index("a")
    mine = documents.tokens == word
    assignments.topic[mine] = 3
    equations.count(documents, assignments, chain.counts)
    sets, doc_set = np.ones((1, n_topics), np.float32), np.zeros(2, np.int32)
    chain.counts.word_topic[word] = -0.5
    chain.counts.word_topic[word, 3] = 0.5  # the token that is left out, and minus beta
    before = assignments.topic.copy()
    how = assignments, chain.counts, chain.priors
    for _ in range(20):
        chain.counts.word_topic[word, 3] = 0.5
        if kernel == "allowed":
            kernels.sweep_allowed(documents, *how, sets, doc_set, stream)
        elif kernel in ("documents", "two authors"):
            kernels.sweep(documents, *how, stream)
        else:
            runs, order, per_block = word_major.word_runs(documents.tokens, documents.doc_start, 2)
            topic_of = assignments.topic[order]
            if kernel == "words":
                word_major.sweep_words(runs, topic_of, *how[1:], per_block, stream)
            else:
                topic_lists.sweep_lists(runs, topic_of, *how[1:], corpus.doc_lengths, stream)
            assignments.topic[order] = topic_of
        assert (assignments.topic[mine] == before[mine]).all()


def test_restored_states_are_made_to_fit():
    """What a chain may not have, as after an edit of the settings, is drawn anew; all the rest stays."""
    told = {"ban": {0: ["b"]}, "doc_ban": {2: [1]}}
    corpus, sampler = make_sampler(told)
    topic = np.array([0, 0, 1, 2, 1, 0], np.uint16)
    chain = sampler.restore(0, {"topic": topic, "alpha": np.array(ALPHA), "beta": np.array(BETA)}, [])
    found = sampler.whole(chain)[1].topic
    wrong = np.array([False, True, False, True, False, True])  # b in topic 0 twice, topic 2 in document 1
    assert corpus.tokens[[1, 5]].tolist() == [1, 1]
    np.testing.assert_array_equal(found[~wrong], topic[~wrong])
    assert (found[[1, 5]] != 0).all() and found[3] != 2
    assert np.isfinite(log_joint(corpus, found, np.zeros(6, int), *prior_and_mask(told, corpus)))


def test_an_update_does_not_change_the_strength_of_seeds():
    corpus = simulated(100)
    model = topoi.LDA(4, seeds={"x": ["w3"]}, n_iter=5, random_state=0).fit(corpus)
    before = model.guidance_report()["strength"].tolist()
    model.update([[f"w{i % 60}" for i in range(j, j + 40)] for j in range(200)], n_iter=3)
    assert model.guidance_report()["strength"].tolist() == before == [10]


@pytest.mark.parametrize("authors", [None, [["Ann", "Bob"], ["Bob"]]])
def test_words_of_a_saved_document_have_their_conditionals_among_its_topics(tmp_path, authors):
    told = {"doc_labels": [["x"], ["y"]], "seeds": {"y": {"a": 2}}, "ban": {"y": ["b"]}}
    corpus = small_corpus(authors=None if authors is None else [authors[0], *authors])
    model = make_model(told, authors, n_iter=3, average=False).fit(corpus)
    model.save(tmp_path / "guided.topoi")
    view = topoi.view(tmp_path / "guided.topoi")
    prior, mask = prior_and_mask(told, corpus)
    found = model.chains_[0].assignments
    topic, slot = np.array(found.topic, int), np.array(found.slot, int)
    for d in range(corpus.n_docs):
        labels = view.label_stored(view.chains_[0].document(d), 0, 1, 1)
        n_slots = labels.slot.shape[1]
        for i, at in enumerate(range(corpus.doc_start[d], corpus.doc_start[d + 1])):
            p = np.zeros((3, n_slots))
            for k, q in product(range(3), range(n_slots)):
                other, who = topic.copy(), slot.copy()
                other[at], who[at] = k, q
                p[k, q] = np.exp(log_joint(corpus, other, who, prior, mask))
            np.testing.assert_allclose(labels.topic[i], p.sum(axis=1) / p.sum(), rtol=1e-4, atol=1e-12)
            np.testing.assert_allclose(labels.slot[i], p.sum(axis=0) / p.sum(), rtol=1e-4, atol=1e-12)
        sampled = view.label_stored(view.chains_[0].document(d), 5, 20, 1)
        assert (sampled.topic[:, ~mask[d]] == 0).all()
    assert not mask.all()


@pytest.mark.parametrize("family", [topoi.HierarchicalDirichletProcess, topoi.DirichletMultinomialRegression])
def test_words_of_a_saved_document_have_its_topics_alone_in_other_families(tmp_path, family):
    corpus = topoi.Corpus.from_tokens([["a", "b", "b", "c"], ["c", "a", "b", "a"]] * 8, dates=[1990, 1991] * 8)
    how = {"n_topics": 4, "features": ["year"]} if family is topoi.DirichletMultinomialRegression else {}
    model = family(**how, doc_labels=[["x"], ["y"]] * 8, n_iter=5, random_state=0, progress=False).fit(corpus)
    model.save(tmp_path / "labelled.topoi")
    view = topoi.view(tmp_path / "labelled.topoi")
    for d, other in ((0, 1), (1, 0)):
        labels = view.label_stored(view.chains_[0].document(d), 2, 20, 1).topic
        assert (labels[:, other] == 0).all()
        assert (labels[:, 1 - other] > 0).all()
