"""Registry entry of the generative aspect model, read before the class is imported."""

from topoi.models.options import ALPHA, BETA, CHAINS, CHECKPOINT, INFERENCE, LEARN_ALPHA, SWEEPS, Option
from topoi.models.registry import Family, Model

PLACE = 2
FAMILY = Family(
    (
        Model(
            "AspectModel",
            "aspect",
            "aspect model",
            "topoi.models.aspect.estimator",
            "topoi.models.aspect.posterior:AspectPosterior",
            (
                Option("--aspects", "n_aspects", int, "Number of aspects.", "A", minimum=1, default=10),
                INFERENCE.but(choices=("ep", "vb"), shown="ep"),
                Option(
                    "--learning",
                    "learning",
                    str,
                    "EM, or the largest estimate.",
                    choices=("em", "bound"),
                    shown="em",
                ),
                ALPHA.but(shown="5 / aspects"),
                LEARN_ALPHA,
                BETA.but(setting="smoothing", shown="0.05"),
                SWEEPS.but(default=1000, shown="at most 1000"),
                CHAINS.but(setting="n_restarts"),
                CHECKPOINT,
            ),
            small={"n_aspects": 2},
        ),
    )
)
