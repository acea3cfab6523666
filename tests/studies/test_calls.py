"""Notes of what a command calls: in its threads, its child processes and its compiled kernels."""

import json
import os
import subprocess
import sys

import pytest

from studies import calls, freshness

CHILDREN = """\
import multiprocessing, subprocess, sys, threading
import topoi
from topoi.corpus import metadata


def parse(text):
    print(metadata.parse_date(text))


if __name__ == "__main__":
    thread = threading.Thread(target=topoi.Dag.from_edges, args=([("root", "a"), ("root", "b")],))
    thread.start()
    thread.join()
    multiprocessing.set_start_method("fork")
    process = multiprocessing.Process(target=parse, args=("1984-01-01",))
    process.start()
    process.join()
    bridge = "from topoi.models.kernel_topic import laplace_bridge; laplace_bridge.to_gaussian([1.0, 2.0])"
    subprocess.run([sys.executable, "-c", bridge], check=True)
    leaves = "import os; from topoi.corpus.vocabulary import Vocabulary as V; V(['a']).index('a'); os._exit(0)"
    subprocess.run([sys.executable, "-c", leaves], check=True)
"""


def test_kernels_and_the_functions_on_the_way_are_noted(tmp_path):
    lines = [
        {"id": str(i), "text": f"apples pears plums cherries {'figs' if i % 2 else 'dates'} {i}"} for i in range(20)
    ]
    source = tmp_path / "fruit.jsonl"
    source.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    settings = ["--model", "lda", "--topics", "2", "--iterations", "3", "--quiet", "-o", str(tmp_path / "fruit.topoi")]
    code, called = calls.run(["topoi", "fit", str(source), *settings], tmp_path)
    assert code == 0
    assert called["src/topoi/models/author_topic/word_major.py"] == {"*"} and called["src/topoi/kernels/draw.py"] == {
        "*"
    }
    assert "*" not in called.get("src/topoi/models/pachinko/four_level.py", ())
    assert "Corpus.__init__" in called["src/topoi/corpus/corpus.py"]
    assert not any(path.startswith("tests/") for path in called)


def test_threads_and_child_processes_are_noted(tmp_path):
    script = tmp_path / "children.py"
    script.write_text(CHILDREN, encoding="utf-8")
    folder = tmp_path / "notes"
    folder.mkdir()
    environment = os.environ | {
        "TOPOI_CALLS": str(folder),
        "TOPOI_CALLS_ROOT": str(calls.ROOT),
        "PYTHONPATH": str(calls.ROOT / "studies" / "traced"),
    }
    subprocess.run([sys.executable, str(script)], env=environment, check=True)
    called = calls.read(folder)
    assert "Dag.from_edges" in called["src/topoi/models/dag.py"]
    assert "parse_date" in called["src/topoi/corpus/metadata.py"]
    assert "Vocabulary.index" in called["src/topoi/corpus/vocabulary.py"], "a program that leaves at once"
    assert "to_gaussian" in called["src/topoi/models/kernel_topic/laplace_bridge.py"]


@pytest.mark.parametrize(
    ("words", "pages"),
    [(["docs/a.md", "docs/b.md", "--write"], ["docs/a.md", "docs/b.md"]), (["--sweeps", "3"], [None])],
)
def test_a_command_that_names_pages_records_these_only(words, pages, monkeypatch):
    recorded = []
    monkeypatch.setattr(sys, "argv", ["calls", "studies.sessions", *words])
    monkeypatch.setattr(calls, "run", lambda given, folder: (0, {}))
    monkeypatch.setattr(freshness, "record", lambda root, module, page, called, seconds: recorded.append(page) or [])
    assert calls.main() == 0 and recorded == pages
