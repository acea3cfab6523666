"""Number of files that a word passes on its way from a line of JSON to coloured HTML.

    python -m studies.word_path

Reads a small file, fits LDA, saves it and asks the browser for the page of a document. A file counts if one of its
Python functions runs on the way; compiled kernels and what runs while a module is imported do not count.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import FrameType

import topoi

SOURCE = Path(topoi.__file__).parent


def journey(folder: Path) -> None:
    from fastapi.testclient import TestClient

    from topoi.web.app import make_app

    lines = [{"id": str(d), "text": "stars and planets orbit the galaxy " * 3, "authors": ["Ann"]} for d in range(12)]
    (folder / "papers.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    corpus = topoi.read_corpus(folder / "papers.jsonl", min_df=1, max_df=1.0)
    topoi.LDA(2, n_iter=5, random_state=0, progress=False).fit(corpus).save(folder / "m.topoi", name="m")
    client = TestClient(make_app(folder / "m.topoi"), base_url="http://127.0.0.1:8765")
    assert "planets" in client.get("/m/m/document/0").text


def files_passed() -> set[str]:
    seen: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            seen.add(frame.f_code.co_filename)

    with tempfile.TemporaryDirectory() as folder:
        journey(Path(folder))  # imports all that is needed
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        with tempfile.TemporaryDirectory() as folder:
            journey(Path(folder))
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return {Path(name).relative_to(SOURCE).as_posix() for name in seen if name.startswith(str(SOURCE))}


def main() -> None:
    found = sorted(files_passed())
    print(f"{len(found)} files:", dict(Counter(name.split("/")[0] for name in found)))
    print("\n".join(found))


if __name__ == "__main__":
    main()
