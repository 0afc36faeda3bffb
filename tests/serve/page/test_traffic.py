"""The live view of what anybody asked."""

import json
from urllib.request import Request, urlopen

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect


@pytest.fixture
def ask(address):
    """Another client: scores rows with the second gate, or reads its traffic."""

    def call(rows=None):
        if rows is None:
            request = f"{address}/traffic?gate=measurements"
        else:
            body = json.dumps({"rows": rows}).encode()
            request = Request(
                f"{address}/score?gate=measurements", body, {"Content-Type": "application/json"}
            )
        with urlopen(request) as answer:
            return json.load(answer)

    return call


def test_what_others_ask_appears_by_itself(visit, ask):
    ask([[0, 5, 0]] * 3)
    page = visit().ready().page
    page.get_by_label("Gate", exact=True).select_option("measurements")
    before = len(ask()["recent"])
    expect(page.locator("#traffic-plot .mark")).to_have_count(before)
    ask([[0.1, 4, 0.02], [99, 99, 99]])
    expect(page.locator("#traffic-plot .mark")).to_have_count(before + 2)
    recent = ask()["recent"]
    slider = page.get_by_role("slider", name="False-alarm rate")
    for key, rate in (("Home", None), ("End", 0.5)):
        slider.press(key)
        rate = rate or float(slider.get_attribute("aria-valuetext").split("%")[0]) / 100
        expected = sum(one["p_value"] <= rate for one in recent)
        expect(page.locator("#traffic-plot .mark.flagged")).to_have_count(expected)
        expect(page.locator("#what-if-note")).to_contain_text(f"{expected} of {len(recent)}")
    flagged = sum(one["flagged"] for one in recent)
    expect(page.locator("#flagged-note")).to_contain_text(f"{flagged} of {len(recent)}; at most 10% promised")


def test_drift_raises_an_alarm_in_words(visit, ask):
    page = visit().ready().page
    page.get_by_label("Gate", exact=True).select_option("measurements")
    for _ in range(40):
        ask([[50, -200, 9]] * 5)
        if ask()["drift"]["alarm"]:
            break
    expect(page.locator("#drift-state")).to_contain_text("Alarm: inputs have drifted")
    expect(page.locator("#drift-note")).to_contain_text("score higher than the calibration inputs did")
    expect(page.locator("#drift-note")).to_contain_text("dissensus calibrate")
    expect(page.get_by_role("meter")).to_have_attribute(
        "aria-label", "Evidence of drift, as a share of what raises the alarm"
    )
    expect(page.locator("#flagged-note")).to_contain_text("More than chance explains.")


HIDE = """hidden => {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_a_hidden_page_asks_nothing_and_a_seen_one_again(visit):
    seen = visit().ready()
    seen.page.clock.install()
    with seen.page.expect_response("**/traffic*"):
        seen.page.evaluate(HIDE, False)
    with seen.page.expect_response("**/traffic*"):
        seen.page.clock.run_for(2100)
    seen.page.evaluate(HIDE, True)
    before = seen.calls("/traffic")
    seen.page.clock.run_for(30_000)
    assert seen.calls("/traffic") == before
    with seen.page.expect_response("**/traffic*"):
        seen.page.evaluate(HIDE, False)


def test_a_server_that_is_gone_is_named(visit):
    seen = visit(expected=("ERR_FAILED",)).ready()
    words = seen.page.locator("#traffic-words")
    seen.page.route("**/traffic*", lambda route: route.abort())
    seen.page.evaluate(HIDE, False)  # it looks at once
    expect(words).to_contain_text("does not answer")
    seen.page.unroute("**/traffic*")
    seen.page.evaluate(HIDE, False)
    expect(words).not_to_contain_text("does not answer")
