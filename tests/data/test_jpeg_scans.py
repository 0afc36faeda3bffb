"""How many scans a JPEG holds, counted without decoding it."""

import io

import numpy as np
import pytest
from picture_bombs import jpeg_with_scans
from PIL import Image

from dissensus.data.image_file import read_image
from dissensus.errors import DataError

NOISE = np.random.default_rng(0).integers(0, 256, (40, 56, 3), np.uint8)


def jpeg(pixels=NOISE, **options):
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", **options)
    return buffer.getvalue()


def test_a_bomb_is_refused_in_one_sentence_that_names_the_file(tmp_path):
    path = tmp_path / "bomb.jpg"
    path.write_bytes(jpeg_with_scans(64, 2000))
    with pytest.raises(DataError, match=r"bomb\.jpg .*scans.*save it again"):
        read_image(path)
