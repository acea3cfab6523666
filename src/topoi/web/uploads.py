"""Files sent with a form (multipart/form-data), within the limits of every request's body."""

from __future__ import annotations

import re
from typing import NamedTuple

from starlette.requests import Request

from topoi.web.forms import NotAFormError
from topoi.web.limits import TooLargeError

_FORM = "multipart/form-data"
_MOST_PARTS = 20
_BOUNDARY = re.compile(r'boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))', re.I)
_NAME = re.compile(rb'content-disposition:[^\r\n]*?;\s*name="?([^";\r\n]*)', re.I)
_FILE = re.compile(rb"content-disposition:[^\r\n]*?;\s*filename", re.I)


class Upload(NamedTuple):
    """Fields of a form, and its files by the name of their field."""

    fields: dict[str, list[str]]
    files: dict[str, bytes]


async def upload_of(request: Request) -> Upload:
    """Fields and files of a form; the size of its body has been limited before."""
    given = request.headers.get("content-type", "")
    found = _BOUNDARY.search(given)
    if given.partition(";")[0].strip().lower() != _FORM or found is None:
        raise NotAFormError(f"send a form with a file as {_FORM}")
    return parts_of(await request.body(), (found[1] or found[2]).encode("latin-1", "replace"))


def parts_of(body: bytes, boundary: bytes) -> Upload:
    r"""Fields and files in the body of a form.

    Examples
    --------
    >>> from topoi.web.uploads import parts_of
    >>> head = b'--x\r\nContent-Disposition: form-data; name="table"; filename="a.csv"\r\n\r\n'
    >>> parts_of(head + b"text\r\nA star\r\n--x--\r\n", b"x").files
    {'table': b'text\r\nA star'}
    """
    mark = b"\r\n--" + boundary
    whole = b"\r\n" + body
    if whole.count(mark) > _MOST_PARTS + 1:
        raise TooLargeError("the form has too many fields")
    _, *parts = whole.split(mark)
    if not parts or not parts[-1].startswith(b"--"):
        raise NotAFormError("the form is not complete: send it once more")
    upload = Upload({}, {})
    for part in parts[:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        name = _NAME.search(head)
        if name is None:
            raise NotAFormError("a part of the form has no name")
        field = name[1].decode("utf-8", "replace")
        if _FILE.search(head):
            upload.files[field] = content
        elif content:  # an empty field means that nothing was asked for
            upload.fields.setdefault(field, []).append(content.decode("utf-8", "replace"))
    return upload
