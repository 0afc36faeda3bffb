from dataclasses import replace

from dissensus.posterior import Diagnostics, EpochReport
from dissensus.posterior.diagnostics import KappaBin, Restart, SamplerHealth
from dissensus.report import describe_health

NO_WEIGHTS = KappaBin(0, None)


def healthy(kinetic=1.03, clamped=0.0, right=1.0256, configurational=0.98, hot=1.0):
    bins = (KappaBin(90, 1.0), KappaBin(10, hot), NO_WEIGHTS, NO_WEIGHTS)
    return SamplerHealth(0.01, 0.02, 0.03, clamped, kinetic, configurational, right, bins)


def reports(*last, network="decoder", steps=400):
    early = [
        EpochReport(chain, 1, -300.0, None, 1.0, steps, True, {network: healthy(9.0)})
        for chain in range(len(last))
    ]
    late = [
        EpochReport(chain, 2, -200.0, None, 1.0, steps, False, {network: h}) for chain, h in enumerate(last)
    ]
    return tuple(early + late)


def told(*last, rhat=None, noise_floor=0.5, effective_size=None, warned=False, steps=400):
    diagnostics = Diagnostics(reports(*last, steps=steps), rhat or {}, effective_size)
    return describe_health(diagnostics.health(), noise_floor, warned=warned)


def test_the_last_epoch_counts():
    health = Diagnostics(reports(healthy(1.0), healthy(1.2)), {5: 3.0, 6: 1.2}).health()
    assert health["networks"]["decoder"]["kinetic_temperature"] == 1.1
    assert health["rhat"] == 1.2


def test_what_is_not_sampled_has_no_health():
    plain = Diagnostics((EpochReport(0, 1, -300.0, None, 1.0, 4, False),), {}).health()
    assert plain["networks"] == {}
    assert (plain["rhat"], plain["effective_size"], plain["restarts"]) == (None, None, [])
    assert (plain["verdict"]["judged"], plain["verdict"]["problems"]) == (False, ())
    fitted, _ = describe_health(plain, 0.5)
    assert fitted == "The weights were fitted, not sampled: there is no sampler to judge."


def test_the_verdict_comes_first():
    assert told(healthy())[0].startswith("The chains sample")
    assert told(healthy(configurational=3.0))[0].startswith("The draws are not from the posterior")
    assert "Too short to tell" in told(healthy(), steps=10)[0]


def test_what_was_said_already_is_not_said_again():
    loud, quiet = (told(healthy(configurational=3.0), warned=warned) for warned in (False, True))
    assert quiet == loud[1:]


def test_temperatures_in_words():
    (line,) = [line for line in told(healthy(1.05, hot=1.7)) if line.startswith("decoder")]
    assert "configurational temperature 0.98, kinetic 1.02 (right is 1, for both)" in line
    assert (
        "1.00 in the 90% of the weights with κ below 0.1, 1.70 in the 10% of the weights with κ of 0.1 to"
        in line
    )
    assert "above 1" not in line  # there are none
    assert "noise is injected everywhere" in line
    right = told(healthy(1.03, right=0.85))  # each rule has a temperature of its own
    assert any("kinetic 1.21" in line for line in right)
    assert any("in 30% of the weights the minibatch alone" in line for line in told(healthy(clamped=0.3)))


def test_chains_in_words():
    assert any("too few draws" in line for line in told(healthy()))
    assert any("cannot be told apart" in line for line in told(healthy(), rhat={9: 1.01}))
    apart = told(healthy(), rhat={8: 1.0, 9: 1.6}, effective_size=6.6)
    assert any("have not merged (R̂ 1.60" in line and "worth 7 independent" in line for line in apart)


def test_restarts_are_said_once():
    again = Restart(0, 3, "ran away", {"decoder": 0.005})
    diagnostics = replace(Diagnostics(reports(healthy())), restarts=(again,))
    lines = describe_health(diagnostics.health(), 0.5)
    assert sum("started again" in line for line in lines) == 1


def test_noise_floor():
    assert told(healthy(), noise_floor=0.123)[-1].endswith("0.12 nats.")
