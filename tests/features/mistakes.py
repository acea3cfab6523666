"""Mistakes that the tests of this folder must notice: what it is, file, right line, wrong line.

Tried by ``studies/broken_kernels.py``.
"""

FAMILY = "src/topoi/models/features/"
COLUMNS = FAMILY + "columns.py"
PREDICTION = FAMILY + "prediction.py"
TESTS = ["test_table.py", "test_predictions.py"]
MISTAKES = [
    ("features: authors are dropped before they are read", PREDICTION, "align(self._as_corpus(X), self.vocabulary_, None)", "align(self._as_corpus(X), self.vocabulary_, self.authors_)"),
    ("features: an empty cell is a value", COLUMNS, "        return not value.strip()\n", "        return False\n"),
    ("features: names are not told apart by semicolons", COLUMNS, "list(dict.fromkeys(author_names(value)))", "list(dict.fromkeys(author_names(value, None)))"),
]  # fmt: skip
