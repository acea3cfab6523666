"""What a page is about, for search engines and for programs that show where a link leads."""

from __future__ import annotations

import re
import textwrap

# Letters at most.
MOST = 240
# The beginning of a paragraph, and ends of sentences other than initials and "et al.".
_PROSE = re.compile(r"(?!\d+\. )(?!\*+ )[\w`*\[\"]")
_SENTENCE = re.compile(r"(?<!\bal)(?<!\b[A-Z])[.?!](?=\s|$)")


def summary(markdown: str) -> str:
    """The first sentences of a page's first paragraph, as plain text."""
    blocks = re.sub(r"^```.*?^```$", "", markdown, flags=re.MULTILINE | re.DOTALL).split("\n\n")
    first = next((block for block in map(str.rstrip, blocks) if _PROSE.match(block.lstrip("\n"))), "")
    text = " ".join(re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", first).split())
    whole = [end.end() for end in _SENTENCE.finditer(text) if end.end() <= MOST]
    return text[: whole[-1]] if whole else textwrap.shorten(text, MOST, placeholder=" …")
