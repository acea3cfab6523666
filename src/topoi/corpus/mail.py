"""Reader for mail archives (mbox): sender, date, subject, and the body without quotations and signatures."""

from __future__ import annotations

import email.errors
import email.header
import email.message
import email.parser
import email.utils
import html
import re
from collections.abc import Iterator

from topoi.corpus.lines import LineReader
from topoi.corpus.records import RecordTable
from topoi.errors import CorpusError

# "From " also begins sentences, so an envelope line must end in a time and a year, and follow an empty line.
_ENVELOPE = re.compile(rb"From .*\d\d?:\d\d.*\d{4}\s*$")
_ESCAPED = re.compile(rb">+From ")
_QUOTE = re.compile(r"\s{0,3}(?:[A-Za-z]{0,4}>|\|\s)")
_ATTRIBUTION = re.compile(r".*\b(?:wrote|writes|schrieb|a écrit|escribió|said)\s*:\s*$")
_SIGNATURE = re.compile(r"--\s*$")
# What answering and forwarding put before a subject, in several languages, and the list's name in brackets.
_REPLY = re.compile(r"(?:(?:re|aw|antw|sv|fwd?|wg|tr|rv)(?:\[\d++\])?\s*+:\s*+|\[[^\[\]]*+\]\s*+)++", re.IGNORECASE)
_REST_IS_QUOTED = re.compile(r"\s*(?:-{2,}\s*Original Message\s*-{2,}|_{30,})\s*$", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*+)[^<>]*+>|<![^<>]*+>")
_BREAKING = ("p", "br", "div", "tr", "li")
_HIDDEN = ("script", "style")
_MESSAGE_FACTOR = 10
# A longer line is no envelope, header or "Ann wrote:"; the expressions above could take very long on it.
_MOST_HEADER = 2000
_MOST_INTRODUCTION = 500
# Exceptions that the standard library's mail parser is known to raise on hostile messages.
_PARSER_ERRORS = (RecursionError, ValueError, LookupError, TypeError, AttributeError, AssertionError)


def read_mbox(reader: LineReader, table: RecordTable) -> None:
    r"""Read the messages of an mbox file.

    The fields of a record are ``id`` (Message-ID), ``title`` (subject), ``thread`` (the subject without "Re:"),
    ``text``, ``authors`` (the sender), ``email``, ``date`` and ``links`` (the message replied to). Errors name the
    message's first line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from topoi.corpus.lines import LineReader
    >>> from topoi.corpus.mail import read_mbox
    >>> from topoi.corpus.records import FieldMap, RecordTable
    >>> path = pathlib.Path(tempfile.mkdtemp(), "list.mbox")
    >>> _ = path.write_text("From a Mon Jan  1 10:00:00 2001\nFrom: Ann <a@b.c>\n\n> Is it?\nIt is.\n-- \nAnn\n")
    >>> table = RecordTable(FieldMap(), path)
    >>> read_mbox(LineReader(path, table.problem), table)
    >>> table.texts, table.authors
    (['It is.'], [['Ann']])
    """
    for number, lines in _messages(reader):
        try:
            record = message_record(b"\n".join(lines), table)
        except _PARSER_ERRORS as error:
            message = f"the message cannot be taken apart: {type(error).__name__} {str(error)[:100]}"
            table.problem(CorpusError(message, reader.path, number))
            continue
        table.add(record, number)


def _messages(reader: LineReader) -> Iterator[tuple[int, list[bytes]]]:
    """Split the file at its envelope lines."""
    lines: list[bytes] | None = None
    first = size = 0
    blank = True
    limit = _MESSAGE_FACTOR * reader.max_line_bytes
    for number, line in reader.byte_lines():
        line = line.removesuffix(b"\r")
        if blank and line.startswith(b"From ") and (lines is None or _ENVELOPE.match(line[:_MOST_HEADER])):
            if lines is not None and size <= limit:
                yield first, lines
            lines, first, size = [], number, 0
        elif lines is not None:
            if size <= limit < size + len(line) + 1:
                message = "the message is too long; allow more with max_line_bytes"
                reader.problem(CorpusError(message, reader.path, first))
                lines = []
            size += len(line) + 1
            if size <= limit:
                lines.append(line[1:] if _ESCAPED.match(line) else line)
        elif line.strip():
            raise CorpusError('not an mbox file: it does not begin with a "From " line', reader.path, number)
        blank = not line.strip()
    if lines is not None and size <= limit:
        yield first, lines


def message_record(data: bytes, table: RecordTable) -> dict[str, object]:
    r"""Return one message as a record; undecodable bytes are replaced and counted in the table's report.

    Examples
    --------
    >>> from topoi.corpus.mail import message_record
    >>> from topoi.corpus.records import FieldMap, RecordTable
    >>> message_record(b"From: Ann <a@b.c>\nSubject: Dust\n\nOn dust", RecordTable(FieldMap()))["title"]
    'Dust'
    """
    message = email.parser.BytesParser().parsebytes(data)
    body, replaced = _body(message)
    headers = {}
    for name in ("From", "Subject", "Message-ID", "In-Reply-To", "Date"):
        headers[name], broken = _header(message, name)
        replaced |= broken
    table.report.n_replaced += replaced
    sender, address = _sender(headers["From"])
    record: dict[str, object] = {
        "id": headers["Message-ID"].strip().strip("<>").strip() or None,
        "title": headers["Subject"] or None,
        "thread": thread_of(headers["Subject"]) or None,
        "text": without_quotes(body),
        "authors": [sender] if sender else [],
        "email": address or None,
        "date": None,
    }
    if headers["Date"].strip():
        try:
            record["date"] = email.utils.parsedate_to_datetime(headers["Date"])
        except (ValueError, TypeError, IndexError, OverflowError):
            table.report.n_bad_dates += 1
    if answered := re.search(r"<([^<>\s]+)>", headers["In-Reply-To"]):
        record["links"] = [answered[1]]
    return record


def thread_of(subject: str) -> str:
    """Return a subject without "Re:", "Fwd:" and a list's name in brackets, the same for all messages of a thread.

    Examples
    --------
    >>> from topoi.corpus.mail import thread_of
    >>> thread_of("[fish] Re: AW: Red fish"), thread_of("Really: a fish")
    ('Red fish', 'Really: a fish')
    """
    return subject[found.end() :] or subject if (found := _REPLY.match(subject)) else subject


def _header(message: email.message.Message, name: str) -> tuple[str, bool]:
    """Return a header's decoded text, and whether bytes had to be replaced."""
    raw = message.get(name)
    if raw is None:
        return "", False
    if len(str(raw)) > _MOST_HEADER:
        raw = str(raw)[:_MOST_HEADER]
    parts: list[str] = []
    replaced = False
    try:
        pieces = email.header.decode_header(raw)
    except (email.errors.HeaderParseError, ValueError):
        pieces = [(str(raw), None)]
    for piece, charset in pieces:
        if isinstance(piece, str):
            parts.append(piece)
        else:
            text, broken = _decoded(piece, None if charset == "unknown-8bit" else charset)
            parts.append(text)
            replaced |= broken
    return re.sub(r"\s+", " ", "".join(parts)).strip(), replaced


def _decoded(data: bytes, charset: str | None) -> tuple[str, bool]:
    """Decode with the named character set, else UTF-8, replacing invalid bytes; return also whether there were any."""
    for name in dict.fromkeys([charset or "utf-8", "utf-8"]):
        try:
            return data.decode(name), False
        except (UnicodeDecodeError, LookupError, ValueError):
            continue
    return data.decode("utf-8", "replace"), True


def _sender(header: str) -> tuple[str, str]:
    """Return the sender's name (or else the address) and address; mailing lists write ``ann at b.c (Ann)``."""
    if hidden := re.match(r"(\S+) at (\S+)\s*(?:\((.*)\))?$", header):
        address = f"{hidden[1]}@{hidden[2]}"
        return (hidden[3] or "").strip() or address, address
    try:
        name, address = email.utils.parseaddr(header)
    except (IndexError, ValueError):
        name, address = "", ""
    return (name or address or header).strip().strip("\"'").strip(), address


def _body(message: email.message.Message) -> tuple[str, bool]:
    """Return the message's text (its plain parts, or else its HTML without tags), and whether bytes were replaced."""
    for wanted in ("text/plain", "text/html"):
        texts, replaced = [], False
        for part in message.walk():
            if part.get_content_type() != wanted or part.get_content_disposition() == "attachment":
                continue
            text, broken = _part_text(part)
            replaced |= broken
            texts.append(_without_tags(text) if wanted == "text/html" else text)
        if texts:
            return "\n".join(texts), replaced
    return "", False


def _part_text(part: email.message.Message) -> tuple[str, bool]:
    try:
        data = part.get_payload(decode=True)
        charset = part.get_content_charset()
    except (ValueError, LookupError, UnicodeError, AssertionError):
        data, charset = str(part.get_payload()).encode("utf-8", "replace"), None
    return _decoded(data, charset) if isinstance(data, bytes) else ("", False)


def _without_tags(text: str) -> str:
    """Strip HTML tags in one pass; Python's own parser can take minutes for a hostile megabyte."""
    parts: list[str] = []
    hidden, position = "", 0
    for tag in _TAG.finditer(text):
        name = (tag[2] or "").lower()
        if not hidden:
            parts.append(text[position : tag.start()])
            if name in _BREAKING:
                parts.append("\n")
            hidden = name if name in _HIDDEN and not tag[1] else ""
        elif tag[1] and name == hidden:
            hidden = ""
        position = tag.end()
    if not hidden:
        parts.append(text[position:])
    return html.unescape("".join(parts))


def without_quotes(body: str) -> str:
    r"""Return a message's own words: no quoted lines, no "Ann wrote:" before them, no signature or list footer.

    Examples
    --------
    >>> from topoi.corpus.mail import without_quotes
    >>> without_quotes("Ann wrote:\n> Is it?\nIt is.\n-- \nBob, Dept. of Dust")
    'It is.'
    """
    kept: list[str] = []
    for line in body.replace("\r\n", "\n").split("\n"):
        if _SIGNATURE.match(line) or _REST_IS_QUOTED.match(line):
            break
        if _QUOTE.match(line):
            _drop_attribution(kept)
        else:
            kept.append(line)
    return "\n".join(kept).strip()


def _drop_attribution(kept: list[str]) -> None:
    """Remove the one or two lines that introduce a quotation, and the empty lines between."""
    last = len(kept) - 1
    while last >= 0 and not kept[last].strip():
        last -= 1
    if last < 0 or len(kept[last]) > _MOST_INTRODUCTION or not _ATTRIBUTION.match(kept[last]):
        return
    first = last
    if not re.match(r"\s*(?:On|Am|Le|El|At|In)\b", kept[last]) and last > 0:
        if re.match(r"\s*(?:On|Am|Le|El|At|In)\b.*\d", kept[last - 1]):
            first = last - 1
    del kept[first:]
