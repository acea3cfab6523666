"""Figures of the two author-topic papers: topics and authors, chains against chains, trends."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import topoi
from studies.chart import line_chart
from studies.papers.result import Found, study

SWEEPS = 300
NIPS_WORDS = ("retina", "handwritten", "kernel", "ica", "bayesian", "reinforcement", "control", "boltzmann")
# In place of CiteSeer's topics: one telling word each.
ACL_WORDS = (
    "parsing",
    "translation",
    "sentiment",
    "morphological",
    "summarization",
    "retrieval",
    "sarcasm",
    "coreference",
)
MAIL_WORDS = ("windows", "package", "memory", "lattice", "bug", "namespace", "fortran", "fonts")
CHAINS, MEASURED = 10, (1, 5, 10, 20, 50, 100, 150, 200)


@cache
def nips(seed: int = 0) -> Any:
    """The papers' model of NIPS: 100 topics, one chain."""
    corpus = topoi.load_dataset("nips12", min_df=5)
    return topoi.AuthorTopicModel(100, prior="paper", n_iter=SWEEPS, n_shards=1, random_state=seed, progress=False).fit(
        corpus
    )


@cache
def abstracts() -> Any:
    """300 topics of the abstracts of computational linguistics, in place of CiteSeer's."""
    corpus = topoi.load_dataset("acl-abstracts")
    return topoi.AuthorTopicModel(300, prior="paper", n_iter=150, n_jobs=2, random_state=0, progress=False).fit(corpus)


@cache
def mail() -> Any:
    """100 topics of a mailing list, in place of Enron's mail."""
    corpus = topoi.load_dataset("r-devel")
    return topoi.AuthorTopicModel(100, prior="paper", n_iter=SWEEPS, n_jobs=2, random_state=0, progress=False).fit(
        corpus
    )


def told_by(model: Any, words: tuple[str, ...]) -> dict[str, int]:
    """For each word the topic in which it has the highest probability; no topic twice."""
    chosen: dict[str, int] = {}
    for word in words:
        column = model.topic_word_[:, model.vocabulary_.index(word)].copy()
        column[list(chosen.values())] = -1
        chosen[word] = int(column.argmax())
    return chosen


def topic_columns(model: Any, topics: list[int], n: int = 10) -> str:
    """Words and authors of some topics side by side, as in the papers' figures."""
    words = {k: model.top_words(n, topic=k) for k in topics}
    authors = {k: model.top_authors(n, topic=k, by="words") for k in topics}
    head = "| " + " | ".join(f"topic {k}: word | P | author | P" for k in topics) + " |"
    lines = [head, "|" + "---|---:|---|---:|" * len(topics)]
    for i in range(n):
        cells = [
            f"{words[k]['word'].iloc[i]} | {words[k]['probability'].iloc[i]:.3f} | {_cell(authors[k], i)}"
            for k in topics
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(frame: pd.DataFrame, i: int) -> str:
    return f"{frame['author'].iloc[i]} | {frame['probability'].iloc[i]:.3f}" if i < len(frame) else " | "


def _in_fours(model: Any, topics: list[int]) -> str:
    return "\n\n".join(topic_columns(model, topics[i : i + 4]) for i in range(0, len(topics), 4))


def _not_leading(model: Any, chosen: dict[str, int]) -> list[str]:
    """The telling words that are not among the ten words of their topic."""
    return [word for word, k in chosen.items() if word not in model.top_words(10, topic=k)["word"].tolist()]


def _topics_found(model: Any, words: tuple[str, ...], why: str) -> Found:
    chosen = told_by(model, words)
    missing = _not_leading(model, chosen)
    leading = len(words) - len(missing)
    if missing:
        why += f" Not among the ten first words of its topic: {', '.join(missing)}."
    seconds = model.corpus_.n_tokens / model.fit_info_["tokens_per_second"]
    return Found(
        {"topics of one subject, with those who write about it": f"{leading} of {len(words)}", "seconds a sweep": f"{seconds:.2f}", "collection": repr(model.corpus_)[9:-1]},
        "reproduced" if leading >= len(words) - 1 else "partly",
        why,
        _in_fours(model, list(chosen.values())),
    )  # fmt: skip


@study(
    "at09-fig1", "Figure 1", "Eight of 100 topics of NIPS papers, their words and authors",
    {"topics of one subject, with those who write about it": "8 shown", "seconds a sweep": "22"}, "12 hours, 22 s a sweep",
)  # fmt: skip
def nips_topics() -> Found:
    """Words and authors of topics."""
    return _topics_found(
        nips(), NIPS_WORDS,
        f"Topics are chosen by a telling word each, six of them the subjects of the paper's. One chain of {SWEEPS} sweeps; the paper has 2,000. Authors are ranked by their share of the topic's words, as the printed figures must have been.",
    )  # fmt: skip


@study(
    "at09-fig2",
    "Figure 2",
    "Four topics each of well-known authors of NIPS",
    {"their topics are what they are known for": "8 authors"},
)
def nips_authors() -> Found:
    """Mixtures of authors."""
    known = {
        "Dayan, P": ("state", "policy", "reinforcement"), "Jordan, M": ("mixture", "em", "motor", "experts", "gaussian"), "Bishop, C": ("bayesian", "data", "posterior", "prior"),
        "Koch, C": ("neurons", "cells", "cell", "motion", "visual", "circuit", "chip"), "Singh, S": ("policy", "state", "reinforcement"), "Smola, A": ("kernel", "support", "vector"),
        "Sejnowski, T": ("neurons", "ica", "cells", "visual", "independent"), "Vapnik, V": ("support", "vector", "kernel", "margin"),
    }  # fmt: skip
    model, lines, right = nips(), ["| author | share | topic's words |", "|---|---:|---|"], 0
    names = set(map(str, model.authors_))
    for author, words in known.items():
        if author not in names:
            continue
        frame = model.author_topics(author, n=4)
        tops = [model.top_words(8, topic=int(k))["word"].tolist() for k in frame["topic"]]
        right += any(word in top for top in tops[:2] for word in words)
        for i, (share, top) in enumerate(zip(frame["probability"], tops, strict=True)):
            lines.append(f"| {author if i == 0 else ''} | {share:.2f} | {' '.join(top)} |")
    return Found(
        {"their topics are what they are known for": f"{right} of {len(known)} by their two first topics"},
        "reproduced" if right >= len(known) - 1 else "partly",
        "The words that an author is known for were written down before the fit was looked at. Names are surname and initial, so that namesakes are one author.",
        "\n".join(lines),
    )


def _log_mean(model: Any, test: topoi.Corpus) -> np.ndarray:
    """P(word) of every token of test documents, whose authors are known, under one sample."""
    author = {str(name): i for i, name in enumerate(model.authors_)}
    lists = test.author_lists()
    found = []
    for d in range(test.n_docs):
        rows = [author[name] for name in lists[d] if name in author]
        words = test.tokens[test.doc_start[d] : test.doc_start[d + 1]]
        found.append(model.author_topic_[rows].mean(axis=0) @ model.topic_word_[:, words])
    return np.concatenate(found)


@study(
    "at09-fig4", "Figure 4", "Perplexity of test documents against sweeps: ten chains, and their average",
    {"flat after, sweeps": "about 100", "average of ten below every single one": True}, "200 hours, 6 min a sweep",
)  # fmt: skip
def perplexity_by_sweeps() -> Found:
    """Perplexity of single samples and of the mean over chains."""
    corpus = topoi.load_dataset("nips12-abstracts", min_df=3)
    train, test = corpus.split(test_size=0.1, random_state=0, known_authors=True)
    singles: dict[int, list[float]] = {n: [] for n in MEASURED}
    together = {n: np.zeros(test.n_tokens) for n in MEASURED}
    for seed in range(CHAINS):
        model = topoi.AuthorTopicModel(
            100, prior="paper", n_iter=1, n_shards=1, average=False, random_state=seed, progress=False
        ).fit(train)
        for n in MEASURED:
            if n > 1:
                model.resume(n - model.n_iter_)
            p = _log_mean(model, test)
            singles[n].append(float(np.exp(-np.log(p).mean())))
            together[n] += p / CHAINS
    mean = {n: float(np.exp(-np.log(together[n]).mean())) for n in MEASURED}
    best = {n: min(singles[n]) for n in MEASURED}
    last = mean[MEASURED[-1]]
    flat = next(n for n in MEASURED if all(mean[m] < 1.02 * last for m in MEASURED if m >= n))
    below = all(mean[n] < best[n] for n in MEASURED[2:])
    series = {f"chain {i + 1}": [(float(n), singles[n][i]) for n in MEASURED] for i in range(3)}
    series["mean of ten"] = [(float(n), mean[n]) for n in MEASURED]
    chart = line_chart(series, "sweeps", "perplexity of test abstracts", log_x=True)
    return Found(
        {
            "flat after, sweeps": f"{flat} (within 2 % of the last)", "average of ten below every single one": below,
            "perplexity after the last sweep": f"mean of ten {last:,.0f}; single chains {min(singles[MEASURED[-1]]):,.0f} to {max(singles[MEASURED[-1]]):,.0f}",
        },
        "reproduced" if below and 20 <= flat <= 150 else "partly",
        f"On NIPS abstracts ({train.n_docs:,} to train, {test.n_docs} to test, 100 topics); the paper shows CiteSeer and says that NIPS is alike. The words of a test document are independent given its authors, as in the paper.",
        "![Perplexity against sweeps](at09-fig4.svg)",
        {"at09-fig4": chart},
    )  # fmt: skip


@cache
def _aligned() -> Any:
    return topoi.align_topics(nips(0), nips(1), method="greedy")


def _pair_table(rows: pd.DataFrame) -> str:
    lines = ["| distance | first run | second run |", "|---:|---|---|"]
    for row in rows.itertuples():
        first, second = (
            model.top_words(8, topic=int(k))["word"].tolist()
            for model, k in ((nips(0), row.topic_a), (nips(1), row.topic_b))
        )
        lines.append(f"| {row.distance:.2f} | {' '.join(first)} | {' '.join(second)} |")
    return "\n".join(lines)


@study(
    "at09-fig5", "Figure 5", "Topics of two runs on NIPS matched one to one: best and worst",
    {"topics of the best pair": "the same words", "topics of the worst pair": "different", "most topics found again": True},
)  # fmt: skip
def stability() -> Found:
    """Distances of matched topics."""
    pairs = _aligned().pairs.sort_values("distance")
    shared = [
        len(set(nips(0).top_words(10, topic=int(a))["word"]) & set(nips(1).top_words(10, topic=int(b))["word"]))
        for a, b in zip(pairs["topic_a"], pairs["topic_b"], strict=True)
    ]
    again = float(np.mean(np.array(shared) >= 5))
    return Found(
        {
            "topics of the best pair": f"{shared[0]} of 10 words in common", "topics of the worst pair": f"{shared[-1]} of 10",
            "most topics found again": again > 0.5, "pairs with at least five of ten words in common, %": f"{100 * again:.0f}",
        },
        "reproduced" if shared[0] >= 8 and again > 0.5 else "partly",
        "Matched greedily by symmetrised KL divergence, as in the paper. The last pairs of a greedy match are what was left over.",
        _pair_table(pd.concat([pairs.head(2), pairs.tail(2)])),
    )  # fmt: skip


@study("at04-fig3", "Figure 3", "Four topics again, in another run", {"the same topics": "with some changes of rank"})
def found_again() -> Found:
    """Topics of four subjects and their partners in another chain."""
    chosen = told_by(nips(0), NIPS_WORDS[2:6])
    pairs = _aligned().pairs
    rows = pairs[pairs["topic_a"].isin(chosen.values())]
    shared = [
        len(
            set(nips(0).top_words(10, topic=int(r.topic_a))["word"])
            & set(nips(1).top_words(10, topic=int(r.topic_b))["word"])
        )
        for r in rows.itertuples()
    ]
    return Found(
        {"the same topics": f"{', '.join(map(str, shared))} of ten words in common"},
        "reproduced" if min(shared) >= 5 else "partly",
        "NIPS stands in for CiteSeer.",
        _pair_table(rows),
    )


_ABSTRACTS = "Abstracts of computational linguistics stand in for CiteSeer's of computer science, which cannot be had: fewer (62,444 against 162,489), with whole names. Topics are chosen by a telling word each."


@study(
    "at09-fig6", "Figure 6", "Topics and authors of CiteSeer's abstracts",
    {"topics of one subject, with those who write about it": "shown"}, "200 hours, 6 min a sweep",
)  # fmt: skip
def abstract_topics() -> Found:
    """Topics of abstracts."""
    return _topics_found(abstracts(), ACL_WORDS, _ABSTRACTS)


@study(
    "at04-fig2", "Figure 2", "Eight of 300 topics of CiteSeer's abstracts, their words and authors",
    {"topics of one subject, with those who write about it": "8 shown"}, "several days a chain, 400 s a sweep",
)  # fmt: skip
def eight_abstract_topics() -> Found:
    """The same topics as in the later paper."""
    return _topics_found(abstracts(), ACL_WORDS, _ABSTRACTS)


@study(
    "at04-fig4",
    "Figure 4",
    "Trends of topics over the years",
    {"rise and fall as people remember": "shown for a dozen topics"},
)
def trends() -> Found:
    """Shares of topics by year: three that should have fallen, three that should have risen."""
    model = abstracts()
    chosen = told_by(model, ("unification", "svm", "lstm", "llms", "prompting", "multimodal"))
    frame = topoi.topic_trends(model)
    series, holds = {}, 0
    for word, k in chosen.items():
        own = frame[(frame["topic"] == k) & frame["year"].between(1990, 2026)].sort_values("year")
        share = (
            pd.Series(own["share"].to_numpy(), own["year"].astype(int).to_numpy())
            .rolling(3, center=True, min_periods=1)
            .mean()
        )
        series[word] = [(float(y), 100 * float(s)) for y, s in share.items()]
        peak = int(share.idxmax())
        holds += {"unification": peak < 2000, "svm": 2003 <= peak <= 2014, "lstm": 2014 <= peak <= 2021}.get(
            word, peak >= 2019
        )
    chart = line_chart({w: points[::4] for w, points in series.items()}, "year", "% of words, means of three years")
    return Found(
        {"rise and fall as people remember": f"{holds} of {len(chosen)} peak when they should"},
        "reproduced" if holds >= len(chosen) - 1 else "partly",
        "Six subjects and their years were written down first: unification before 2000, support vector machines 2003 to 2014, LSTMs 2014 to 2021, language models, prompting and pictures after 2019. Computational linguistics stands in for computer science.",
        "![Shares of six topics by year](at04-fig4.svg)",
        {"at04-fig4": chart},
    )


@study(
    "at04-fig6",
    "Figure 6",
    "A browser for authors, topics and documents",
    {"author, topic and document pages, linked": True},
)
def browser() -> Found:
    """The pages of the browser."""
    return Found(
        {"author, topic and document pages, linked": True},
        "reproduced",
        "`topoi browse`: an author's topics, a topic's words and authors, a document's words coloured by topic and author, and what the paper's tool does not have. See [the browser](../../browser.md).",
    )


_MAIL = "The mailing list of R's developers stands in for Enron's mail, which cannot be had here in the form that the authors cleaned."


@study(
    "at09-fig7",
    "Figure 7",
    "Topics of a company's mail",
    {"topics of one subject, with those who write about it": "shown"},
    "23 hours, 42 s a sweep",
)
def mail_topics() -> Found:
    """Topics of mail."""
    return _topics_found(mail(), MAIL_WORDS, _MAIL)


@study(
    "at09-fig8",
    "Figure 8",
    "Topics of people who write mail",
    {"people have topics of their own": "shown"},
    "23 hours, 42 s a sweep",
)
def mail_authors() -> Found:
    """Topics of those who write most."""
    model = mail()
    corpus = model.corpus_
    count = np.bincount(corpus.doc_author, minlength=corpus.n_authors)
    names = [str(corpus.authors[a]) for a in np.argsort(-count)[:6]]
    lines, first = ["| author | share | topic's words |", "|---|---:|---|"], []
    for name in names:
        frame = model.author_topics(name, n=4)
        first.append(int(frame["topic"].iloc[0]))
        for i, row in enumerate(frame.itertuples()):
            lines.append(
                f"| {name if i == 0 else ''} | {row.probability:.2f} | {' '.join(model.top_words(7, topic=int(row.topic))['word'])} |"
            )
    different = len(set(first))
    return Found(
        {"people have topics of their own": f"{different} different first topics of {len(names)} people"},
        "reproduced" if different >= len(names) - 1 else "partly",
        _MAIL + " The six who wrote most.",
        "\n".join(lines),
    )
