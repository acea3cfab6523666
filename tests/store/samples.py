"""A small corpus for the tests of the store."""

import topoi

TEXTS = ["Sun and stars shine", "Genes make cells", "Stars, genes: secretword"] * 5


def small_corpus(**changes):
    options = {
        "authors": ["Ann", "Bob; Cy", "Ann; Bob"] * 5,
        "titles": [f"title {d}" for d in range(15)],
        "dates": [2000 + d // 3 for d in range(15)],
        "metadata": {"venue": ["ACL", None, "NIPS"] * 5, "keys": [["a"], ["b", "c"], []] * 5},
        "min_df": 1,
        "max_df": 1.0,
    }
    return topoi.Corpus.from_texts(TEXTS, **options | changes)
