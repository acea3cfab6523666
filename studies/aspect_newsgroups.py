"""Documents glued from posts of known newsgroups: EP and VB with six aspects (Minka and Lafferty 2002, section 6.2).

    TOPOI_DATA=folder-with-newsgroups20 python -m studies.aspect_newsgroups
    python -m studies.aspect_newsgroups --page       writes the page again from the numbers of the last run

Writes docs/studies/aspect-newsgroups.json, .md, .svg and -alpha.svg.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

import topoi
from studies.chart import line_chart

OUT = Path(__file__).parents[1] / "docs" / "studies"
NUMBERS = OUT / "aspect-newsgroups.json"
GROUPS = ("sci.space", "rec.sport.hockey", "talk.politics.mideast", "sci.med", "rec.autos", "comp.graphics")
RULES: dict[str, dict[str, Any]] = {
    "EP": {"inference": "ep", "learn_alpha": True},
    "VB, bound": {"inference": "vb", "learning": "bound", "learn_alpha": True},
    "VB, EM": {"inference": "vb", "learn_alpha": True},
    "EP, alpha = 1": {"inference": "ep", "learn_alpha": False},
    "VB, alpha = 1": {"inference": "vb", "learning": "bound", "learn_alpha": False},
}
# As in the paper: every fit begins at one, and no word is given more than its counts.
START: dict[str, Any] = {"alpha": 1.0, "smoothing": 0.0, "tol": 0.0}
POSTS_EACH, SHORTEST, LONGEST, TRAIN = 3, 100, 600, 0.75
THRESHOLD, SAMPLES = 0.001, 500
PROFILE = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)


class Setting(NamedTuple):
    """How many documents, in how many of them a word must be, when to score, and how many collections."""

    n_docs: int
    min_df: int
    steps: tuple[int, ...]
    seeds: int


SETTINGS = {
    "paper": Setting(200, 1, (1, 2, 5, 10, 20, 50, 100), 8),
    "larger": Setting(800, 5, (10, 30, 100), 2),
}


class Posts:
    """The posts of six groups, as words: nothing is removed, not even stop words."""

    def __init__(self) -> None:
        corpus = topoi.load_dataset("newsgroups20", stop_words=None, min_df=1, max_df=1.0, min_length=1)
        lengths, label = corpus.doc_lengths, corpus.documents["label"].to_numpy()
        fits = (lengths >= SHORTEST) & (lengths <= LONGEST)
        self.corpus, self.words = corpus, corpus.vocabulary.words
        self.of = [np.flatnonzero(fits & (label == group)) for group in GROUPS]

    def text(self, post: int) -> list[str]:
        start = self.corpus.doc_start
        return list(self.words[self.corpus.tokens[start[post] : start[post + 1]]])


def glued(posts: Posts, setting: Setting, rng: np.random.Generator) -> tuple[list[list[str]], NDArray[np.float64], int]:
    """Documents of three posts each, the share of each group in them, and how many of the documents are to train.

    Posts are drawn with replacement, those of test documents from others than those of training documents.
    """
    n_train = round(TRAIN * setting.n_docs)
    parts = [np.split(rng.permutation(each), [round(TRAIN * len(each))]) for each in posts.of]
    texts, shares = [], np.zeros((setting.n_docs, len(GROUPS)))
    for d in range(setting.n_docs):
        text: list[str] = []
        for group in rng.integers(len(GROUPS), size=POSTS_EACH):
            part = posts.text(rng.choice(parts[group][d >= n_train]))
            shares[d, group] += len(part)
            text += part
        texts.append(text)
    return texts, shares / shares.sum(axis=1, keepdims=True), n_train


def corpora(texts: list[list[str]], n_train: int, min_df: int) -> tuple[topoi.Corpus, topoi.Corpus]:
    """Training and test documents, of words that enough training documents have."""
    times = Counter(word for text in texts[:n_train] for word in set(text))
    kept = [[word for word in text if times[word] >= min_df] for text in texts]
    return topoi.Corpus.from_tokens(kept[:n_train]), topoi.Corpus.from_tokens(kept[n_train:])


def agreement(shares: NDArray[np.float64], mixtures: NDArray[np.float64]) -> tuple[float, list[int]]:
    """Mean correlation of groups' true shares with those of the aspects that match best, and each aspect's group."""
    both = np.corrcoef(shares.T, mixtures.T)[: len(GROUPS), len(GROUPS) :]
    group, aspect = linear_sum_assignment(-both)
    return float(both[group, aspect].mean()), group[np.argsort(aspect)].tolist()


def content(model: topoi.AspectModel, **options: Any) -> list[list[str]]:
    frame = model.top_words(10, **options)
    return [list(rows["word"]) for _, rows in frame.groupby("topic", sort=True)]


def scatter(report: Any) -> Any:
    """The draws' own scatter, sqrt(1 / effective − 1 / all), also where too few count for it to be an error."""
    return np.sqrt(np.maximum(1.0 / report["effective_samples"] - 1.0 / SAMPLES, 0.0))


def perplexity(model: topoi.AspectModel, test: topoi.Corpus) -> dict[str, float]:
    """By importance sampling from the EP posterior, as in the paper; with the standard error of the log."""
    report = model.log_likelihood_report(test, "importance", SAMPLES, random_state=0)
    n_words = report["n_words"].sum()
    return {
        "perplexity": math.exp(-report["log_likelihood"].sum() / n_words),
        "log_error": float(np.sqrt((scatter(report) ** 2).sum()) / n_words),
        "effective_samples": float(report["effective_samples"].median()),
    }


def one_rule(settings: dict[str, Any], train: topoi.Corpus, test: topoi.Corpus, steps: Any, seed: int) -> Any:
    """A model, and its scores after each number of EM steps."""
    model = topoi.AspectModel(len(GROUPS), random_state=seed, **START, **settings)
    scores, done = {}, 0
    begin = time.process_time()
    for upto in steps:
        if done:
            model.resume(upto - done)
        else:
            model.set_params(n_iter=upto).fit(train)
        done = upto
        scores[str(upto)] = perplexity(model, test) | {"alpha": model.alpha_.tolist()}
    return model, {"steps": scores, "seconds": time.process_time() - begin}


def one_seed(posts: Posts, setting: Setting, seed: int) -> dict[str, Any]:
    """One collection of documents and one start, the same for every rule."""
    texts, shares, n_train = glued(posts, setting, np.random.default_rng([62, seed]))
    train, test = corpora(texts, n_train, setting.min_df)
    result: dict[str, Any] = {
        "words": train.n_words, "tokens": train.n_tokens, "test_tokens": test.n_tokens,
        "left_out": sum(map(len, texts)) - train.n_tokens - test.n_tokens, "rules": {},
    }  # fmt: skip
    for name, settings in RULES.items():
        model, found = one_rule(settings, train, test, setting.steps, seed)
        correlation, match = agreement(shares[:n_train], model.doc_aspect_)
        found |= {"agreement": correlation, "match": match, "evidence": model.fit_info_["log_likelihood_per_token"]}
        if seed == 0:
            found |= {"common": content(model), "content": content(model, max_unigram=THRESHOLD)}
        result["rules"][name] = found
    return result


def profile(posts: Posts) -> dict[str, Any]:
    """Which alpha training and test documents of the first collection want, given the words that EP learned."""
    setting = SETTINGS["paper"]
    texts, _, n_train = glued(posts, setting, np.random.default_rng([62, 0]))
    train, test = corpora(texts, n_train, setting.min_df)
    options = START | RULES["EP"] | {"n_iter": setting.steps[-1]}
    learned = topoi.AspectModel(len(GROUPS), random_state=0, **options).fit(train)
    found = {}
    for alpha in PROFILE:
        model = topoi.AspectModel.from_parameters(learned.aspect_word_, alpha, words=list(train.vocabulary.words))
        here: dict[str, float] = {}
        for name, corpus in (("train", train), ("test", test)):
            report = model.log_likelihood_report(corpus, "importance", SAMPLES)
            here[name] = float(report["log_likelihood"].sum())
            here[f"{name} error"] = float(np.sqrt((scatter(report) ** 2).sum()))
            here[f"{name} EP"] = float(model.log_likelihood(corpus, "ep").sum())
        found[str(alpha)] = here
    return found


def run() -> None:
    """All settings and seeds; the numbers are written after each."""
    begin, posts = time.perf_counter(), Posts()
    result: dict[str, Any] = {
        "posts": [len(of) for of in posts.of],
        "profile": profile(posts),
        "settings": {name: [] for name in SETTINGS},
    }
    for name, setting in SETTINGS.items():
        for seed in range(setting.seeds):
            result["settings"][name].append(one_seed(posts, setting, seed))
            result["seconds"] = time.perf_counter() - begin
            NUMBERS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
            print(name, seed, f"{result['seconds']:.0f} s", flush=True)


def mean_of(values: Any, form: str = ".0f") -> str:
    """A mean with its standard error, if there are several."""
    x = np.asarray(values, float)
    if len(x) == 1:
        return format(x[0], form)
    return f"{format(x.mean(), form)} ± {format(x.std(ddof=1) / math.sqrt(len(x)), form)}"


def scored(each: list[dict[str, Any]], rule: str, step: int) -> NDArray[np.float64]:
    """Perplexities after so many steps, one per collection."""
    return np.array([seed["rules"][rule]["steps"][str(step)]["perplexity"] for seed in each])


def alphas(each: list[dict[str, Any]], rule: str) -> NDArray[np.float64]:
    """Collections × aspects: alpha after the last step, the largest first."""
    last = [list(seed["rules"][rule]["steps"].values())[-1]["alpha"] for seed in each]
    return -np.sort(-np.array(last), axis=1)


def step_table(each: list[dict[str, Any]], steps: tuple[int, ...]) -> str:
    """Perplexity against EM steps, and what EP gains on VB on the same documents."""
    lines = [
        f"| steps | {' | '.join(RULES)} | EP − VB, bound | EP − VB, alpha = 1 |",
        "|---:|" + "---:|" * (len(RULES) + 2),
    ]
    for step in steps:
        cells = [mean_of(scored(each, rule, step)) for rule in RULES]
        cells.append(mean_of(scored(each, "EP", step) - scored(each, "VB, bound", step), "+.1f"))
        cells.append(mean_of(scored(each, "EP, alpha = 1", step) - scored(each, "VB, alpha = 1", step), "+.1f"))
        lines.append(f"| {step} | " + " | ".join(cells) + " |")
    return "\n".join(lines).replace("± +", "± ")


def alpha_table(each: list[dict[str, Any]]) -> str:
    """Sum, spread and use of alpha, and how well aspects match groups."""
    lines = [
        "| | sum of alpha | largest share | smallest share | correlation with groups |",
        "|---|---:|---:|---:|---:|",
    ]
    for rule in RULES:
        alpha = alphas(each, rule)
        share = alpha / alpha.sum(axis=1, keepdims=True)
        match = mean_of([seed["rules"][rule]["agreement"] for seed in each], ".2f")
        spread = [mean_of(share[:, i], ".3f") for i in (0, -1)]
        lines.append(f"| {rule} | {mean_of(alpha.sum(axis=1), '.3f')} | {spread[0]} | {spread[1]} | {match} |")
    return "\n".join(lines)


def word_table(found: dict[str, Any]) -> str:
    """Figure 2: the most probable words, and those that are left without the common ones."""
    lines = ["| aspect | group that matches best | most probable words | without common words |", "|---:|---|---|---|"]
    for a, (common, words) in enumerate(zip(found["common"], found["content"], strict=True)):
        group = GROUPS[found["match"][a]]
        lines.append(f"| {a + 1} | {group} | {' '.join(common)} | {' '.join(words)} |")
    return "\n".join(lines)


def profile_table(found: dict[str, Any]) -> str:
    """Log likelihoods against alpha, words held fast."""
    lines = [
        "| alpha | training, importance sampling | training, EP evidence | test, importance sampling | test, EP evidence |",
        "|---:|---:|---:|---:|---:|",
    ]
    for alpha, s in found.items():
        cells = [f"{s[name]:,.0f} ± {s[name + ' error']:.0f} | {s[name + ' EP']:,.0f}" for name in ("train", "test")]
        lines.append(f"| {alpha} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def charts(each: list[dict[str, Any]], steps: tuple[int, ...]) -> dict[str, str]:
    """Figure 3: perplexity against steps, and alpha's shares."""
    lines = {rule: [(float(s), float(scored(each, rule, s).mean())) for s in steps] for rule in RULES}
    fixed = [rule for rule in RULES if "alpha" in rule]
    title = "perplexity of test documents, mean over collections"
    spread = {}
    for rule in ("EP", "VB, bound", "VB, EM"):
        alpha = alphas(each, rule)
        share = (alpha / alpha.sum(axis=1, keepdims=True)).mean(axis=0)
        spread[rule] = [(i + 1.0, float(a)) for i, a in enumerate(share)]
    return {
        "": line_chart(lines, "EM steps", title, log_x=True, dashed=fixed),
        "-alpha": line_chart(spread, "aspects, the largest alpha first", "share of alpha, mean over collections"),
    }


def main() -> None:
    """Run, or write the page again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true")
    if not parser.parse_args().page:
        run()
    result = json.loads(NUMBERS.read_text(encoding="utf-8"))
    for ending, chart in charts(result["settings"]["paper"], SETTINGS["paper"].steps).items():
        (OUT / f"aspect-newsgroups{ending}.svg").write_text(chart, encoding="utf-8")
    (OUT / "aspect-newsgroups.md").write_text(page(result), encoding="utf-8")


def page(result: dict[str, Any]) -> str:
    """The numbers as text."""
    given: dict[str, Any] = {}
    for name, each in result["settings"].items():
        last = [list(seed["rules"][rule]["steps"].values())[-1] for seed in each for rule in RULES]
        given |= {
            f"{name}_steps": step_table(each, SETTINGS[name].steps), f"{name}_alpha": alpha_table(each),
            f"{name}_words": word_table(each[0]["rules"]["EP"]), f"{name}_seeds": len(each),
            f"{name}_vocabulary": round(np.mean([seed["words"] for seed in each])),
            f"{name}_tokens": round(np.mean([seed["tokens"] for seed in each])),
            f"{name}_samples": min(score["effective_samples"] for score in last),
            f"{name}_error": 100 * max(score["log_error"] for score in last),
        }  # fmt: skip
    rows = {float(alpha): row for alpha, row in result["profile"].items()}
    # The alphas at which EP's evidence of training documents is too high by more than a hundred nats.
    too_high = [alpha for alpha, row in rows.items() if row["train EP"] - row["train"] > 100]
    gaps = {name: _difference(each, "EP", "VB, bound") for name, each in result["settings"].items()}
    held = {name: _difference(each, "EP, alpha = 1", "VB, alpha = 1") for name, each in result["settings"].items()}
    return PAGE.format(
        seconds=result["seconds"],
        posts=", ".join(map(str, result["posts"])),
        profile=profile_table(result["profile"]),
        best_alpha=f"{max(rows, key=lambda alpha: rows[alpha]['train']):g}", best_test=f"{max(rows, key=lambda alpha: rows[alpha]['test']):g}",
        too_high=f"{max(too_high, default=0.0):g}", nats=f"{rows[min(rows)]['train EP'] - rows[min(rows)]['train']:,.0f}", lowest=f"{min(rows):g}",
        gaps=" and ".join(f"{gap} ({name})" for name, gap in gaps.items()), held=" and ".join(f"{gap} ({name})" for name, gap in held.items()),
        limit=max(alphas(result["settings"]["paper"], "EP").max(), alphas(result["settings"]["larger"], "EP").max()),
        vb_small=alphas(result["settings"]["paper"], "VB, bound").sum(axis=1).mean(), vb_larger=alphas(result["settings"]["larger"], "VB, bound").sum(axis=1).mean(),
        ep_larger=alphas(result["settings"]["larger"], "EP").sum(axis=1).mean(),
        same=np.mean([seed["rules"]["EP"]["agreement"] for seed in result["settings"]["paper"]]), more=np.mean([seed["rules"]["EP"]["agreement"] for seed in result["settings"]["larger"]]),
        **given,
    )  # fmt: skip


def _difference(each: list[dict[str, Any]], rule: str, other: str) -> str:
    """By how much the perplexity of one way to learn is above that of another after the last step."""
    step = int(list(each[0]["rules"][rule]["steps"])[-1])
    return mean_of(scored(each, rule, step) - scored(each, other, step), "+.1f").replace("± +", "± ")


PAGE = """# Documents glued from newsgroups: expectation propagation and variational inference

Section 6.2 of Minka and Lafferty (UAI 2002), with posts of `newsgroups20` in place of the TREC news that we do not have. A document is three posts glued together, each
from a random one of six groups (sci.space, rec.sport.hockey, talk.politics.mideast, sci.med, rec.autos, comp.graphics; {posts} posts of 100 to 600 words); test documents are
made of other posts than training documents. No word is removed: neither stop words nor signatures. Six aspects, three quarters of the documents to train, perplexity of the
others by importance sampling from the EP posterior (500 samples). A collection and a random start are the same for all five ways to learn; means over collections with standard errors. Made by

    TOPOI_DATA=folder-with-newsgroups20 python -m studies.aspect_newsgroups

(these numbers: some collections each in several processes at a time, put together afterwards).
"EP" and "VB, EM" learn by the second-order update (equation 34) and equation 30, "VB, bound" maximises the variational bound, as Blei et al. do; the last two do so
with alpha held at one.

## As large as the paper's: 200 documents, all words

{paper_seeds} collections, {paper_tokens:,} training tokens of {paper_vocabulary:,} words on average.

{paper_steps}

![Perplexity against EM steps](aspect-newsgroups.svg)

Importance sampling can be trusted here: the median document's effective samples are never below {paper_samples:.0f} of 500, the standard error of a perplexity is below {paper_error:.3f} %.

{paper_alpha}

![Alpha's shares](aspect-newsgroups-alpha.svg)

The last column says whether aspects are groups: over training documents, the correlation of a group's share of the words with the share of the aspect that matches it best.

### Why alpha falls

The words that EP learned from the first collection, held fast, and log likelihoods of its documents against alpha:

{profile}

### Words (figure 2), first collection, EP

Common words: those with more than 0.001 of all tokens, as in the paper.

{paper_words}

## Larger: 800 documents, words that at least five training documents have

{larger_seeds} collections, {larger_tokens:,} training tokens of {larger_vocabulary:,} words. Effective samples fall to {larger_samples:.0f} of 500 (median document) where alpha is learned; the standard error of a perplexity is still
below {larger_error:.3f} %.

{larger_steps}

{larger_alpha}

{larger_words}

## Verdict

The paper reports that EP's perplexity is consistently lower than VB's, that VB's alpha is more spread, and that the words without the common ones "clearly indicate that the true
underlying aspects have been captured, though some more cleanly than others". Its curves are in a figure without numbers in the text. **On these posts the first and the third do not come out, the second only in name.**

- **Perplexity.** With alpha learned, EP less VB is {gaps} at the end: above zero EP is worse. With alpha held at one the difference is {held}, and both are better than
  either with alpha learned. With alpha learned the best models are those after one or two steps; what follows is overfitting.
- **Alpha.** VB's shares are more spread than EP's, but only because EP's are all at the lower limit (no alpha is above {limit:.4f}). Alpha falls under VB, too, to a sum of {vb_small:.3f} in the small collections, and nearly every document is
  given to one aspect. The table above says why. With 150 documents and {paper_vocabulary:,} words each aspect can remember the rare words of its own documents: the training likelihood, as far as importance sampling can tell,
  is largest at an alpha of about {best_alpha}, while test documents are most probable at {best_test}. So far this is maximum likelihood, and not a fault of EP. But at an alpha of {too_high} and below the EP evidence of training
  documents is too high by more than a hundred nats ({nats} at {lowest}), and drives alpha farther down than the likelihood does: in the larger collections VB stops at a sum of {vb_larger:.2f}, EP at {ep_larger:.3f}.
- **Aspects.** At the paper's size they are not the groups (correlation {same:.2f}); with 600 documents to train and without rare words a few are (correlation {more:.2f} on average; the tables of words show which), others are styles of posting.

TREC's news stories on narrow subjects are cleaner, and the paper does not say that training and test documents were made of different stories, as they are here. For collections as small as this use `learn_alpha=False`.
"""

if __name__ == "__main__":
    main()
