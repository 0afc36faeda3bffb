import pytest

from dissensus.cli.options import parse_size
from dissensus.errors import SettingsError


def test_sizes():
    assert parse_size(None) is None
    assert parse_size("28x32") == (28, 32)
    assert parse_size(" 28X32 ") == (28, 32)


@pytest.mark.parametrize("text", ["", "28", "28x", "x28", "0x8", "8x-8", "8.5x8", "8x8x3", "999999x8"])
def test_no_sizes(text):
    with pytest.raises(SettingsError, match="as in 64x64"):
        parse_size(text)
