import numpy as np
import pytest

from dissensus.errors import DataError
from dissensus.inputs import SPECTRUM, load_sample, rotated, spectrum, spectrum_names


def energy(plane):
    """Of every frequency, by the definition of the cosine transform: (H, W) → (H, W)."""
    height, width = plane.shape

    def waves(side):
        k, n = np.mgrid[:side, :side]
        return np.cos(np.pi * k * (2 * n + 1) / (2 * side)) * np.sqrt(np.where(k == 0, 1, 2) / side)

    return (waves(height) @ plane @ waves(width).T) ** 2


def by_definition(image):
    """(H, W, C) → every statistic, frequency by frequency."""
    height, width, channels = image.shape
    x = image / 255
    mean = x.mean(axis=2)
    kinds = {"detail": energy(mean)}
    if channels > 1:
        kinds["colour"] = sum(energy(x[..., c] - mean) for c in range(channels))
    rounding = 1 / 12 / 255**2
    sums: dict[str, float] = {}
    for kind, energies in kinds.items():
        for u in range(height):
            for v in range(width):
                down, across = u / height, v / width
                radius = np.sqrt(down**2 + across**2)
                band = 1 + sum(radius >= edge for edge in (0.04, 0.1, 0.2, 0.4, 0.7))
                names = [f"{kind}-{band}"]
                if kind == "detail" and down != across:
                    part = "fine" if radius >= 0.2 else "coarse"
                    names.append(f"{part} {'upright' if across > down else 'flat'}")
                for name in names:
                    sums[name] = sums.get(name, 0.0) + energies[u, v] + rounding
    found = {name: np.log(value) for name, value in sums.items() if " " not in name}
    for part in ("coarse", "fine"):
        if f"{part} upright" in sums:
            found[f"direction-{part}"] = np.log(sums[f"{part} upright"] / sums[f"{part} flat"])
    return found


@pytest.mark.parametrize("shape", [(28, 28, 1), (32, 32, 3), (9, 14, 1), (4, 4, 3)])
def test_statistics_are_those_of_the_definition(shape):
    images = np.random.default_rng(0).integers(0, 256, (3, *shape), np.uint8)
    found = spectrum(images)
    assert tuple(found) == spectrum_names(shape)
    assert set(found) <= set(SPECTRUM)
    for n, image in enumerate(images):
        expected = by_definition(image)
        assert set(expected) == set(found)
        for name, value in expected.items():
            assert found[name][n] == pytest.approx(value, rel=1e-9), name


def test_each_statistic_answers_to_what_it_names():
    clothes = load_sample()[1].images[:50, ..., None]
    coloured = np.concatenate([clothes, clothes // 2, clothes // 4], axis=3)
    faint = (clothes // 2 + 60).astype(np.uint8)
    plain, turned = spectrum(clothes), spectrum(rotated(clothes[..., 0])[..., None])
    for name, values in turned.items():
        sign = -1 if name.startswith("direction") else 1
        np.testing.assert_allclose(values, sign * plain[name], atol=1e-6)
    assert (spectrum(faint)["detail-5"] < plain["detail-5"]).all()
    grey = spectrum(np.repeat(clothes, 3, axis=3))
    assert (spectrum(coloured)["colour-4"] > grey["colour-4"] + 3).all()
    for name, values in plain.items():
        np.testing.assert_allclose(grey[name], values, atol=1e-9)


def test_what_an_image_gets_does_not_depend_on_company(monkeypatch):
    images = np.random.default_rng(0).integers(0, 256, (9, 28, 28, 3), np.uint8)
    together = spectrum(images)
    monkeypatch.setattr("dissensus.inputs.spectra.CHUNK", 4 * images[0].size)
    for name, values in spectrum(images).items():
        np.testing.assert_array_equal(values, together[name])
    for n in range(9):
        for name, value in spectrum(images[n : n + 1]).items():
            assert value[0] == together[name][n]
    assert all(values.shape == (0,) for values in spectrum(images[:0]).values())


def test_nothing_has_a_spectrum_too():
    for shade in (0, 255):
        found = spectrum(np.full((1, 16, 16, 3), shade, np.uint8))
        assert all(np.isfinite(values).all() for values in found.values())
        assert found["detail-6"][0] < -5


@pytest.mark.parametrize(
    "images", [np.zeros((2, 8, 8), np.uint8), np.zeros((2, 8, 8, 1)), np.zeros((1, 0, 8, 1), np.uint8)]
)
def test_what_is_no_image_is_refused(images):
    with pytest.raises(DataError, match="uint8 images"):
        spectrum(images)
