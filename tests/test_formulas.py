"""Formulas of the manual are typeset, and nothing else is."""

import re

import pytest

from shortened import ROOT
from test_manual import load_build


@pytest.fixture(scope="module")
def typeset():
    return load_build("formulas").typeset


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("<p>θ_d and n_wk</p>", "<p>θ<sub>d</sub> and n<sub>wk</sub></p>"),
        ("<td>Σ_{j≠k} x, Π_named y</td>", "<td>Σ<sub>j≠k</sub> x, Π<sub>named</sub> y</td>"),
        ("<p>2^24, e^{−x}, (a)^(K−L)</p>", "<p>2<sup>24</sup>, e<sup>−x</sup>, (a)<sup>K−L</sup></p>"),
        ("<p>λ_a^β_wa, e^{-µ_k}</p>", "<p>λ<sub>a</sub><sup>β<sub>wa</sub></sup>, e<sup>-µ<sub>k</sub></sup></p>"),
        ("<p>amplitude_k</p>", "<p>amplitude<sub>k</sub></p>"),
    ],
)
def test_indices_and_powers(typeset, typed, printed):
    assert typeset(typed) == printed


@pytest.mark.parametrize(
    "html",
    [
        "<p>n_iter, model_id, C_V, x86_64, topic_word_, a.n_k</p>",
        "<p><code>n_d^2</code></p>",
        '<a href="x_d.html">there</a>',
        "<pre><span></span><code>alpha_k = model.alpha_</code></pre>",
        "<pre><code>import topoi  # Σ_d</code></pre>",
        "<svg><text>θ_d</text></svg>",
    ],
)
def test_names_of_programs_stay(typeset, html):
    assert typeset(html) == html


def test_columns_of_a_block_stay_columns(typeset):
    block = "λ_d                ~  Dirichlet(α)\nP(document d | λ)  =  Π_w (Σ_a λ_a)^n_dw  end"
    found = typeset(f"<pre><span></span><code>{block}</code></pre>")
    assert "<code class=formula>" in found and "<sup>n<sub>dw</sub></sup>" in found
    small = load_build("formulas").SMALL

    def width(html):
        """Letters before the column, the smaller ones and the padding counted as they are shown."""
        padding = sum(float(each) for each in re.findall(r"padding-left:([\d.]+)ch", html))
        letters = re.sub("<[^>]+>", "", html)
        return padding + len(letters) - (1 - small) * sum(map(len, re.findall(r"<su[bp]>([^<]*)", html)))

    first, second = re.search(r"<code class=formula>(.*)</code>", found, re.DOTALL)[1].splitlines()
    assert width(first.partition("~")[0]) == pytest.approx(19, abs=0.02)
    assert width(second.partition("=  ")[0]) == width("P(document d | λ)  ")
    assert width(second.partition("end")[0]) == pytest.approx(len(block.splitlines()[1]) - 3, abs=0.02)


def test_the_style_sheet_has_the_same_size():
    css = (ROOT / "docs" / "assets" / "manual.css").read_text(encoding="utf-8")
    assert f"sup {{ font-size: {load_build('formulas').SMALL}em" in css
