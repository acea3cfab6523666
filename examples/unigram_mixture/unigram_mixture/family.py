"""Registry entry of the family. Light to import: every run of ``topoi`` reads it."""

from topoi.models.options import ALPHA, BETA, GIBBS, TOPICS, Option
from topoi.models.registry import Family, Model

# Options that several families have are in ``topoi.models.options``; this one is listed under the family by the help.
_EVALUATE = Option("--evaluate-every", "evaluate_every", int, "Sweeps between values of the log joint.", "N", minimum=1)

FAMILY = Family(
    (
        Model(
            name="UnigramMixture",  # the class; also what files call the model
            option="unigram-mixture",  # topoi fit --model unigram-mixture
            title="mixture of unigrams",  # what people read
            home="unigram_mixture.model",  # the module that has the class
            posterior="unigram_mixture.posterior:UnigramPosterior",  # what answers, after a fit and in a store
            options=(TOPICS.but(default=20), ALPHA.but(shown="1"), BETA.but(shown="0.01"), _EVALUATE, *GIBBS),
            small={"n_topics": 3},  # a fit to a few words, for topoi warm and the tests
        ),
    )
)
