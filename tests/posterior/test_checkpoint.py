"""Interrupted runs resume to the same bits; what does not fit or is damaged is refused in one sentence."""

import errno
import os

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

import dissensus.atomic
import dissensus.posterior.checkpoint
from dissensus.errors import CheckpointError, OutputError
from dissensus.models import VAE, Gaussian
from dissensus.posterior import SGHMC, SamplingSettings, sample_posterior

VARIANTS = {
    "variant 1": SamplingSettings.variant_1(epochs=7, burn_in=2, thinning=1, chains=2, batch_size=50),
    "variant 2": SamplingSettings.variant_2(epochs=7, burn_in=2, thinning=2, chains=2, batch_size=50),
    "ensemble": SamplingSettings.ensemble(2, 5, batch_size=50),
}
every_variant = pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS)
SETTINGS = VARIANTS["variant 1"]


class Crash(BaseException):
    """Stands for the death of the process: nothing may catch it."""


def interrupt_after(epoch):
    def on_epoch(reports):
        if reports[0].epoch == epoch:
            raise KeyboardInterrupt

    return on_epoch


def assert_same_run(a, b):
    assert a.parts.keys() == b.parts.keys()
    for part in a.parts:
        first, second = a.parts[part].stacks, b.parts[part].stacks
        assert first.keys() == second.keys()
        assert all(torch.equal(first[name][:], second[name][:]) for name in first)
        assert a.parts[part].of.tolist() == b.parts[part].of.tolist()
    assert (a.chain.tolist(), a.epoch.tolist()) == (b.chain.tolist(), b.epoch.tolist())
    assert a.diagnostics.rhat == b.diagnostics.rhat
    assert [{**r.to_dict(), "seconds": 0} for r in a.diagnostics.reports] == [
        {**r.to_dict(), "seconds": 0} for r in b.diagnostics.reports
    ]


@pytest.fixture
def interrupted(vectors, vector_vae, tmp_path):
    """A folder with a run that was stopped after epoch 3 of 7."""
    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        sample_posterior(
            vector_vae, vectors, SETTINGS, seed=0, checkpoint=folder, on_epoch=interrupt_after(3)
        )
    return folder


def refused(vae, data, settings=SETTINGS, *, seed=0, **rest):
    """The one sentence with which a run is refused."""
    with pytest.raises((CheckpointError, OutputError)) as caught:
        sample_posterior(vae, data, settings, seed=seed, **rest)
    message = str(caught.value)
    assert "\n" not in message
    return message


@every_variant
def test_resumes_to_the_same_bits_from_every_epoch(vectors, vector_vae, tmp_path, settings):
    def run(**rest):
        return sample_posterior(vector_vae, vectors, settings, seed=0, held_out=vectors[:20], **rest)

    whole = run()
    for stop in range(1, settings.epochs + 1):
        with pytest.raises(KeyboardInterrupt):
            run(checkpoint=tmp_path / str(stop), on_epoch=interrupt_after(stop))
        epochs = []
        resumed = run(
            checkpoint=tmp_path / str(stop),
            on_epoch=lambda reports, seen=epochs: seen.append(reports[0].epoch),
        )
        assert epochs == list(range(stop + 1, settings.epochs + 1))
        assert_same_run(resumed, whole)


@pytest.mark.parametrize("before", [True, False], ids=["before the rename", "after the rename"])
@every_variant
def test_a_crash_at_any_write_resumes_to_the_same_bits(
    vectors, vector_vae, tmp_path, monkeypatch, settings, before
):
    """Also between a draw and the state that counts it."""
    settings = settings.with_(epochs=3, burn_in=min(settings.burn_in, 3))
    whole = sample_posterior(vector_vae, vectors, settings, seed=0)
    writes = settings.draws + settings.epochs
    for fatal in range(writes):
        folder, count = tmp_path / str(fatal), iter(range(10**6))

        def replace(source, target, fatal=fatal, count=count):
            crash = next(count) == fatal
            if crash and before:
                raise Crash
            source.rename(target)
            if crash:
                raise Crash

        with monkeypatch.context() as patch:
            patch.setattr(dissensus.atomic.os, "replace", replace)
            with pytest.raises(Crash):
                sample_posterior(vector_vae, vectors, settings, seed=0, checkpoint=folder)
        assert_same_run(sample_posterior(vector_vae, vectors, settings, seed=0, checkpoint=folder), whole)
    assert fatal + 1 == writes


def test_a_finished_run_is_only_read(vectors, vector_vae, tmp_path):
    first = sample_posterior(vector_vae, vectors, SETTINGS, seed=0, checkpoint=tmp_path)
    stamps = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}

    def never(reports):
        pytest.fail("a finished run must not go on")

    again = sample_posterior(vector_vae, vectors, SETTINGS, seed=0, checkpoint=tmp_path, on_epoch=never)
    assert_same_run(first, again)
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == stamps


def test_a_checkpoint_changes_nothing(vectors, vector_vae, tmp_path):
    kept = sample_posterior(vector_vae, vectors, SETTINGS, seed=0, checkpoint=tmp_path / "a" / "b")
    assert_same_run(kept, sample_posterior(vector_vae, vectors, SETTINGS, seed=0))


@pytest.mark.parametrize(
    "changed",
    [
        {"epochs": 8},
        {"burn_in": 3},
        {"thinning": 2},
        {"chains": 3},
        {"batch_size": 40},
        {"temperature": 0.5},
        {"adaptation": 1},
        {"rule": SGHMC(step_size=0.02)},
        {"inference": None},
    ],
    ids=str,
)
def test_other_settings_are_refused(interrupted, vectors, vector_vae, changed):
    message = refused(vector_vae, vectors, SETTINGS.with_(**changed), checkpoint=interrupted)
    assert str(interrupted) in message
    assert "other settings or data" in message


def test_other_data_seed_or_model_is_refused(interrupted, vectors, vector_vae):
    one_off = vectors.clone()
    one_off[150, 3] += 1e-3
    wider = VAE(vector_vae.encoder, nn.Linear(2, 6), Gaussian(scale=0.5), (6,), 2)
    sharper = VAE(vector_vae.encoder, vector_vae.decoder, Gaussian(scale=0.4), (6,), 2)
    for message in (
        refused(vector_vae, one_off, checkpoint=interrupted),
        refused(vector_vae, vectors[:-1], checkpoint=interrupted),
        refused(vector_vae, vectors.flip(0), checkpoint=interrupted),
        refused(vector_vae, vectors, seed=1, checkpoint=interrupted),
        refused(vector_vae, vectors, held_out=vectors[:5], checkpoint=interrupted),
        refused(wider, vectors, checkpoint=interrupted),
        refused(sharper, vectors, checkpoint=interrupted),
    ):
        assert str(interrupted) in message
        assert "other settings or data" in message


class Bias(nn.Module):
    """A user's decoder, which no configuration describes."""

    def __init__(self, value, size=6):
        super().__init__()
        self.value = nn.Parameter(torch.full((size,), value))

    def forward(self, z):
        return self.value[:6].expand(len(z), 6)


def test_custom_networks_are_told_apart_by_what_they_start_from(vectors, vector_vae, tmp_path):
    def vae(*decoder):
        return VAE(vector_vae.encoder, Bias(*decoder), Gaussian(scale=0.5), (6,), 2)

    draws = sample_posterior(vae(0.0), vectors, SETTINGS, seed=0, checkpoint=tmp_path)
    assert_same_run(draws, sample_posterior(vae(0.0), vectors, SETTINGS, seed=0, checkpoint=tmp_path))
    for other in (vae(1.0), vae(0.0, 7)):
        assert "other settings or data" in refused(other, vectors, checkpoint=tmp_path)


def truncate(path):
    path.write_bytes(path.read_bytes()[:-100])


def cut_header(path):
    path.write_bytes(path.read_bytes()[:30])


def empty(path):
    path.write_bytes(b"")


def garbage(path):
    path.write_bytes(bytes(range(256)) * 20)


def flip_a_bit_of_the_weights(path):
    content = bytearray(path.read_bytes())
    content[-200] ^= 1
    path.write_bytes(content)


def foreign(path):
    save_file({"weights": torch.zeros(3)}, path, metadata={"format": "pt"})


def no_metadata(path):
    save_file({"weights": torch.zeros(3)}, path)


@pytest.mark.parametrize(
    "damage", [truncate, cut_header, empty, garbage, flip_a_bit_of_the_weights, foreign, no_metadata]
)
@pytest.mark.parametrize("name", ["state.safetensors", "draw-chain001-epoch00002.safetensors"])
def test_damaged_files_are_refused_by_name(interrupted, vectors, vector_vae, name, damage):
    damage(interrupted / name)
    message = refused(vector_vae, vectors, checkpoint=interrupted)
    assert str(interrupted / name) in message
    assert f"remove {interrupted}" in message


def test_a_missing_draw_is_refused_by_name(interrupted, vectors, vector_vae):
    (interrupted / "draw-chain001-epoch00003.safetensors").unlink()
    message = refused(vector_vae, vectors, checkpoint=interrupted)
    assert str(interrupted) in message
    assert "draw-chain001-epoch00003" in message


def test_a_draw_of_another_run_is_refused(interrupted, vectors, vector_vae, tmp_path):
    sample_posterior(vector_vae, vectors, SETTINGS, seed=1, checkpoint=tmp_path / "other")
    name = "draw-chain000-epoch00003.safetensors"
    (interrupted / name).write_bytes((tmp_path / "other" / name).read_bytes())
    assert name in refused(vector_vae, vectors, checkpoint=interrupted)


def test_a_file_in_the_way_of_the_folder(vectors, vector_vae, tmp_path):
    blocked = tmp_path / "blocked"
    blocked.write_text("not a folder")
    for folder in (blocked, blocked / "below"):
        assert str(folder) in refused(vector_vae, vectors, checkpoint=folder)
    assert blocked.read_text() == "not a folder"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(vectors, vector_vae, tmp_path):
    tmp_path.chmod(0o500)
    try:
        assert str(tmp_path) in refused(vector_vae, vectors, checkpoint=tmp_path)
    finally:
        tmp_path.chmod(0o700)


def test_disk_full_is_an_error_and_the_previous_checkpoint_still_loads(
    interrupted, vectors, vector_vae, monkeypatch
):
    def full(tensors, path, metadata=None):
        path.write_bytes(b"the first half of")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = {path.name: path.read_bytes() for path in interrupted.iterdir()}
    with monkeypatch.context() as patch:
        patch.setattr(dissensus.posterior.checkpoint, "save_file", full)
        message = refused(vector_vae, vectors, checkpoint=interrupted)
    assert str(interrupted) in message
    assert os.strerror(errno.ENOSPC) in message
    assert {path.name: path.read_bytes() for path in interrupted.iterdir()} == before
    resumed = sample_posterior(vector_vae, vectors, SETTINGS, seed=0, checkpoint=interrupted)
    assert_same_run(resumed, sample_posterior(vector_vae, vectors, SETTINGS, seed=0))


def test_leftovers_of_a_killed_process_are_cleaned_and_nothing_else(interrupted, vectors, vector_vae):
    leftovers = [
        interrupted / ".state.safetensors.abc123.tmp",
        interrupted / ".draw-chain000-epoch00004.safetensors.xyz.tmp",
    ]
    for path in leftovers:
        path.write_bytes(b"half a file")
    strangers = [interrupted / "notes.tmp", interrupted / ".hidden"]
    for path in strangers:
        path.write_text("mine")
    resumed = sample_posterior(vector_vae, vectors, SETTINGS, seed=0, checkpoint=interrupted)
    assert_same_run(resumed, sample_posterior(vector_vae, vectors, SETTINGS, seed=0))
    assert not any(path.exists() for path in leftovers)
    assert all(path.read_text() == "mine" for path in strangers)


def test_leftovers_of_another_run_are_not_touched(interrupted, vectors, vector_vae):
    """That run may be alive and about to rename them."""
    (interrupted / ".state.safetensors.abc123.tmp").write_bytes(b"half a file")
    refused(vector_vae, vectors, seed=1, checkpoint=interrupted)
    assert (interrupted / ".state.safetensors.abc123.tmp").exists()
