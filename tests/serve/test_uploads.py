"""Forms and pictures: what is taken apart, what is refused, and before what cost."""

import asyncio
import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from dissensus.inputs.image_file import decode_image
from dissensus.inputs.picture_cost import picture_format
from dissensus.serve.forms import Upload, file_name, parse_files
from dissensus.serve.images import PictureReader
from dissensus.serve.refusals import Refusal

SHAPE = (8, 8, 1)
KIND = "multipart/form-data; boundary=edge"


def read(*contents, convert=False, resize=None, shape=SHAPE, most_pixels=10_000):
    uploads = [Upload(str(number), content) for number, content in enumerate(contents)]
    reader = PictureReader(shape, resize=resize, convert=convert, most_pixels=most_pixels)
    return asyncio.run(reader.read(uploads, Here(), Here()))


class Here:
    """Decodes without a thread and without a process."""

    async def in_turns(self, work):
        return list(work)

    async def decode(self, content, **options):
        del options["most_bytes"]
        return decode_image(io.BytesIO(content), **options)


def saved(pixels, kind, **options):
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind, **options)
    return buffer.getvalue()


GREY = np.arange(64, dtype=np.uint8).reshape(8, 8)


@pytest.mark.parametrize("kind", ["PNG", "BMP", "GIF", "JPEG", "WEBP"])
def test_taken_formats(kind):
    content = saved(GREY, kind)
    assert picture_format(content) == kind
    found = read(content, convert=True)
    assert found.problems == {}
    assert found.pixels.shape == (1, *SHAPE)
    np.testing.assert_allclose(found.pixels[0, ..., 0], GREY, atol=4)


@pytest.mark.parametrize("kind", ["TIFF", "PPM", "TGA", "ICO", "PCX", "PDF", "SGI", "DDS"])
def test_other_formats_are_refused_by_their_first_bytes(kind):
    content = saved(np.stack([GREY] * 3, -1), kind)
    assert "no picture" in read(content).problems[0]


def test_one_formats_head_on_anothers_body_is_refused():
    for head in (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"BM", b"RIFF\0\0\0\0WEBP"):
        assert list(read(head + saved(GREY, "TIFF")).problems) == [0]


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def bomb(width, height):
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    packed = zlib.compress(b"\0" * 1000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


@pytest.mark.parametrize("size", [(101, 100), (30_000, 30_000), (2**31 - 1, 2**31 - 1), (1, 1 << 30)])
def test_bombs_are_refused_before_they_are_unpacked(size):
    (problem,) = read(bomb(*size)).problems.values()
    assert "pixels" in problem


def test_truncated_at_every_length():
    noise = np.random.default_rng(0).integers(0, 256, (8, 8), np.uint8)
    for kind in ("PNG", "BMP", "GIF", "WEBP"):
        content = saved(noise, kind)
        for length in range(0, int(0.8 * len(content)), 7):
            assert list(read(content[:length]).problems) == [0], (kind, length)


def test_sizes_and_colours():
    colours = np.random.default_rng(0).integers(0, 256, (8, 8, 3), np.uint8)
    large, rgb = saved(np.zeros((16, 16), np.uint8), "PNG"), saved(colours, "PNG")
    assert "16×16" in read(large).problems[0]
    assert "convert=true" in read(large).problems[0]
    assert "the picture is in colour" in read(rgb).problems[0]
    assert read(large, resize=(8, 8)).problems == {}
    assert read(large, rgb, convert=True).pixels.shape == (2, *SHAPE)
    assert read(saved(GREY, "PNG"), shape=(8, 8, 3)).pixels.shape == (1, 8, 8, 3)


def form(*parts, end=b"--edge--\r\n"):
    body = b""
    for disposition, content in parts:
        body += b"--edge\r\nContent-Disposition: form-data; " + disposition + b"\r\n\r\n" + content + b"\r\n"
    return body + end


def test_files_in_their_order_and_nothing_else():
    body = form(
        (b'name="other"; filename="x"', b"no"),
        (b'name="files"; filename="a.png"', b"\r\none\r\n--edg"),
        (b'name="files"; filename="b.png"', b""),
        (b'name="note"', b"text"),
        (b'name="files"', b"no name"),
    )
    assert list(parse_files(body, KIND, most=3))[-1] == [
        ("a.png", b"\r\none\r\n--edg"),
        ("b.png", b""),
        ("file 2", b"no name"),
    ]


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"", KIND, 400),
        (b"nonsense", KIND, 400),
        (form((b'name="files"; filename="a"', b"x"), end=b""), KIND, 400),
        (form((b'name="files"; filename="a"', b"x")), "multipart/form-data", 400),
        (form((b'name="files"; filename="a"', b"x")), f"{KIND}{'x' * 1000}", 400),
        (form((b'name="other"; filename="a"', b"x")), KIND, 422),
        (form(*[(b'name="files"; filename="a"', b"x")] * 4), KIND, 413),
        (form(*[(b'name="note"', b"x")] * 100), KIND, 413),
        (form((b'name="files"; filename="' + b"a" * 100_000 + b'"', b"x")), KIND, 400),
    ],
)
def test_forms_that_are_refused(body, kind, status):
    with pytest.raises(Refusal) as refusal:
        list(parse_files(body, kind, most=3))
    assert refusal.value.status == status


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (b"a.png", "a.png"),
        (b"../../etc/passwd", "passwd"),
        (b"..\\..\\boot.ini", "boot.ini"),
        (b"/", ""),
        ("ä😀.png".encode(), "ä😀.png"),
        (b"\xff\xfe.png", "��.png"),
        (b"a\r\nSet-Cookie: x", "a Set-Cookie: x"),
        (b"x" * 1000, "x" * 200),
    ],
)
def test_names_of_files(raw, name):
    assert file_name(raw) == name
