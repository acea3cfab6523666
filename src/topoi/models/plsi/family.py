"""Registry entry of probabilistic latent semantic indexing, read before the class is imported."""

from topoi.models.options import BETA, CHAINS, CHECKPOINT, SWEEPS, TOPICS, Option
from topoi.models.registry import Family, Model

PLACE = 6
FAMILY = Family(
    (
        Model(
            "PLSI",
            "plsi",
            "probabilistic latent semantic indexing",
            "topoi.models.plsi.model",
            "topoi.models.plsi.posterior:PlsiPosterior",
            (
                TOPICS.but(default=20),
                Option("--tempered", "tempered", bool, "Tempered EM, ended by words that are held out."),
                BETA.but(setting="smoothing", shown="0"),
                SWEEPS.but(shown="at most 500"),
                CHAINS.but(setting="n_restarts"),
                CHECKPOINT,
            ),
            small={"n_topics": 3},
        ),
    )
)
