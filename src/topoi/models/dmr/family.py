"""Registry entry of Dirichlet-multinomial regression, read before the class is imported."""

from topoi.models.options import ALPHA, BETA, FEATURES, GIBBS, GUIDANCE, ON_CLUSTERS, TOPICS, WARMUP, Option, at_most
from topoi.models.registry import Family, Model

PLACE = 4
FAMILY = Family(
    (
        Model(
            "DirichletMultinomialRegression",
            "dmr",
            "Dirichlet-multinomial regression",
            "topoi.models.dmr.estimator",
            "topoi.models.dmr.posterior:RegressionPosterior",
            (
                TOPICS,
                FEATURES,
                Option(
                    "--width",
                    "width",
                    str,
                    "Years between bumps in time.",
                    "X|auto|cv|none",
                    shown="auto",
                    read="topoi.models.features.typed:bump_width",
                ),
                Option(
                    "--variance",
                    "variance",
                    str,
                    "Prior variance of coefficients.",
                    "X|cv",
                    shown="0.5",
                    read="topoi.models.features.typed:prior_variance",
                ),
                Option(
                    "--refit",
                    "",
                    bool,
                    "Fit coefficients once more in the end, to topics that metadata did not shape.",
                    after="refit",
                ),
                ALPHA.but(shown="0.1"),
                BETA.but(shown="0.01"),
                *GUIDANCE,
                *GIBBS,
                *ON_CLUSTERS,
                WARMUP.but(default=at_most(50, 1 / 3), shown="50"),
            ),
            gives=("features", "coefficients"),
            not_edited={},
            small={"n_topics": 2, "features": ["year"], "n_warmup": 1},
            many={"n_topics": 300, "features": ["year"], "n_warmup": 3},
        ),
    ),
    builds_on=("author_topic",),  # documents of one author each, with a prior from metadata
)
