"""Registry entry of the correlated topic model, read before the class is imported."""

from topoi.models.options import BETA, GIBBS, TOPICS, Option
from topoi.models.registry import Family, Model

PLACE = 5
FAMILY = Family(
    (
        Model(
            "CorrelatedTopicModel",
            "ctm",
            "correlated topic model",
            "topoi.models.ctm.model",
            "topoi.models.ctm.posterior:CorrelatedPosterior",
            (
                TOPICS.but(default=40),
                BETA.but(shown="0.01"),
                Option("--spread", "variance", float, "Prior variance of documents' log shares.", "X", shown="1"),
                *GIBBS,
            ),
            gives=("correlations",),
            not_edited={"": "a topic that is new or gone would leave the covariance of all topics to its prior"},
            small={"n_topics": 3},
        ),
    )
)
