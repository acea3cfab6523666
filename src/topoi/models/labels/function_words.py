"""Function words of some languages: articles, prepositions, pronouns and auxiliaries, which name nothing.

A corpus in another language than English is often read without a stop list. Words of a language count only in a corpus
that is written in it: "die" is an article in German alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Part of all tokens from which on a corpus is taken to be in a language; running text has three times as many.
_SPOKEN = 0.1

_LISTS: Mapping[str, str] = {
    "German": "der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine ist sind war "
    "waren wird werden wurde wurden hat haben hatte kann können ich du er sie es wir ihr sich mit von zu "
    "zum zur im in am an auf aus bei bis durch für gegen nach über um unter vor als auch wie wenn dass "
    "daß so nur noch man",
    "French": "le la les l un une des du de d et ou mais ne pas est sont était a ont avait être avoir il elle ils "
    "elles je tu nous vous on se s ce cette ces qui que qu dont où dans en à au aux par pour sur sous "
    "avec sans plus comme son sa ses leur leurs si y",
    "Spanish": "el la los las un una unos unas y o pero no es son era fue ha han ser estar él ella ellos yo tú "
    "nosotros se lo le les que quien cuando donde de del a al en con sin por para sobre entre desde hasta "
    "como más su sus este esta estos si ya muy",
    "Italian": "il lo la i gli le un uno una e o ma non è sono era ha hanno essere avere egli lui lei loro io tu noi "
    "voi si che chi cui di del della dei delle a al alla ai in nel nella con su sul sulla per tra fra da "
    "dal dalla come più questo questa se anche",
    "Portuguese": "o a os as um uma uns umas e ou mas não é são era foi tem ter ser estar ele ela eles eu tu nós se "
    "que quem de do da dos das em no na nos nas com sem por pelo pela para sobre entre até como mais seu sua "
    "este esta já também",
    "Dutch": "de het een en of maar niet geen is zijn was waren wordt werden heeft hebben had kan ik jij hij zij "
    "ze wij zich dat die dit deze van in op te aan met voor door bij naar uit over om onder tot als ook "
    "hoe dan er nog wel",
    "Greek": "ο η το οι τα του της των τον την τη ένα μια ένας και ή αλλά δεν μη είναι ήταν έχει έχουν να θα που "
    "πως ότι όταν με σε από για προς στο στη στην στον στους στα στις ως πιο αυτό αυτή αυτός τους τις μας "
    "σας",
    "Japanese": "の を は が に で と も へ や か から まで より する した "
    "して します です ます だ ある いる これ それ この その こと",
    "Chinese": "的 了 在 是 和 与 也 都 就 不 我 你 他 她 们 这 那 着 过 吗 呢 把 被 对 从 到 而 之 其",
}


def function_words(words: Sequence[str] | NDArray[Any], times: NDArray[Any]) -> frozenset[str]:
    """Function words of the languages that a corpus is written in, other than English.

    Parameters
    ----------
    words : sequence of str
        The vocabulary.
    times : array
        Tokens of each word.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.labels.function_words import function_words
    >>> "die" in function_words(["die", "Bahn"], np.array([3, 4])), function_words(["die", "cast"], np.array([1, 40]))
    (True, frozenset())
    """
    number = {str(word).casefold(): int(n) for word, n in zip(words, times, strict=True)}
    total = max(int(np.sum(times)), 1)
    found = frozenset[str]()
    for told in _LISTS.values():
        own = frozenset(told.split())
        if sum(number.get(word, 0) for word in own) >= _SPOKEN * total:
            found |= own
    return found
