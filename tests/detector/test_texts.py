"""A gate of texts, and its latent space."""

import numpy as np
import pytest
import torch

from dissensus import BayesianVAE, Detector
from dissensus.errors import DataError, SettingsError
from dissensus.inputs import Vocabulary
from dissensus.latent import LatentCodes

TEXTS = [f"{a} {op} {b}" for a in "xyz123" for b in "xyz123" for op in "+*-"]


@pytest.fixture(scope="module")
def gate():
    vocabulary = Vocabulary.of(TEXTS)
    asked = {"chains": 1, "draws": 3, "epochs": 8, "samples": 2, "false_alarm_rate": 0.2, "device": "cpu"}
    return Detector(embed=vocabulary, statistic="mean-ll", batch_size=16, **asked).fit(TEXTS)


@pytest.mark.filterwarnings("ignore::dissensus.errors.SamplerWarning")
class TestTexts:
    def test_is_saved_and_answers_the_same(self, gate, tmp_path):
        gate.save(tmp_path / "gate")
        again = Detector.load(tmp_path / "gate")
        np.testing.assert_array_equal(again.score_samples(TEXTS), gate.score_samples(TEXTS))
        z = gate.latent.encode(TEXTS[:9])
        assert torch.equal(again.latent.encode(TEXTS[:9]), z)
        assert torch.equal(again.latent.disagreement(z), gate.latent.disagreement(z))
        assert torch.equal(again.latent.p_values(z), gate.latent.p_values(z))
        assert torch.equal(again.latent.log_q(z), gate.latent.log_q(z))

    def test_points_decode_to_texts(self, gate):
        found = gate.latent.decode(gate.latent.sample(5))
        assert len(found) == 5
        assert all(isinstance(text, str) for text in found)

    def test_one_score_in_any_batch(self, gate):
        alone = [gate.score_samples([text])[0] for text in TEXTS[:4]]
        np.testing.assert_array_equal(alone, gate.score_samples(TEXTS)[:4])

    def test_an_explanation_names_the_places(self, gate):
        (found,) = gate.explain(["x x x"])
        assert found.to_dict()["disagreement"][0]["column"].startswith("symbol ")

    def test_acquires_different_ones(self, gate):
        pool = TEXTS[:30] * 2
        chosen = gate.acquire(pool, 10)
        assert len({pool[place] for place in chosen}) == 10

    def test_says_what_it_cannot_read(self, gate):
        with pytest.raises(DataError, match="'q'"):
            gate.predict(["x + q"])


class TestLatentSpaceOfAGate:
    def test_pictures_decode_to_pictures(self, picture_gate, pictures):
        space = picture_gate.latent
        z = space.encode(pictures[:3])
        assert z.shape == (3, 2)
        assert "of 2" in repr(space)
        assert space.decode(z).shape == (3, 10, 12, 1)
        assert picture_gate.latent is space

    def test_a_flow_has_none(self, rows):
        flow = Detector(
            model="realnvp", epochs=2, draws=2, false_alarm_rate=0.2, statistic="mean-ll", device="cpu"
        ).fit(rows)
        with pytest.raises(SettingsError, match="no latent space"):
            _ = flow.latent

    def test_none_of_the_training_codes_are_kept_where_none_are_to_be(self, quick, rows):
        gate = quick(neighbours=False).fit(rows)
        assert len(gate.learnt_.codes.means) == 0
        assert gate.latent.p_values(torch.zeros(1, 2)).shape == (1,)
        with pytest.raises(DataError, match="neighbours=True"):
            gate.latent.log_q(torch.zeros(1, 2))

    def test_they_are_kept_where_no_training_inputs_are_to_be_shown(self, quick, rows):
        gate = quick(examples=0).fit(rows)
        assert len(gate.examples_.inputs) == 0
        assert len(gate.learnt_.codes.means) == gate.learnt_.rows["train"]
        assert gate.latent.log_q(torch.zeros(1, 2)).isfinite().all()

    def test_they_are_of_what_the_encoder_makes_of_training_inputs(self, quick, rows, monkeypatch):
        monkeypatch.setattr("dissensus.detector.latent_space.MOST_TRAINING", 20)
        gate = quick().fit(rows)
        every, found = gate.latent.encode(rows), torch.from_numpy(gate.learnt_.codes.means)
        assert len(found) == 20
        assert (found[:, None] - every).norm(dim=2).min(dim=1).values.max() < 1e-5

    def test_held_out_codes_are_drawn_from_what_the_encoder_says(self, quick, rows):
        # Every held-out input is a training input too: only a draw is away from all means.
        gate = quick().fit(np.tile(rows, (20, 1)))
        codes = gate.learnt_.codes
        means, log_stds = torch.from_numpy(codes.means), torch.from_numpy(codes.log_stds)
        drawn = torch.from_numpy(codes.held_out)
        assert len(drawn) > 150
        off = ((drawn[:, None] - means) / log_stds.exp()).norm(dim=2).min(dim=1).values
        assert off.median() > 0.05

    def test_a_model_that_takes_no_symbols_is_refused(self):
        for asked in (
            Detector(model="maf", embed=Vocabulary.of(TEXTS)),
            BayesianVAE(embed=Vocabulary.of(TEXTS)),
        ):
            with pytest.raises(SettingsError, match="takes no symbols"):
                asked.fit(TEXTS)

    def test_damaged_codes_are_refused(self):
        from dissensus.errors import ArtifactError

        good = np.zeros((3, 2), np.float32)
        arrays = LatentCodes(good, good, good).arrays()
        assert LatentCodes.restore({}, 2) is None
        for name, wrong in (("latent/means", good[:1]), ("latent/held-out", good * np.nan)):
            with pytest.raises(ArtifactError, match="codes"):
                LatentCodes.restore(arrays | {name: wrong}, 2)
