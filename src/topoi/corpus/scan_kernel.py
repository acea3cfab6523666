"""The compiled tokeniser: code points in, word ids and character offsets out, in one pass.

It works on arrays only; ``scan`` calls it. The same rules as a regular expression are in ``tokenize``.
"""

# mypy: disable-error-code="no-untyped-def"
# numba infers the types of arguments: arrays, integers and the tuples below.

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topoi.corpus.characters import APOSTROPHE, DIGIT, FOLD_MASK, IDEOGRAPH, KIND_SHIFT, LETTER, MARK, SPACE
from topoi.kernels.jit import inlined, lean

_PRIME = np.uint64(0x100000001B3)
_SHIFT = np.uint64(32)
_FOLD = np.uint32(FOLD_MASK)
_KIND = np.uint32(KIND_SHIFT)
NUMBERS, SHORT, ADDRESSES = range(3)


class Words(NamedTuple):
    """Open-addressing hash table of distinct words; ``used`` is [number of words, characters in the pool].

    The characters of word ``w`` are ``pool[ends[w - 1]:ends[w]]``; ``slots`` holds word ids or -1.
    """

    slots: np.ndarray
    hashes: np.ndarray
    ends: np.ndarray
    pool: np.ndarray
    used: np.ndarray


class Out(NamedTuple):
    """Output arrays of a block: each word's id, offsets in the document, and whether it is linked to the one before."""

    token: np.ndarray
    start: np.ndarray
    end: np.ndarray
    linked: np.ndarray


@inlined
def _kind_of(table, code):
    return table[code] >> _KIND


@lean
def _in_word(kind):
    return kind == LETTER or kind == DIGIT


@lean
def _in_local_part(table, code):
    """Whether the character may occur before the @ of a mail address."""
    kind = _kind_of(table, code)
    if kind == LETTER or kind == DIGIT or kind == MARK or kind >= APOSTROPHE:
        return True
    return code == 0x2E or code == 0x25 or code == 0x2B or code == 0x2D


@lean
def _in_url(code):
    return 0x20 < code < 0x7F and code != 0x22 and code != 0x3C and code != 0x3E


@lean
def _url_end(codes, i, high):
    """Return the end of the web address that starts at i, or i if there is none."""
    first = codes[i] | 0x20
    j = i
    if first == 0x68 and i + 3 < high:  # http, https
        if codes[i + 1] | 0x20 == 0x74 and codes[i + 2] | 0x20 == 0x74 and codes[i + 3] | 0x20 == 0x70:
            j = i + 4
            if j < high and codes[j] | 0x20 == 0x73:
                j += 1
    elif first == 0x66 and i + 2 < high:  # ftp
        if codes[i + 1] | 0x20 == 0x74 and codes[i + 2] | 0x20 == 0x70:
            j = i + 3
    elif first == 0x77 and i + 3 < high:  # www.
        if codes[i + 1] | 0x20 == 0x77 and codes[i + 2] | 0x20 == 0x77 and codes[i + 3] == 0x2E:
            j = i + 4
    if j == i:
        return i
    if first != 0x77:
        if j + 2 >= high or codes[j] != 0x3A or codes[j + 1] != 0x2F or codes[j + 2] != 0x2F:
            return i
        j += 3
    end = j
    while end < high and _in_url(codes[end]):
        end += 1
    return end if end > j else i


@lean
def _mail_end(codes, table, i, high):
    """Return the end of the mail host after the @ at i, or i if no host follows."""
    if i + 1 >= high or not _in_word(_kind_of(table, codes[i + 1])):
        return i
    j = i + 2
    while j < high and (_in_word(_kind_of(table, codes[j])) or codes[j] == 0x2E or codes[j] == 0x2D):
        j += 1
    return j


@lean
def _possessive(codes, table, i, high):
    """Whether the apostrophe at i begins a final 's."""
    if i + 1 >= high or codes[i + 1] | 0x20 != 0x73:
        return False
    if i + 2 >= high:
        return True
    after = _kind_of(table, codes[i + 2])
    return not (_in_word(after) or after == MARK)


@lean
def _intern(words, h, length):
    """Return the id of the word with hash h whose characters lie at the end of the pool, adding it if it is new."""
    begin = words.used[1]
    h ^= h >> _SHIFT
    mask = len(words.slots) - 1
    slot = np.int64(h & np.uint64(mask))
    while True:
        w = words.slots[slot]
        if w < 0:
            break
        if words.hashes[w] == h:
            first = words.ends[w - 1] if w > 0 else 0
            if words.ends[w] - first == length:
                p = 0
                while p < length and words.pool[first + p] == words.pool[begin + p]:
                    p += 1
                if p == length:
                    return w
        slot = (slot + 1) & mask
    w = np.int32(words.used[0])
    words.slots[slot] = w
    words.hashes[w] = h
    words.used[0] += 1
    words.used[1] += length
    words.ends[w] = words.used[1]
    return w


@lean
def _scan_document(codes, table, low, high, seed, min_length, keep_numbers, words, out, n, skipped):
    """Scan one document from out position n; return the new position. Cost: linear in the characters."""
    first = n
    floor = low  # end of the last address: a mail address cannot reach back beyond it
    linked = False
    i = low
    while i < high:
        code = codes[i]
        kind = _kind_of(table, code)
        if kind == SPACE:
            i += 1
            continue
        if kind == IDEOGRAPH:
            words.pool[words.used[1]] = table[code] & _FOLD
            out.token[n] = _intern(words, (seed ^ np.uint64(code)) * _PRIME, 1)
            out.start[n], out.end[n], out.linked[n] = i - low, i + 1 - low, linked
            linked = True
            n += 1
            i += 1
            continue
        if not _in_word(kind):
            linked = False
            if code == 0x40 and i > floor:
                end = _mail_end(codes, table, i, high)
                begin = i
                while begin > floor and _in_local_part(table, codes[begin - 1]):
                    begin -= 1
                if end > i and begin < i:
                    while n > first and out.start[n - 1] >= begin - low:
                        n -= 1
                    skipped[ADDRESSES] += 1
                    floor = end
                    i = end
                    continue
            i += 1
            continue
        first_letter = code | 0x20
        if first_letter == 0x68 or first_letter == 0x77 or first_letter == 0x66:
            end = _url_end(codes, i, high)
            if end > i and (i == low or not _in_local_part(table, codes[i - 1])):
                skipped[ADDRESSES] += 1
                floor = end
                i = end
                linked = False
                continue
        has_letter = False
        length = 0
        h = seed
        begin = words.used[1]
        j = i
        while j < high:
            entry = table[codes[j]]
            kind = entry >> _KIND
            if kind == LETTER:
                has_letter = True
            elif kind != DIGIT and kind != MARK:
                if kind < APOSTROPHE or j + 1 >= high or not _in_word(_kind_of(table, codes[j + 1])):
                    break
                if kind == APOSTROPHE and _possessive(codes, table, j, high):
                    break
            folded = entry & _FOLD
            if folded != 0:
                words.pool[begin + length] = folded
                h = (h ^ np.uint64(folded)) * _PRIME
                length += 1
            j += 1
        if not has_letter and not keep_numbers:
            skipped[NUMBERS] += 1
            linked = False
        elif length < min_length:
            skipped[SHORT] += 1
            linked = False
        else:
            out.token[n] = _intern(words, h, length)
            out.start[n], out.end[n], out.linked[n] = i - low, j - low, linked
            n += 1
            linked = True
        if j < high and _kind_of(table, codes[j]) == APOSTROPHE and _possessive(codes, table, j, high):
            j += 2
            linked = False
        i = j
    return n


@lean
def scan_block(codes, bounds, table, seed, min_length, keep_numbers, words, out, doc_end, skipped):
    """Scan the documents ``codes[bounds[d]:bounds[d + 1]]`` into words, out, doc_end and skipped; return the tokens."""
    n = 0
    for d in range(len(bounds) - 1):
        low, high = bounds[d], bounds[d + 1]
        n = _scan_document(codes, table, low, high, seed, min_length, keep_numbers, words, out, n, skipped)
        doc_end[d] = n
    return n


@lean
def fill_slots(slots, hashes, n_words):
    """Insert all words into empty slots."""
    mask = len(slots) - 1
    for w in range(n_words):
        slot = np.int64(hashes[w] & np.uint64(mask))
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = w
