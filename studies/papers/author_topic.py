"""Figures of the two author-topic papers: topics and authors, chains against chains, trends."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logsumexp

import topoi
from studies.chart import line_chart, matrix_picture
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
        why + " A topic counts if its telling word is among its ten first; whether its authors write about it is left to the reader. *Reproduced* needs all topics but one.",
        _in_fours(model, list(chosen.values())),
    )  # fmt: skip


@study(
    "at09-fig1", "Figure 1", "Eight of 100 topics of NIPS papers, their words and authors",
    {"topics of one subject, with those who write about it": "8 shown", "seconds a sweep": "22", "collection": "1,740 documents, 2,301,375 tokens, 13,649 words, 2,037 authors, 1987–1999"}, "12 hours, 22 s a sweep",
)  # fmt: skip
def nips_topics() -> Found:
    """Words and authors of topics."""
    return _topics_found(
        nips(), NIPS_WORDS,
        f"Topics are chosen by a telling word each, six of them the subjects of the paper's. One chain of {SWEEPS} sweeps; the paper has 2,000. Authors are ranked by their share of the topic's words, which is how the paper's figure seems to be made ([why we think so](../nips-topics.md)).",
    )  # fmt: skip


@study(
    "at09-fig2",
    "Figure 2",
    "Four topics each of well-known authors of NIPS",
    {"their topics are what they are known for": "shown for 5 authors"},
    "12 hours (the model of Figure 1)",
)
def nips_authors() -> Found:
    """Mixtures of authors."""
    known = {
        "Dayan, P": ("state", "policy", "reinforcement"), "Jordan, M": ("mixture", "em", "motor", "experts", "gaussian"), "Bishop, C": ("bayesian", "data", "posterior", "prior"),
        "Koch, C": ("neurons", "cells", "cell", "motion", "visual", "circuit", "chip"), "Singh, S": ("policy", "state", "reinforcement"), "Smola, A": ("kernel", "support", "vector"),
        "LeCun, Y": ("character", "characters", "recognition", "handwritten", "digit"), "Sejnowski, T": ("neurons", "ica", "cells", "visual", "independent"), "Vapnik, V": ("support", "vector", "kernel", "margin"),
    }  # fmt: skip
    model, lines, missed = nips(), ["| author | share | topic's words |", "|---|---:|---|"], []
    names = set(map(str, model.authors_))
    for author, words in known.items():
        if author not in names:
            missed.append(author)
            continue
        frame = model.author_topics(author, n=4)
        tops = [model.top_words(8, topic=int(k))["word"].tolist() for k in frame["topic"]]
        if not any(word in top for top in tops[:2] for word in words):
            missed.append(author)
        for i, (share, top) in enumerate(zip(frame["probability"], tops, strict=True)):
            lines.append(f"| {author if i == 0 else ''} | {share:.2f} | {' '.join(top)} |")
    return Found(
        {
            "their topics are what they are known for": f"{len(known) - len(missed)} of {len(known)}, by their first two topics"
        },
        "reproduced" if len(missed) <= 1 else "partly",
        "The paper shows Jordan, Koch, LeCun, Sejnowski and Vapnik; here four others are added. The words that each is known for were written down before anybody looked at the fit. "
        + (f"None of them is in the first two topics of {'; '.join(missed)}. " if missed else "")
        + "The paper leaves out topics without technical content; here they are shown. Names are surname and initial, so namesakes count as one author. The paper's first topic of LeCun joins characters and tangent distances; the words written down for him are of characters only. *Reproduced* needs all authors but one.",
        "\n".join(lines),
    )


def _token_probabilities(model: Any, test: topoi.Corpus) -> np.ndarray:
    """P(word) of every token of test documents, whose authors are known, under one sample."""
    author = {str(name): i for i, name in enumerate(model.authors_)}
    lists = test.author_lists()
    found = []
    for d in range(test.n_docs):
        rows = [author[name] for name in lists[d] if name in author]
        words = test.tokens[test.doc_start[d] : test.doc_start[d + 1]]
        found.append(model.author_topic_[rows].mean(axis=0) @ model.topic_word_[:, words])
    return np.concatenate(found)


def _mean_perplexity(log_p: np.ndarray, lengths: np.ndarray) -> float:
    """Equation 10: the mean over documents of their perplexities."""
    return float(np.exp(-log_p / lengths).mean())


@study(
    "at09-fig4", "Figure 4", "Perplexity of test documents against sweeps: ten chains, and their average",
    {"levels out after, sweeps": "about 100", "average of ten below every single one": True}, "200 hours, 6 min a sweep",
)  # fmt: skip
def perplexity_by_sweeps() -> Found:
    """Perplexity of single samples, and of means over chains: of documents' probabilities, as in the paper, and of words'."""
    corpus = topoi.load_dataset("nips12-abstracts", min_df=3)
    train, test = corpus.split(test_size=0.1, random_state=0, known_authors=True)
    starts, lengths = test.doc_start[:-1], test.doc_lengths
    logs: dict[int, list[np.ndarray]] = {n: [] for n in MEASURED}
    words = {n: np.zeros(test.n_tokens) for n in MEASURED}
    for seed in range(CHAINS):
        model = topoi.AuthorTopicModel(
            100, prior="paper", n_iter=1, n_shards=1, average=False, random_state=seed, progress=False
        ).fit(train)
        for n in MEASURED:
            if n > 1:
                model.resume(n - model.n_iter_)
            p = _token_probabilities(model, test)
            logs[n].append(np.add.reduceat(np.log(p), starts))
            words[n] += p / CHAINS
    singles = {n: [_mean_perplexity(each, lengths) for each in logs[n]] for n in MEASURED}
    mean = {n: _mean_perplexity(logsumexp(logs[n], axis=0) - np.log(CHAINS), lengths) for n in MEASURED}
    by_words = {n: _mean_perplexity(np.add.reduceat(np.log(words[n]), starts), lengths) for n in MEASURED}
    last = mean[MEASURED[-1]]
    flat = next(n for n in MEASURED if all(mean[m] < 1.02 * last for m in MEASURED if m >= n))
    below = all(mean[n] < min(singles[n]) for n in MEASURED[2:])
    series = {f"chain {i + 1}": [(float(n), singles[n][i]) for n in MEASURED] for i in range(3)}
    series["mean of ten"] = [(float(n), mean[n]) for n in MEASURED]
    series["word by word"] = [(float(n), by_words[n]) for n in MEASURED]
    chart = line_chart(series, "sweeps", "mean perplexity of test abstracts", log_x=True)
    return Found(
        {
            "levels out after, sweeps": f"{flat} (within 2 % of the last)", "average of ten below every single one": below,
            "a single chain falls from its first sweep to its last, %": f"{100 * (1 - np.mean(singles[MEASURED[-1]]) / np.mean(singles[MEASURED[0]])):.0f}",
            "perplexity after the last sweep": f"mean of ten {last:,.0f}; single chains {min(singles[MEASURED[-1]]):,.0f} to {max(singles[MEASURED[-1]]):,.0f}; averaged word by word {by_words[MEASURED[-1]]:,.0f}",
        },
        "reproduced" if below and 20 <= flat <= 150 else "partly",
        f"On NIPS abstracts ({train.n_docs:,} to train, {test.n_docs} to test, 100 topics); the paper shows CiteSeer and says that NIPS behaves alike. As in the paper, the probability of a whole document is averaged over the ten samples, "
        "and the perplexity is the mean of the documents' perplexities. Averaged word by word, which the paper does not do, ten samples gain far more: a document's words then need not agree on one sample. "
        "The curves are compared from ten sweeps on; three of the ten chains are drawn. A single chain hardly falls on texts this short, so what levels out is mostly what the average gains. "
        "*Reproduced* needs an average below every chain that stays within 2 % of its last value after 20 to 150 sweeps.",
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
    {"distance of the best pair": 1.03, "distance of the worst pair": 9.49, "topics of the best pair": "almost identical", "topics of the worst pair": "no correspondence", "topics found again, of 100": "about 80"},
    "12 hours a chain",
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
            "distance of the best pair": f"{pairs['distance'].iloc[0]:.2f}", "distance of the worst pair": f"{pairs['distance'].iloc[-1]:.2f}",
            "topics of the best pair": f"{shared[0]} of 10 words in common", "topics of the worst pair": f"{shared[-1]} of 10 words in common",
            "topics found again, of 100": f"{100 * again:.0f} with at least five of ten words in common",
        },
        "reproduced" if shared[0] >= 8 and again >= 0.7 else "partly",
        f"Matched greedily by symmetrised KL divergence, as in the paper (here the sum of both directions, in nats; the paper does not say); the last pairs of a greedy match are what was left over. The paper counts pairs that a reader would give the same meaning, here a pair counts if five of its ten first words agree, which may be stricter. {SWEEPS} sweeps; the paper has 2,000. *Reproduced* would need eight words in common in the best pair and 70 topics found again.",
        "![Distances between the topics of two runs, matched topics on the diagonal](at09-fig5.svg)\n\n" + _pair_table(pd.concat([pairs.head(2), pairs.tail(2)])),
        {"at09-fig5": _distances_chart()},
    )  # fmt: skip


def _distances_chart() -> str:
    """Distances between all topics of both runs, in the order of the matched pairs, as the paper draws them."""
    return matrix_picture(_aligned().matrix, "topics of the first run", "of the second", "distance", (0, 4, 8, 12, 16))


@study(
    "at04-fig3",
    "Figure 3",
    "Four topics again, in another run",
    {"the same topics": "with some changes of rank"},
    "several days a chain",
)
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
        f"NIPS with 100 topics stands in for CiteSeer with 300. {SWEEPS} sweeps; the paper has 2,000. *Reproduced* needs five words in common in each pair.",
        _pair_table(rows),
    )


def _abstracts(theirs: int) -> str:
    return f"Abstracts of computational linguistics stand in for CiteSeer's of computer science, which are not available: fewer ({abstracts().corpus_.n_docs:,}; CiteSeer has {theirs:,}), with whole names. Topics are chosen by a telling word each."


@study(
    "at09-fig6", "Figure 6", "Topics and authors of CiteSeer's abstracts",
    {"topics of one subject, with those who write about it": "shown", "seconds a sweep": "360", "collection": "150,045 documents, 10,810,003 tokens, 30,799 words, 85,465 authors"}, "200 hours, 6 min a sweep",
)  # fmt: skip
def abstract_topics() -> Found:
    """Topics of abstracts."""
    return _topics_found(abstracts(), ACL_WORDS, _abstracts(150_045) + " 150 sweeps; the paper has 2,000.")


@study(
    "at04-fig2", "Figure 2", "Eight of 300 topics of CiteSeer's abstracts, their words and authors",
    {"topics of one subject, with those who write about it": "8 shown", "seconds a sweep": "400", "collection": "162,489 documents, 11,685,514 tokens, 30,799 words, 85,465 authors"}, "several days a chain, 400 s a sweep",
)  # fmt: skip
def eight_abstract_topics() -> Found:
    """The same topics as in the later paper."""
    return _topics_found(abstracts(), ACL_WORDS, _abstracts(162_489) + " 150 sweeps; the paper has 2,000.")


@study(
    "at04-fig4",
    "Figure 4",
    "Trends of topics over the years",
    {"topics rise and fall with their subjects": "shown for 20 topics"},
    "several days (the model of Figure 2)",
)
def trends() -> Found:
    """Shares of topics by year: three that should have fallen, three that should have risen."""
    model = abstracts()
    chosen = told_by(model, ("unification", "svm", "lstm", "llms", "prompting", "multimodal"))
    frame = topoi.topic_trends(model)
    series, missed = {}, []
    for word, k in chosen.items():
        own = frame[(frame["topic"] == k) & frame["year"].between(1990, 2026)].sort_values("year")
        share = (
            pd.Series(own["share"].to_numpy(), own["year"].astype(int).to_numpy())
            .rolling(3, center=True, min_periods=1)
            .mean()
        )
        peak = int(share.idxmax())
        series[word] = [(float(y), 100 * float(s / share[peak])) for y, s in share.items()]
        expected = {"unification": peak < 2000, "svm": 2003 <= peak <= 2014, "lstm": 2014 <= peak <= 2021}
        if not expected.get(word, peak >= 2019):
            missed.append(f"{word} ({peak})")
    chart = line_chart(series, "year", "% of the topic's share in its best year, means of three years")
    return Found(
        {
            "topics rise and fall with their subjects": f"{len(chosen) - len(missed)} of {len(chosen)} peak in the years expected of them"
        },
        "reproduced" if len(missed) <= 1 else "partly",
        "Six subjects and the years in which each should peak were written down first: unification before 2000, support vector machines from 2003 to 2014, LSTMs from 2014 to 2021, large language models, prompting and multimodal models from 2019 on. "
        + (f"With its peak in another year: {', '.join(missed)}. " if missed else "")
        + "Computational linguistics stands in for computer science. A topic is named by its telling word and may hold more than that subject, so that a curve can go on rising when its word is past its best. *Reproduced* needs all subjects but one.",
        "![Six topics by year, each beside its best year](at04-fig4.svg)",
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
        "`topoi browse` shows an author's topics and documents, a topic's words and authors, and a document's words coloured by topic and author, each linked to the others. It also has pages that the paper's tool does not have. That tool takes 1 to 2 s for a new document, which was not timed here. See [the browser](../../browser.md) for pictures.",
    )


_MAIL = "The mailing list of R's developers with 100 topics stands in for Enron's mail with 200, which is not available in the form that the authors cleaned."


@study(
    "at09-fig7",
    "Figure 7",
    "Topics of a company's mail",
    {
        "topics of one subject, with those who write about it": "shown",
        "seconds a sweep": "42",
        "collection": "121,298 documents, 4,699,573 tokens, 11,195 authors",
    },
    "23 hours, 42 s a sweep",
)
def mail_topics() -> Found:
    """Topics of mail."""
    return _topics_found(mail(), MAIL_WORDS, _MAIL + " 300 sweeps; the paper has 2,000.")


@study(
    "at09-fig8",
    "Figure 8",
    "Topics of people who write mail",
    {"people have topics of their own": "shown", "these show what people work on": True},
    "23 hours, 42 s a sweep",
)
def mail_authors() -> Found:
    """Topics of those who write most."""
    model = mail()
    corpus = model.corpus_
    count = np.bincount(corpus.doc_author, minlength=corpus.n_authors)
    names = [str(corpus.authors[a]) for a in np.argsort(-count)[:6]]
    lines, first, signed = ["| author | share | topic's words |", "|---|---:|---|"], [], 0
    for name in names:
        frame = model.author_topics(name, n=4)
        first.append(int(frame["topic"].iloc[0]))
        for i, row in enumerate(frame.itertuples()):
            top = model.top_words(7, topic=int(row.topic))["word"].tolist()
            signed += i == 0 and any(part in top for part in name.lower().split())
            lines.append(f"| {name if i == 0 else ''} | {row.probability:.2f} | {' '.join(top)} |")
    different = len(set(first))
    return Found(
        {
            "people have topics of their own": f"{different} different first topics of {len(names)} people",
            "these show what people work on": f"for {len(names) - signed} of {len(names)}; the first topic of the others has their own name in it",
        },
        "reproduced" if different >= len(names) - 1 and signed <= 1 else "partly",
        _MAIL
        + " The six who wrote most. Names and greetings at the end of a message are not removed here. *Reproduced* would need five different first topics, and at most one with the writer's own name in it.",
        "\n".join(lines),
    )
