"""Spark's LDA by EM, on one local core: another algorithm, so an iteration is not a Gibbs sweep."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .base import Contender, Estimates, Problem, documents_as_counts


class SparkLDA(Contender):
    """``pyspark.ml.clustering.LDA(optimizer="em")``: maximum a posteriori, whose priors are one more than a mean's."""

    name = "Spark"
    algorithm = "EM"
    warm_up = 1

    def __init__(self, problem: Problem):
        super().__init__(problem)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        from pyspark.ml.linalg import Vectors
        from pyspark.sql import SparkSession

        settings = {"spark.ui.enabled": "false", "spark.driver.memory": "4g", "spark.driver.bindAddress": "127.0.0.1"}
        builder = SparkSession.builder.master("local[1]").appName("topoi benchmarks")
        for name, value in settings.items():
            builder = builder.config(name, value)
        self._session = builder.getOrCreate()
        self._session.sparkContext.setLogLevel("ERROR")
        n_words = problem.corpus.n_words
        rows = [
            (d, Vectors.sparse(n_words, [(int(w), float(n)) for w, n in counts]))
            for d, counts in enumerate(documents_as_counts(problem.corpus))
        ]
        self._frame = self._session.createDataFrame(rows, ["id", "features"]).cache()
        self._frame.count()
        self._model: Any = None

    def run(self, n_sweeps: int) -> None:
        """A fit from the start: Spark cannot go on."""
        self.fit(n_sweeps)

    def fit(self, n_sweeps: int) -> None:
        """One fit from beginning to end."""
        from pyspark.ml.clustering import LDA

        problem = self.problem
        self._model = LDA(
            k=problem.n_topics,
            maxIter=n_sweeps,
            optimizer="em",
            docConcentration=[problem.alpha + 1],
            topicConcentration=problem.beta + 1,
            seed=problem.seed,
        ).fit(self._frame)

    def estimates(self) -> Estimates:
        """Topics, and the documents' distributions by ``transform``, which is not counted."""
        topic_word = np.asarray(self._model.topicsMatrix().toArray()).T
        rows = self._model.transform(self._frame).select("id", "topicDistribution").collect()
        doc_topic = np.array([row[1].toArray() for row in sorted(rows)])
        floor = 1e-12
        topic_word = topic_word + floor
        return Estimates(
            (doc_topic + floor) / (doc_topic + floor).sum(axis=1, keepdims=True),
            topic_word / topic_word.sum(axis=1, keepdims=True),
        )

    def close(self) -> None:
        """Free the documents."""
        self._frame.unpersist()
