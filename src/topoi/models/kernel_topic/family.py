"""Registry entry of kernel topic models, read before the class is imported."""

from topoi.models.options import BETA, CHECKPOINT, FEATURES, INFERENCE, SWEEPS, TOPICS, WARMUP, at_most
from topoi.models.registry import Family, Model

PLACE = 3
FAMILY = Family(
    (
        Model(
            "KernelTopicModel",
            "kernel",
            "kernel topic model",
            "topoi.models.kernel_topic.estimator",
            "topoi.models.kernel_topic.topics:KernelTopics",
            (
                TOPICS.but(default=10),
                FEATURES,
                INFERENCE.but(choices=("laplace", "bridge"), shown="laplace"),
                BETA.but(shown="0.01"),
                SWEEPS.but(default=1000, shown="at most 1000"),
                WARMUP.but(default=at_most(100, 2 / 3), shown="100"),
                CHECKPOINT,
            ),
            gives=("features",),
            small={"n_topics": 2, "features": ["year"], "n_warmup": 1},
        ),
    ),
    {
        "On": "topoi.models.kernel_topic.covariances",
        "Proximity": "topoi.models.kernel_topic.covariances",
        "laplace_bridge": "topoi.models.kernel_topic.laplace_bridge",
    },
    ("laplace_bridge",),
)
