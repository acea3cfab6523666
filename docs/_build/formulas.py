"""Indices and powers of formulas as they are set in print: what is typed as θ_d and 2^24, in text and in blocks of formulas."""

from __future__ import annotations

import re
from html import unescape

_TAG = re.compile(r"(<[^>]+>)")
# Nothing is typeset within these; blocks of formulas are told apart by ``_FORMULA``.
_OTHER = {"code", "pre", "script", "style", "svg", "kbd", "title"}
_BLOCK = re.compile(r"(<pre>(?:<span></span>)?<code>)(.*?)(</code></pre>)", re.DOTALL)
_FORMULA = re.compile(r"[∝∏Π∫Σ√]|[α-ω]_|^[^'\"#$]*\S\s+~\s", re.MULTILINE)
_PROGRAM = re.compile(r"import |topoi[. ]|python |def |&gt;&gt;&gt;|<span class")
_BASE = r"[A-Za-zΑ-Ωα-ωµ]²?|alpha|amplitude|mean|noise|var|features"
# θ_d, n_wk, Σ_{j≠k}, Π_named: one letter, or one of the words that stand for one, and an index of small letters.
_INDEX = re.compile(rf"(?<![\w.])({_BASE})_(\{{[^}}<]*\}}|[a-z]{{1,3}}\d?(?![\w(])|(?<=[ΣΠ]_)[a-z]+)")
_GAP = re.compile(r"( {2,})")
_SMALL = re.compile(r"<su[bp]>([^<]*)")
# Size of indices and powers, as in the style sheet.
SMALL = 0.78
# 2^24, e^{−x}, C^WT, (…)^n
_POWER = re.compile(r"(?<=[\w)\]>])\^(\{(?:[^}<]|<[^>]+>)*\}|\((?:[^()<]|<[^>]+>)*\)|\\?\w+(?:<sub>\w+</sub>)?)")


def typeset(html: str) -> str:
    """A page with indices below and powers above their letters; code stays as it is.

    Examples
    --------
    >>> typeset("<p>θ_d, <code>n_d</code>, 2^24 and n_iter</p>")
    '<p>θ<sub>d</sub>, <code>n_d</code>, 2<sup>24</sup> and n_iter</p>'
    """
    blocks = _BLOCK.sub(_set_block, html)
    found, inside = [], 0
    for part in _TAG.split(blocks):
        name = part.strip("</>").split(maxsplit=1)[0] if part.startswith("<") else ""
        if name in _OTHER:
            inside += -1 if part.startswith("</") else 1
        found.append(part if name or inside else _set(part))
    return "".join(found)


def _set(text: str) -> str:
    raised = _INDEX.sub(lambda m: f"{m[1]}<sub>{m[2].strip('{}')}</sub>", text)
    return _POWER.sub(lambda m: f"<sup>{_bare(m[1])}</sup>", raised)


def _set_block(block: re.Match[str]) -> str:
    """Formulas, in which columns stay columns."""
    text = block[2]
    if _PROGRAM.search(text) or not _FORMULA.search(text):
        return block[0]
    lines = "\n".join(map(_set_line, text.split("\n")))
    return f'{block[1].replace("<code>", "<code class=formula>")}{lines}{block[3]}'


def _set_line(line: str) -> str:
    """A line whose gaps of two spaces and more grow by what the formula before them has become narrower."""
    found, narrower = [], 0.0
    for part in _GAP.split(line):
        if part.startswith("  "):
            found.append(part + (f'<span style="padding-left:{narrower:.2f}ch"></span>' if narrower else ""))
            narrower = 0.0
        else:
            printed = _set(part)
            small = sum(len(unescape(inner)) for inner in _SMALL.findall(printed))
            found.append(printed)
            narrower += len(unescape(part)) - len(unescape(_TAG.sub("", printed))) + (1.0 - SMALL) * small
    return "".join(found)


def _bare(text: str) -> str:
    return text[1:-1] if text[0] in "({" else text
