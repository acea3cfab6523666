"""The vocabulary of a store."""

from __future__ import annotations

from topoi.corpus.tokenize import Analyzer
from topoi.corpus.vocabulary import Vocabulary
from topoi.errors import CorpusError, StoreError
from topoi.store.door import stored_json
from topoi.store.store import Store


def stored_vocabulary(store: Store) -> Vocabulary:
    """The words of a store, and the analyser that cuts text into them.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> from topoi.store.words import stored_vocabulary
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
    >>> corpus = topoi.Corpus.from_tokens([["sun", "moon"]])
    >>> topoi.LDA(2, n_iter=2, random_state=0).fit(corpus).save(path)
    >>> stored_vocabulary(topoi.open_store(path)).words.tolist()
    ['sun', 'moon']
    """
    settings = store.rows("SELECT settings FROM corpus")[0][0]
    words = store.rows("SELECT word FROM word ORDER BY word_id")
    with store.named():
        analyzer = stored_json(settings, "the corpus", "corpus.settings")["analyzer"]
        try:
            return Vocabulary([row[0] for row in words], Analyzer.from_dict(analyzer))
        except (CorpusError, TypeError, ValueError) as error:
            raise StoreError(f"the vocabulary is damaged ({error})") from error
