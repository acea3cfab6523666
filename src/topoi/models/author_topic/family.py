"""Registry entries of the author-topic model and its relatives, read before the classes are imported."""

from topoi.models.options import (
    ALPHA,
    BETA,
    GIBBS,
    GUIDANCE,
    LEARN_ALPHA,
    LEARN_BETA,
    ON_CLUSTERS,
    PRIOR,
    SPARSE,
    TOPICS,
    Option,
)
from topoi.models.registry import Family, Model

_LEARNED = (PRIOR, ALPHA.but(shown="learned"), BETA.but(shown="learned"), LEARN_ALPHA, LEARN_BETA)
_POSTERIOR = "topoi.models.author_topic.posterior:AuthorTopicPosterior"

PLACE = 0
FAMILY = Family(
    (
        Model(
            "AuthorTopicModel",
            "author-topic",
            "author-topic model",
            "topoi.models.author_topic.estimator",
            _POSTERIOR,
            (
                TOPICS,
                *_LEARNED,
                Option(
                    "--fictitious-authors",
                    "fictitious_authors",
                    bool,
                    "Give each document an author of its own as well.",
                ),
                *GUIDANCE,
                *GIBBS,
                *ON_CLUSTERS,
            ),
            needs_authors=True,
            without_authors="lda",
            is_default=True,
            is_common=True,
            gives=("topics", "authors"),
            small={"n_topics": 12},
            many={"n_topics": 300},
        ),
        Model(
            "LDA",
            "lda",
            "LDA",
            "topoi.models.author_topic.estimator",
            _POSTERIOR,
            (TOPICS, *_LEARNED, SPARSE, *GUIDANCE, *GIBBS, *ON_CLUSTERS),
            is_common=True,
            takes_assignments=True,
            gives=("topics",),
            small={"n_topics": 12},
            many={"n_topics": 300},
        ),
        Model(
            "AuthorModel",
            "author",
            "author model",
            "topoi.models.author_topic.author_model",
            options=(BETA.but(shown="learned"), *GIBBS),
            needs_authors=True,
            function_words=True,
        ),
    )
)
