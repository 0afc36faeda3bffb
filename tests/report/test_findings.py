import pytest

from dissensus.report import false_alarm_sentence, findings


def record_of(**kinds):
    """A record with (likelihood, disagreement) AUROCs, each known to ±0.03."""
    return {
        "settings": {"statistic": "kl", "false_alarm_rate": 0.05},
        "calibration_inputs": 900,
        "inliers": {"count": 300, "flagged": 12},
        "outliers": {
            kind: {
                "auroc": {
                    name: {"value": value, "low": value - 0.03, "high": value + 0.03}
                    for name, value in zip(("mean-ll", "kl"), pair, strict=True)
                }
            }
            for kind, pair in kinds.items()
        },
    }


def test_every_kind_is_judged_by_its_numbers():
    told = findings(
        record_of(digits=(0.3, 0.95), noise=(0.99, 0.8), flipped=(0.55, 0.57), blurred=(0.2, 0.1))
    )
    assert (
        told[0] == "Plain likelihood finds digits and blurred more normal than real clothes: AUROC below 0.5."
    )
    assert told[1] == "Disagreement (kl) beats likelihood in AUROC on digits (0.95 against 0.30)."
    assert told[2] == (
        "Likelihood beats disagreement (kl) in AUROC on noise (0.99 against 0.80), "
        "blurred (0.20 against 0.10)."
    )
    assert told[3] == (
        "Neither is of much use on flipped (0.55 against 0.57), blurred (0.20 against 0.10): "
        "likelihood first, then disagreement (kl)."
    )
    assert len(told) == 4


def test_a_difference_within_the_intervals_is_none():
    assert findings(record_of(a=(0.90, 0.94))) == [
        "Likelihood and disagreement (kl) do equally well on every kind here."
    ]
    assert "beats likelihood" in findings(record_of(a=(0.90, 0.97)))[0]


def test_what_beats_the_detector_without_a_model_is_said():
    record = record_of(a=(0.5, 0.90), b=(0.5, 0.90))
    for kind, area in (("a", 0.99), ("b", 0.92)):  # the second within the intervals
        record["outliers"][kind]["auroc"]["neighbours"] = {"value": area, "low": area - 0.03, "high": 1.0}
    assert findings(record)[-1] == (
        "The 5th nearest neighbour, without any model, beats disagreement (kl) on a (0.99 against 0.90)."
    )


@pytest.mark.parametrize("kinds", [{"a": (0.4, 0.9)}, {"a": (0.4, 0.9), "b": (0.4, 0.9), "c": (0.3, 0.9)}])
def test_lists_read_as_lists(kinds):
    first = findings(record_of(**kinds))[0]
    assert first.startswith(
        "Plain likelihood finds a more" if len(kinds) == 1 else "Plain likelihood finds a, b and c more"
    )


def test_false_alarms():
    assert false_alarm_sentence(record_of(a=(0.5, 0.5))) == (
        "12 of 300 unseen clothes were flagged: 4.0%, asked for 5% (chance allows 2.1% to 7.9%)."
    )
