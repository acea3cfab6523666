"""Figures of comparisons and searches show the numbers of their frames."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import topoi
from topoi.errors import ModelError
from topoi.evaluation import TopicSearch


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "name": ["b <i>", "a", "c"],
            "difference": [0.0, -0.1, np.nan],
            "difference_error": [0.0, 0.03, np.nan],
            "verdict": ["best", "worse", ""],
            "npmi": [0.1, 0.2, 0.3],
            "stability": [np.nan] * 3,
        }
    )


def test_a_row_per_model_and_a_panel_per_measure_that_there_is(frame):
    figure = topoi.plots.comparison(frame)
    first, second = figure.data
    assert first.y == second.y == ("b &lt;i&gt;", "a", "c") and second.x == (0.1, 0.2, 0.3)
    assert first.x[:2] == (0.0, -0.1) and first.error_x.array == pytest.approx((0.0, 0.06, 0.0))
    # What is clearly worse is grey.
    colours = first.marker.color
    assert colours[0] == colours[2] != colours[1]
    assert len(figure.layout.annotations) == 2, "stability has no numbers"


def test_a_search_is_drawn_with_the_chosen_number_marked():
    rows = pd.DataFrame(
        {
            "n_topics": [10, 20],
            "log_likelihood": [-7.0, -6.9],
            "perplexity": [1096.6, 992.3],
            "difference": [-0.1, 0.0],
            "difference_error": [0.02, 0.0],
            "chosen": [False, True],
            "seconds": [1.0, 2.0],
        }
    )
    figure = topoi.plots.topic_numbers(TopicSearch(rows, 20, "20 topics: the best of 10 and 20"))
    (line,) = figure.data
    assert line.y == (-7.0, -6.9) and line.error_y.array == (0.02, 0.0)
    assert line.marker.color[0] != line.marker.color[1]
    assert figure.layout.title.text == "20 topics: the best of 10 and 20"


def test_other_frames_are_refused(frame):
    for wrong in (None, frame.drop(columns="verdict"), frame.iloc[:0]):
        with pytest.raises(ModelError):
            topoi.plots.comparison(wrong)
    with pytest.raises(ModelError, match="search_topics"):
        topoi.plots.topic_numbers(frame)
