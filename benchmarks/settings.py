"""How much is run: by default, and for a quick check that everything works."""

from __future__ import annotations

from typing import NamedTuple


class Settings(NamedTuple):
    """The sizes of a run; times are seconds."""

    quick: bool = False
    families: tuple[str, ...] = ("lda", "author-topic")
    rounds: int = 4
    lda_topics: tuple[int, ...] = (100, 400, 1000)
    author_topics: tuple[int, ...] = (100, 300)
    # Of a second corpus only the ends of these lists, to save time.
    ends_only: bool = True
    # Speed: a contender's turn takes about this long, and it gets no further turns once it has used its time.
    turn: float = 1.2
    enough: float = 30.0
    # Quality: the longest fit of a system; all its fits together take about twice this.
    train_for: float = 20.0
    author_share: float = 0.25
    shard_sweeps: int = 60

    def topics(self, family: str) -> tuple[int, ...]:
        """The numbers of topics at which a family's speed is measured."""
        return self.lda_topics if family == "lda" else self.author_topics

    def fewer_topics(self, family: str) -> tuple[int, ...]:
        """Those at which it is measured on a second corpus: LDA's smallest and largest, author-topic's smallest."""
        every = self.topics(family)
        if not self.ends_only:
            return every
        return tuple(sorted({min(every), max(every)})) if family == "lda" else (min(every),)


QUICK = Settings(
    quick=True,
    rounds=2,
    lda_topics=(20,),
    author_topics=(20,),
    turn=0.1,
    enough=2.0,
    train_for=1.0,
    author_share=1.0,
    shard_sweeps=20,
)
