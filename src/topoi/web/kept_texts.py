"""Pasted texts that are too long for an address: kept in memory for a while, under a key that nobody can guess."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict

MOST_TEXTS = 30
MOST_CHARACTERS = 3_000_000
SECONDS = 1800.0


class KeptTexts:
    """Texts by key, each for half an hour; the oldest go first when there are too many.

    Examples
    --------
    >>> from topoi.web.kept_texts import KeptTexts
    >>> texts = KeptTexts()
    >>> key = texts.keep("a long text")
    >>> texts.get(key), texts.get("another key")
    ('a long text', None)
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._texts: OrderedDict[str, tuple[float, str]] = OrderedDict()

    def keep(self, text: str) -> str:
        """Keep a text and return its key; the same text has the same key while it is kept."""
        with self._lock:
            self._forget()
            key = next((key for key, (_, known) in self._texts.items() if known == text), None)
            key = secrets.token_urlsafe(12) if key is None else key
            self._texts[key] = (time.monotonic(), text)
            self._texts.move_to_end(key)
            while len(self._texts) > MOST_TEXTS or sum(len(t) for _, t in self._texts.values()) > MOST_CHARACTERS:
                self._texts.popitem(last=False)
            return key

    def get(self, key: str) -> str | None:
        """The text of a key; None if it is not kept, or not any more."""
        with self._lock:
            self._forget()
            found = self._texts.get(key)
            return None if found is None else found[1]

    def _forget(self) -> None:
        until = time.monotonic() - self._seconds
        for key in [key for key, (since, _) in self._texts.items() if since < until]:
            del self._texts[key]
