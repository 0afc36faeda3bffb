from dissensus.posterior import Diagnostics, EpochReport
from dissensus.posterior.diagnostics import SamplerHealth
from dissensus.report import describe_health


def healthy(kinetic=1.03, clamped=0.0, right=1.0256):
    return SamplerHealth(0.01, 0.02, 0.03, clamped, kinetic, 0.98, right)


def reports(*last, network="decoder"):
    early = [EpochReport(chain, 1, -300.0, None, 1.0, {network: healthy(9.0)}) for chain in range(len(last))]
    late = [EpochReport(chain, 2, -200.0, None, 1.0, {network: h}) for chain, h in enumerate(last)]
    return tuple(early + late)


def told(*last, rhat=None, noise_floor=0.5):
    diagnostics = Diagnostics(reports(*last), rhat or {})
    return describe_health(diagnostics.health(), noise_floor)


def test_the_last_epoch_counts():
    health = Diagnostics(reports(healthy(1.0), healthy(1.2)), {5: 3.0, 6: 1.2}).health()
    assert health["networks"]["decoder"]["kinetic_temperature"] == 1.1
    assert health["rhat"] == 1.2


def test_what_is_not_sampled_has_no_health():
    plain = Diagnostics((EpochReport(0, 1, -300.0, None, 1.0),), {})
    assert plain.health() == {"networks": {}, "rhat": None, "merged_below": 1.1, "restarts": []}


def test_temperatures_in_words():
    assert "right temperature" in told(healthy(1.05))[0]
    assert "runs hot" in told(healthy(1.5))[0]
    assert "runs cold" in told(healthy(0.5))[0]
    assert "runs hot" in told(healthy(1.03, right=0.85))[0]  # each rule has a temperature of its own
    assert "right is 0.85" in told(healthy(1.03, right=0.85))[0]
    assert "injects noise everywhere" in told(healthy())[0]
    assert "in 30% of the weights" in told(healthy(clamped=0.3))[0]


def test_chains_in_words():
    assert "too few draws" in told(healthy())[1]
    assert "cannot be told apart" in told(healthy(), rhat={9: 1.01})[1]
    assert "have not merged (R̂ 1.60" in told(healthy(), rhat={8: 1.0, 9: 1.6})[1]


def test_noise_floor():
    assert told(healthy(), noise_floor=0.123)[-1].endswith("0.12 nats.")
