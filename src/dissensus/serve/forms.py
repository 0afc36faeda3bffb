"""Uploaded files: multipart bodies taken apart in memory; nothing of them touches a disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from dissensus.serve.refusals import Refusal, clear

if TYPE_CHECKING:
    from collections.abc import Iterator

    from python_multipart.multipart import MultipartCallbacks

__all__ = ["Upload", "parse_files"]

LONGEST_NAME = 200
STEP = 1 << 16  # bytes that are taken apart at once, which takes 15 ms where all are nearly boundaries
SPARE_PARTS = 8  # fields beside the files, which are ignored


class Upload(NamedTuple):
    """A file as it was sent."""

    name: str
    """For people only: it never names anything on this machine."""
    content: bytes


def parse_files(body: bytes, content_type: str, *, most: int) -> Iterator[list[Upload]]:
    """Yield the files of the form's field ``files`` that were found so far, in their order; in the end all.

    Each step takes a few milliseconds whatever the bytes are, so that others can have their turns in between.
    None and too many are refusals.
    """
    _, options = parse_options_header(content_type)
    boundary = options.get(b"boundary", b"")
    if not boundary:
        raise Refusal(400, "the Content-Type multipart/form-data names no boundary")
    form = _Form(most)
    try:
        parser = MultipartParser(boundary, form.callbacks())
        for start in range(0, len(body), STEP):
            parser.write(body[start : start + STEP])
            yield form.files
        parser.finalize()
    except (FormParserError, ValueError) as error:
        raise Refusal(400, "the body is no form in multipart/form-data, or it is cut off") from error
    if not form.complete:
        raise Refusal(400, "the form is cut off: its last boundary is missing")
    if not form.files:
        raise Refusal(422, "the form has no file in its field 'files'")
    yield form.files


class _Form:
    """Collects the parts of a form."""

    def __init__(self, most: int) -> None:
        self.files: list[Upload] = []
        self.complete = False
        self._most = most
        self._parts = 0
        self._header, self._value, self._disposition = b"", b"", b""
        self._content = bytearray()

    def callbacks(self) -> MultipartCallbacks:
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._on_field,
            "on_header_value": self._on_value,
            "on_header_end": self._on_header,
            "on_part_data": self._on_data,
            "on_part_end": self._end,
            "on_end": self._on_end,
        }

    def _begin(self) -> None:
        self._parts += 1
        if self._parts > self._most + SPARE_PARTS:
            raise Refusal(413, f"at most {self._most} files are taken at once: send fewer")
        self._disposition = b""
        self._content = bytearray()

    def _on_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = self._value
        self._header, self._value = b"", b""

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        self._content += data[start:end]

    def _end(self) -> None:
        _, options = parse_options_header(self._disposition.decode("latin-1"))
        if options.get(b"name") != b"files":
            return
        if len(self.files) == self._most:
            raise Refusal(413, f"at most {self._most} files are taken at once: send fewer")
        name = file_name(options.get(b"filename", b"")) or f"file {len(self.files)}"
        self.files.append(Upload(name, bytes(self._content)))

    def _on_end(self) -> None:
        self.complete = True


def file_name(raw: bytes) -> str:
    r"""What a person calls the file: without folders, control characters and endless length.

    >>> file_name(b"../../etc/pass\x00wd"), file_name(b"C:\\pictures\\a.png")
    ('pass wd', 'a.png')
    """
    text = raw.decode("utf-8", "replace").replace("\\", "/").rpartition("/")[2]
    return clear(text)[:LONGEST_NAME]
