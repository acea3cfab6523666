"""The browser's fonts: subsets of two families that are free to use, as small files for web browsers.

Both come from the Python Package Index, as they were published there:

    pip download --no-deps font-source-sans-pro==0.0.1 font-source-serif-pro==0.0.1
    pip install fonttools==4.55.0 brotli==1.1.0
    python -m studies.web_fonts font_source_sans_pro-0.0.1-py3-none-any.whl font_source_serif_pro-0.0.1-py3-none-any.whl

Their licence, the SIL Open Font License 1.1, reserves the name "Source" for fonts that nobody has changed. Subsets are
changed fonts, so they are called after this project.
"""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "src" / "topoi" / "web" / "static" / "fonts"
# Latin, Latin-1, Latin Extended-A, Greek small letters of formulas, punctuation, arrows and signs of pages.
RANGES = (
    *((0x20, 0x7E), (0xA0, 0x17F), (0x192, 0x192), (0x218, 0x21B), (0x2C6, 0x2DD), (0x300, 0x304), (0x306, 0x30C)),
    *((0x3B1, 0x3C9), (0x1E9E, 0x1E9E), (0x2002, 0x205F), (0x2070, 0x208E), (0x20AC, 0x20AC), (0x2116, 0x2116)),
    *((0x2122, 0x2122), (0x2190, 0x2199), (0x2212, 0x2212), (0x2215, 0x2215), (0x2248, 0x2248), (0x2260, 0x2265)),
)
FEATURES = ["kern", "liga", "ccmp", "locl", "mark", "mkmk", "lnum", "tnum", "pnum", "onum", "sups", "subs", "case"]
FONTS = {
    "sans-400": ("sans", "font_source_sans_pro/files/SourceSansPro-Regular.ttf", "Topoi Sans", "Regular"),
    "sans-600": ("sans", "font_source_sans_pro/files/SourceSansPro-Semibold.ttf", "Topoi Sans", "Semibold"),
    "serif-400": ("serif", "font_source_serif_pro/files/SourceSerifPro-Regular.ttf", "Topoi Serif", "Regular"),
    "serif-600": ("serif", "font_source_serif_pro/files/SourceSerifPro-Semibold.ttf", "Topoi Serif", "Semibold"),
}
LICENCES = {"sans": "font_source_sans_pro/files/LICENSE.txt", "serif": "font_source_serif_pro/files/LICENSE.txt"}
# Identifiers in the table of names: family, style, unique name, full name, PostScript name, typographic family and style.
FAMILY, STYLE, UNIQUE, FULL, POSTSCRIPT, WIDE_FAMILY, WIDE_STYLE, COMPATIBLE = 1, 2, 3, 4, 6, 16, 17, 18


def main(sans: str, serif: str) -> None:
    """Write the fonts and their licences."""
    archives = {"sans": zipfile.ZipFile(sans), "serif": zipfile.ZipFile(serif)}
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, (kind, path, family, style) in FONTS.items():
        font = subset(archives[kind].read(path))
        rename(font, family, style)
        font.flavor = "woff2"
        font.save(FOLDER / f"{name}.woff2")
        print(f"{name}.woff2", (FOLDER / f"{name}.woff2").stat().st_size)
    for kind, path in LICENCES.items():
        (FOLDER / f"{kind}-OFL.txt").write_bytes(archives[kind].read(path).replace(b"\r\n", b"\n"))


def subset(data: bytes) -> Any:
    """The characters and features that pages use; no hints, which web browsers ignore on most screens."""
    from fontTools import subset as tools
    from fontTools.ttLib import TTFont

    options = tools.Options(layout_features=FEATURES, hinting=False, name_IDs=["*"], notdef_outline=True)
    font = TTFont(io.BytesIO(data), recalcTimestamp=False)
    cutter = tools.Subsetter(options)
    cutter.populate(unicodes=[c for first, last in RANGES for c in range(first, last + 1)])
    cutter.subset(font)
    return font


def rename(font: Any, family: str, style: str) -> None:
    """Give a font a name of its own, as its licence asks of changed ones."""
    names = font["name"]
    whole = f"{family} {style}"
    given = {FAMILY: family, STYLE: "Regular", UNIQUE: whole, FULL: whole, POSTSCRIPT: whole.replace(" ", "")}
    given |= {WIDE_FAMILY: family, WIDE_STYLE: style}
    for record in list(names.names):
        if record.nameID in given:
            record.string = given[record.nameID]
        elif record.nameID in (COMPATIBLE,):
            names.names.remove(record)
    if "CFF " in font:
        raise ValueError("give fonts with TrueType outlines: names inside of others are not changed here")


if __name__ == "__main__":
    main(*sys.argv[1:])
