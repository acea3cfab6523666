"""Registry entry of the hierarchical Dirichlet process, read before the class is imported."""

from topoi.models.options import ALPHA, BETA, GIBBS, GUIDANCE, SHARDS, TOPICS, Option
from topoi.models.registry import Family, Model

PLACE = 5
FAMILY = Family(
    (
        Model(
            "HierarchicalDirichletProcess",
            "hdp",
            "hierarchical Dirichlet process",
            "topoi.models.hdp.model",
            "topoi.models.hdp.posterior:HdpPosterior",
            (
                TOPICS,
                Option("--max-topics", "max_topics", int, "Most topics there may be.", "K", minimum=1, shown="1000"),
                ALPHA.but(shown="learned"),
                Option("--gamma", "gamma", float, "Weight of topics not seen yet.", "X", shown="learned"),
                BETA.but(shown="0.01"),
                *GUIDANCE,
                *(option for option in GIBBS if option is not SHARDS),
            ),
            gives=("topics",),
            not_edited={
                "": "its topics are numbered by size after every sweep, so that numbers and names would not stay"
            },
            small={"n_topics": 3},
        ),
    ),
    builds_on=("author_topic",),  # once fitted, LDA with a prior of its own
)
