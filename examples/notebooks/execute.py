"""Run the notebooks of this folder and keep their outputs: ``python examples/notebooks/execute.py [NAME ...]``.

Figures are kept as pictures, which every viewer shows. Run times, processes and machines leave no trace in the files: a
second run gives the same bytes, as long as topoi, plotly and the browser that draws the pictures are the same.
"""

from __future__ import annotations

import base64
import io
import json
import os
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent
COLOURS = 96  # of a picture


def executed(text: str, folder: str) -> dict:
    """A notebook with the outputs of a run in a folder."""
    import nbformat
    from nbclient import NotebookClient

    os.environ["PLOTLY_RENDERER"] = "png"
    node = nbformat.reads(text, as_version=4)
    NotebookClient(node, timeout=1200, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    return json.loads(nbformat.writes(node))


def smaller(picture: str) -> str:
    """A PNG picture with few colours; both in base64."""
    from PIL import Image

    written = io.BytesIO()
    image = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(written, "PNG", optimize=True)
    return base64.b64encode(written.getvalue()).decode("ascii")


def cleaned(notebook: dict) -> dict:
    """The notebook without what differs from run to run and from machine to machine."""
    for number, cell in enumerate(notebook["cells"], 1):
        cell["metadata"] = {}
        cell["id"] = f"cell-{number}"
        if cell["cell_type"] != "code":
            continue
        for output in cell["outputs"]:
            output.get("metadata", {}).clear()
            shown = output.get("data", {})
            shown.pop("application/vnd.plotly.v1+json", None)
            if "image/png" in shown:
                shown["image/png"] = smaller(shown["image/png"])
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook["metadata"] = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return notebook


def main(names: list[str]) -> None:
    """Run the notebooks of the given names, or all, and write them back."""
    for path in [FOLDER / f"{name.removesuffix('.ipynb')}.ipynb" for name in names] or sorted(FOLDER.glob("*.ipynb")):
        with tempfile.TemporaryDirectory() as folder:
            notebook = cleaned(executed(path.read_text(encoding="utf-8"), folder))
        text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
        path.write_text(text, encoding="utf-8")
        print(f"{path.name}: {len(notebook['cells'])} cells, {len(text.encode()) / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
