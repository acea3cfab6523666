"""Mail archives."""

import datetime
import gzip
import time

import pytest

from topoi import CorpusError, read_corpus
from topoi.corpus.mail import thread_of

BOX = """From ann@example.org Mon Jan  1 10:00:00 2001
From: Ann Lee <ann@example.org>
Date: Mon, 1 Jan 2001 10:00:00 +0100
Subject: =?utf-8?q?Fish_caf=C3=A9?=
Message-ID: <1@example.org>

Is the red fish here?
>From here it looks so.

From time to time, yes.
--\x20
Ann Lee, Dept. of Fish

From bob at example.org  Tue Jan  2 10:00:00 2001
From: bob at example.org (Bob Ray)
Date: Tue, 2 Jan 2001 10:00:00 +0000
Subject: Re: Fish
In-Reply-To: <1@example.org>
Message-ID: <2@example.org>
Content-Type: multipart/alternative; boundary="b"

--b
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

On Mon, 1 Jan 2001, Ann Lee
<ann@example.org> wrote:

> Is the red fish here?
>> deeper
Der Fisch ist sch=F6n.

-----Original Message-----
From: someone
quoted secret
--b
Content-Type: text/html

<p>html secret</p>
--b--

From x Wed Jan  3 10:00:00 2001
Subject: no sender
Date: yesterday
Content-Type: text/html; charset=utf-8

<style>secret</style><p>Red &amp; <b>blue</b></p>
"""


def read(path, data, **options):
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return read_corpus(path, min_df=1, max_df=1.0, **options)


@pytest.mark.parametrize("name", ["list.mbox", "list.mbox.gz"])
def test_messages(tmp_path, name):
    corpus = read(tmp_path / name, BOX.encode())
    assert corpus.texts[0] == "Is the red fish here?\nFrom here it looks so.\n\nFrom time to time, yes."
    assert corpus.texts[1] == "Der Fisch ist schön."
    assert corpus.texts[2] == "Red & blue"
    assert corpus.author_lists() == [["Ann Lee"], ["Bob Ray"], []]
    assert corpus.documents["email"].tolist()[:2] == ["ann@example.org", "bob@example.org"]
    assert corpus.documents["title"].tolist() == ["Fish café", "Re: Fish", "no sender"]
    assert corpus.documents["thread"].tolist() == ["Fish café", "Fish", "no sender"]
    assert corpus.documents["id"].tolist() == ["1@example.org", "2@example.org", "2"]
    assert corpus.documents["links"].tolist() == [None, ["1@example.org"], None]
    assert corpus.documents["date"].tolist()[0] == datetime.datetime(2001, 1, 1, 9)
    assert corpus.documents["year"].isna().tolist() == [False, False, True]
    assert corpus.report.n_bad_dates == 1 and corpus.report.n_without_authors == 1
    assert "secret" not in corpus.vocabulary


def test_windows_line_ends(tmp_path):
    corpus = read(tmp_path / "a.mbox", BOX.replace("\n", "\r\n").encode())
    assert corpus.n_docs == 3 and corpus.texts[1] == "Der Fisch ist schön."


def test_broken_headers_and_charsets_are_replaced_and_counted(tmp_path):
    head = b"From x Mon Jan  1 10:00:00 2001\nFrom: "
    messages = [
        head + b"J\xf6rg <j@x.org>\nContent-Type: text/plain; charset=klingon\n\ncaf\xe9 red",
        head + b"=?klingon?q?A=F6?= <a@x.org>\nSubject: =?utf-8?b?!!!?=\n\nred",
        head + b"\x00\x1b[31m <<>>\nDate: \nMessage-ID: \n\nred",
        head + b"Bo <b@x.org>\nContent-Type: multipart/mixed; boundary=\n\nred",
        head + b"Cy <c@x.org>\nContent-Transfer-Encoding: base64\n\n!!!not base64",
        b"From x Mon Jan  1 10:00:00 2001",
    ]
    corpus = read(tmp_path / "a.mbox", b"\n\n".join(messages))
    assert corpus.n_docs == 6
    assert corpus.texts[0] == "caf\ufffd red"
    assert corpus.authors.tolist()[0] == "J\ufffdrg"
    assert corpus.report.n_replaced == 2
    assert corpus.report.n_empty_texts >= 1


def test_not_an_mbox(tmp_path):
    with pytest.raises(CorpusError, match="not an mbox") as caught:
        read(tmp_path / "a.mbox", b"\nHello\n")
    assert caught.value.line == 2


def test_duplicate_message_ids(tmp_path):
    one = b"From x Mon Jan  1 10:00:00 2001\nMessage-ID: <1@x>\n\nred\n\n"
    with pytest.raises(CorpusError, match="line 6: the id '1@x' was already used in line 1"):
        read(tmp_path / "a.mbox", one + one)
    corpus = read(tmp_path / "a.mbox", one + one, on_error="skip")
    assert corpus.n_docs == 1 and corpus.report.n_skipped == 1


def test_over_long_messages_are_skipped_whole(tmp_path):
    head = b"From x Mon Jan  1 10:00:00 2001\nFrom: A <a@x>\n\n"
    data = head + b"red fish\n" * 2000 + b"\n" + head + b"red\n"
    with pytest.raises(CorpusError, match="line 1: the message is too long"):
        read(tmp_path / "a.mbox", data, max_line_bytes=1000)
    corpus = read(tmp_path / "a.mbox", data, max_line_bytes=1000, on_error="skip")
    assert corpus.texts == ["red"] and corpus.report.n_skipped == 1


def test_hostile_messages_take_no_time(tmp_path):
    head = b"From x Mon Jan  1 10:00:00 2001\nFrom: "
    nested = b"".join(b"Content-Type: multipart/mixed; boundary=%d\n\n--%d\n" % (n, n) for n in range(3000))
    messages = [
        head + b"A <a@x>\n\nred\n\nFrom " + b"11:11" * 100_000 + b"\nmore",
        head + b"a at " + b"(" * 200_000 + b"\n\nred",
        head + b"A <a@x>\nContent-Type: text/html\n\n" + b"<a" * 200_000 + b"<script>" * 50_000,
        head + b"A <a@x>\n\n" + b"wrote " * 50_000 + b"\n" + b"> quoted\n\n" * 5_000,
        head + b"A <a@x>\n" + nested + b"\nred",
    ]
    begin = time.perf_counter()
    corpus = read(tmp_path / "a.mbox", b"\n\n".join(messages), on_error="skip")
    assert time.perf_counter() - begin < 20
    assert corpus.report.n_read + corpus.report.n_skipped == 5


@pytest.mark.parametrize(
    ("subject", "thread"),
    [
        ("Fish", "Fish"),
        ("Re: Fish", "Fish"),
        ("[sea] RE: AW: Re[2]: Fwd : Fish", "Fish"),
        ("Re: [sea] Fish [solved]", "Fish [solved]"),
        ("Results: fish", "Results: fish"),
        ("Re:", "Re:"),
        ("[sea]", "[sea]"),
        ("", ""),
    ],
)
def test_a_thread_is_a_subject_without_marks_of_replies(subject, thread):
    assert thread_of(subject) == thread
