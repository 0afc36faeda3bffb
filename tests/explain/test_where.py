"""The map of disagreement points at what is wrong with an input."""

import numpy as np
import pytest
import torch
from scipy.stats import binomtest
from torch.func import functional_call

from dissensus import BayesianVAE
from dissensus.explain import views
from dissensus.models.inputs import to_tensor

SIDE, PATCH = 16, 5


def _blobs(count, seed):
    """Pictures (count, 16, 16, 1) of one soft light each."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:SIDE, :SIDE]
    (cy, cx), size = random.uniform(4, 12, (2, count, 1, 1)), random.uniform(2, 4, (count, 1, 1))
    light = np.exp(-((y - cy) ** 2 + (x - cx) ** 2) / (2 * size**2))
    return (255 * light).astype(np.uint8)[..., None]


@pytest.fixture(scope="module")
def blob_gate():
    settings = {"widths": (8, 16), "latent_size": 4, "epochs": 12, "draws": 8, "samples": 4}
    return BayesianVAE(**settings, batch_size=32, device="cpu").fit(_blobs(600, 0))


@pytest.fixture(scope="module")
def linked_rows():
    """Rows (500, 6) of columns that move together, each in units of its own."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(500, 2)) @ random.normal(size=(2, 6)) + 0.3 * random.normal(size=(500, 6))
    return rows * [1, 10, 0.1, 5, 1000, 1] + [0, 5, 0, 100, -40, 3]


@pytest.fixture(scope="module")
def linked_gate(linked_rows):
    return BayesianVAE(epochs=40, draws=8, samples=4, device="cpu").fit(linked_rows[:400])


def test_a_corrupted_patch_holds_the_disagreement(blob_gate):
    random = np.random.default_rng(1)
    clean = _blobs(40, 2)
    corrupt, inside = clean.copy(), np.zeros((40, SIDE, SIDE), bool)
    for n, (top, left) in enumerate(random.integers(0, SIDE - PATCH, (40, 2)).tolist()):
        place = np.s_[n, top : top + PATCH, left : left + PATCH]
        inside[place] = True
        corrupt[place] = 255 - corrupt[place]
    before, after = (
        np.stack([e.disagreement for e in blob_gate.explain(images)]) for images in (clean, corrupt)
    )
    area = PATCH**2 / SIDE**2

    def share(maps):
        """Of each map's mass, how much lies in its patch (40,)."""
        return (maps * inside).sum((1, 2)) / maps.sum((1, 2))

    assert share(after).mean() > 3 * area
    assert (share(after) > area).mean() > 0.9
    assert binomtest(int((share(after) > share(before)).sum()), 40, alternative="greater").pvalue < 1e-4


@pytest.mark.parametrize("column", range(6))
def test_an_absurd_column_ranks_first(linked_gate, linked_rows, column):
    rows = linked_rows[400:420].copy()
    rows[:, column] += 12 * linked_rows[:, column].std()
    first = np.array([int(e.ranking[0]) for e in linked_gate.explain(rows)])
    assert np.mean(first == column) >= 0.9


def test_what_a_column_causes_is_its_part_of_the_score(linked_gate, linked_rows):
    row = linked_rows[450] + [0, 0, 0.5, 0, 0, 0]
    without = np.tile(row, (6, 1))
    np.fill_diagonal(without, linked_gate.preprocessor_.standardiser.mean)
    parts = linked_gate.score_samples(without) - linked_gate.score_samples(row[None])
    found = linked_gate.explain(row).disagreement
    np.testing.assert_allclose(found, np.maximum(parts, 0), rtol=1e-4, atol=1e-4)
    assert found.argmax() == 2


@pytest.mark.parametrize("variant", [1, 2])
@pytest.mark.parametrize("channels", [0, 1, 3])
def test_the_map_against_one_draw_at_a_time(variant, channels):
    random = np.random.default_rng(3)
    data = random.normal(size=(40, 5)) if not channels else random.random((40, 8, 9, channels))
    settings = {"widths": (8,), "latent_size": 2, "epochs": 3, "draws": 4, "samples": 2}
    gate = BayesianVAE(variant=variant, **settings, false_alarm_rate=0.5, device="cpu").fit(data)
    inputs = to_tensor(gate.preprocessor_.transform(data[:35].astype(np.float32 if channels else np.float64)))
    seen = views(gate.vae_, gate.draws_, inputs, reconstructions=3)
    vae, draws = gate.vae_, gate.draws_
    terms, means = [], []
    with torch.no_grad():
        for m in range(4):
            mean = functional_call(vae.encoder, draws.weights("encoder", m), (inputs,))
            mean = mean[0] if isinstance(mean, tuple) else mean[:, :2]
            output = functional_call(vae.decoder, draws.weights("decoder", m), (mean,))
            parameters = output.reshape(len(inputs), -1, *inputs.shape[1:])
            own = vae.observation.log_prob_terms(inputs, parameters).double().numpy()
            terms.append(own.sum(axis=1) if channels else own)
            picture = vae.observation.mean(parameters).numpy()
            means.append(picture.transpose(0, 2, 3, 1) if channels else picture)
    np.testing.assert_allclose(seen.disagreement, np.std(terms, axis=0), rtol=1e-3, atol=1e-6)
    # Three of four draws, evenly spread: 0, 1.5 → 2, 3.
    expected = np.stack([means[m] for m in (0, 2, 3)], axis=1)
    np.testing.assert_allclose(seen.reconstructions, expected, rtol=1e-4, atol=1e-5)
