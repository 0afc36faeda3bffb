"""The slider: what would have been flagged at another false-alarm rate."""

import numpy as np
import pytest
from scipy import stats

from dissensus.decisions import conformal_threshold

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

THRESHOLDS = """async ([count, scores, rates]) => {
  const { Calibration } = await import("/static/calibration.js");
  const calibration = new Calibration({ count, scores });
  return rates.map((rate) => calibration.threshold(rate));
}"""


def test_moving_the_slider_changes_who_is_flagged(visit, clothes, picture_gate, file):
    pixels = np.concatenate([clothes[:5], 255 - clothes[:1]])
    p_values = picture_gate.p_values(pixels)
    seen = visit().ready()
    page, slider = seen.page, seen.page.get_by_role("slider", name="False-alarm rate")
    seen.choose(*(file(f"{number}.png", one) for number, one in enumerate(pixels)))
    expect(slider).to_have_attribute("aria-valuetext", "5%, 1 in 20")
    before = page.locator("#distribution .threshold").get_attribute("x1")
    slider.focus()
    counts = set()
    for key, rate in (("End", 0.5), ("ArrowLeft", 0.4), ("ArrowLeft", 0.3), ("Home", 0.012)):
        slider.press(key)
        expected = int((p_values <= rate).sum())
        counts.add(expected)
        expect(page.locator("#answers-summary")).to_have_text(
            f"6 inputs: {expected} flagged, {6 - expected} pass"
        )
        expect(page.locator(".card[data-state=flagged]")).to_have_count(expected)
        expect(page.locator("#distribution .mark.flagged")).to_have_count(expected)
    assert len(counts) > 1, "the test needs rates that differ"
    assert float(page.locator("#distribution .threshold").get_attribute("x1")) > float(before)
    slider.press("End")
    asides = page.locator(".card .aside:visible")
    expect(asides).to_have_count(int(((p_values <= 0.5) & (p_values > 0.05)).sum()))
    expect(asides.first).to_have_text("The gate itself, at 5%, lets it pass.")
    page.get_by_role("button", name="Back to the gate’s own 5%").click()
    expect(slider).to_be_focused()
    expect(page.locator(".card[data-state=flagged]")).to_have_count(int((p_values <= 0.05).sum()))
    assert page.locator("#distribution .threshold").get_attribute("x1") == before


def test_thresholds_are_the_library_s(modules):
    scores = np.sort(np.random.default_rng(1).gamma(2, size=400))
    rates = [0.0001, 0.0025, 0.01, 0.05, 0.0999, 0.3, 0.5]
    found = modules(THRESHOLDS, [len(scores), scores.tolist(), rates])
    assert found == pytest.approx([conformal_threshold(scores, rate) for rate in rates])
    many = np.sort(np.random.default_rng(1).gamma(2, size=40_001))
    thinned = modules(THRESHOLDS, [len(many), many[::100].tolist(), rates[2:]])
    assert thinned == pytest.approx([conformal_threshold(many, rate) for rate in rates[2:]], rel=0.01)


def test_words_and_chances(modules):
    tails = [[0, 5, 0.1], [1, 5, 0.1], [9, 120, 0.05], [40, 400, 0.05], [500, 500, 0.9]]
    script = """async (tails) => {
      const { chanceOf, meaning, number, percent } = await import("/static/words.js");
      return {
        chances: tails.map((tail) => chanceOf(...tail)),
        meanings: [[0.004, 9999], [0.42, 900], [1 / 901, 900], [1, 900]].map((x) => meaning(...x)),
        numbers: [0, 1234.5, 0.00123, -1.5e-7, Infinity, null].map(number),
        percents: [0.05, 0.0012, 0.333333].map(percent),
      };
    }"""
    found = modules(script, tails)
    expected = [stats.binom.sf(least - 1, tests, rate) for least, tests, rate in tails]
    assert found["chances"] == pytest.approx(expected, rel=1e-6, abs=1e-12)
    assert found["meanings"] == [
        "Inputs like the training data score this high 1 time in 250.",
        "Inputs like the training data score this high 42 times in 100.",
        "Inputs like the training data score this high at most 1 time in 901.",
        "Inputs like the training data score this high almost every time.",
    ]
    assert found["numbers"] == ["0", "1,235", "0.00123", "-1.5e-7", "infinite", "unknown"]
    assert found["percents"] == ["5%", "0.12%", "33.3%"]
