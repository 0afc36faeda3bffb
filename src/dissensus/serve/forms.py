"""Uploaded files: multipart bodies taken apart in memory; nothing of them touches a disk."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from python_multipart.multipart import parse_options_header

from dissensus.serve.refusals import Refusal, clear

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Upload", "parse_files"]

LONGEST_NAME = 200
LONGEST_HEAD = 1 << 13  # bytes in front of a part's content
LONGEST_BOUNDARY = 70  # as RFC 2046 (5.1.1) has it
LONGEST_PADDING = 64  # spaces behind one
STEP = 1 << 17  # bytes that are searched at once: half a millisecond in which nobody else has the interpreter
SPARE_PARTS = 8  # fields beside the files, which are ignored


class Upload(NamedTuple):
    """A file as it was sent."""

    name: str
    """For people only: it never names anything on this machine."""
    content: bytes | memoryview
    """A part of the body, which is not copied for it."""


# Why not the parser of python-multipart: it looks at every beginning of a boundary in Python, so that a body
# of 32 MiB that is little else costs four seconds of the interpreter, for which all wait. Here it is a tenth.
def parse_files(body: bytes | memoryview, content_type: str, *, most: int) -> Iterator[list[Upload]]:
    """Yield the files of the form's field ``files`` that were found so far, in their order; in the end all.

    Each step takes a few milliseconds whatever the bytes are, so that others can have their turns in between.
    None and too many are refusals.
    """
    _, options = parse_options_header(content_type)
    boundary = options.get(b"boundary", b"")
    if not boundary:
        raise Refusal(400, "the Content-Type multipart/form-data names no boundary")
    if len(boundary) > LONGEST_BOUNDARY:
        raise _no_form()
    files: list[Upload] = []
    parts, start = 0, -1
    for delimiter in _delimiters(body, boundary):
        yield files
        if delimiter is None:
            continue
        if start >= 0:
            parts += 1
            name, begin = _head(body, start, delimiter.start())
            if parts > most + SPARE_PARTS or (name is not None and len(files) == most):
                raise Refusal(413, f"at most {most} files are taken at once: send fewer")
            if name is not None:
                content = memoryview(body)[begin : delimiter.start()]
                files.append(Upload(name or f"file {len(files)}", content))
        if delimiter["last"]:
            break
        start = delimiter.end()
    else:
        raise Refusal(400, "the form is cut off: its last boundary is missing")
    if not files:
        raise Refusal(422, "the form has no file in its field 'files'")
    yield files


def _delimiters(body: bytes | memoryview, boundary: bytes) -> Iterator[re.Match[bytes] | None]:
    """What stands before, between and behind the parts; None after every so many bytes without such."""
    delimiter = b"--" + re.escape(boundary) + rb"(?:(?P<last>--)|[ \t]{0,%d}\r\n)" % LONGEST_PADDING
    longest = 6 + len(boundary) + LONGEST_PADDING
    found = re.match(rb"(?:\r\n)?" + delimiter, body)
    if found is None:
        raise _no_form()
    yield found
    pattern, start = re.compile(rb"\r\n" + delimiter), found.end()
    while start < len(body):
        found = pattern.search(body, start, start + STEP + longest)
        yield found
        start = start + STEP if found is None else found.end()


def _head(body: bytes | memoryview, start: int, end: int) -> tuple[str | None, int]:
    """The file's name if the part is one, and where its content begins."""
    head, blank, _ = bytes(body[start : min(end, start + LONGEST_HEAD + 4)]).partition(b"\r\n\r\n")
    if not blank:
        raise _no_form()
    disposition = b""
    for line in head.split(b"\r\n"):
        field, colon, value = line.partition(b":")
        if not colon or not field.strip():
            raise _no_form()
        if field.strip().lower() == b"content-disposition":
            disposition = value
    _, options = parse_options_header(disposition.decode("latin-1"))
    if options.get(b"name") != b"files":
        return None, 0
    return file_name(options.get(b"filename", b"")), start + len(head) + 4


def _no_form() -> Refusal:
    return Refusal(400, "the body is no form in multipart/form-data, or it is cut off")


def file_name(raw: bytes) -> str:
    r"""What a person calls the file: without folders, control characters and endless length.

    >>> file_name(b"../../etc/pass\x00wd"), file_name(b"C:\\pictures\\a.png")
    ('pass wd', 'a.png')
    """
    text = raw.decode("utf-8", "replace").replace("\\", "/").rpartition("/")[2]
    return clear(text)[:LONGEST_NAME]
