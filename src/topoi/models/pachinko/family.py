"""Registry entry of pachinko allocation, read before the class is imported."""

from pathlib import Path

from topoi.models.options import ALPHA, BETA, GIBBS, GUIDANCE, ON_CLUSTERS, SPARSE, Option
from topoi.models.registry import Family, Model

PLACE = 1
FAMILY = Family(
    (
        Model(
            "PachinkoAllocation",
            "pachinko",
            "pachinko allocation",
            "topoi.models.pachinko.estimator",
            "topoi.models.pachinko.posterior:PachinkoPosterior",
            (
                Option("--super", "n_super", int, "Super-topics.", "S", minimum=1, default=50),
                Option("--sub", "n_sub", int, "Sub-topics.", "K", minimum=1, default=100),
                Option(
                    "--dag",
                    "dag",
                    Path,
                    "A graph of topics as JSON, instead of --super and --sub.",
                    "FILE",
                    read="topoi.models.graph:read_graph",
                    excludes=("--super", "--sub"),
                ),
                ALPHA.but(shown="0.1, learned"),
                BETA.but(shown="0.01"),
                SPARSE,
                *GUIDANCE,
                *GIBBS,
                *ON_CLUSTERS,
            ),
            gives=("graph",),
            not_edited={"dag": "its topics are nodes of a graph that was given"},
            small={"n_super": 2, "n_sub": 12},
        ),
    ),
    {"Dag": "topoi.models.dag", "WORDS": "topoi.models.dag"},
)
