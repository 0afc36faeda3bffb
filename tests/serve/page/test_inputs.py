"""Handing over pictures, and what the page says about them."""

import base64

import numpy as np
import pytest

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

HAND_OVER = """([content, kind]) => {
  const carried = new DataTransfer();
  for (const [name, base64] of content) {
    const bytes = Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
    carried.items.add(new File([bytes], name, { type: "image/png" }));
  }
  const options = { bubbles: true, cancelable: true };
  const event = kind === "paste"
    ? new ClipboardEvent("paste", { ...options, clipboardData: carried })
    : new DragEvent(kind, { ...options, dataTransfer: carried });
  document.querySelector("#drop").dispatchEvent(event);
}"""


def hand_over(page, kind, *files):
    content = [[one["name"], base64.b64encode(one["buffer"]).decode()] for one in files]
    page.evaluate(HAND_OVER, [content, kind])


def test_verdicts_are_the_library_s(visit, clothes, picture_gate, file):
    pixels = np.stack([clothes[0], clothes[1], 255 - clothes[0], 255 - clothes[1]])
    p_values, flagged = picture_gate.p_values(pixels), picture_gate.predict(pixels) == -1
    assert 0 < flagged.sum() < len(pixels), "the test needs both kinds"
    seen = visit().ready()
    seen.choose(*(file(f"{number}.png", one) for number, one in enumerate(pixels)))
    for number in range(len(pixels)):
        card = seen.card(f"{number}.png")
        expect(card.locator(".verdict strong")).to_have_text("Flagged" if flagged[number] else "Passes")
        assert float(card.locator(".p-value").inner_text()) == pytest.approx(p_values[number], rel=6e-3)
    assert seen.calls("/score") == 1, "several files are asked about in one call"
    rarest = seen.card(f"{int(np.argmin(p_values))}.png")
    often = f"1 time in {round(1 / p_values.min())}."
    expect(rarest.locator(".meaning")).to_contain_text(often)


def test_dropped_and_pasted_pictures_get_cards(visit, clothes, file):
    seen = visit().ready()
    hand_over(seen.page, "dragenter", file("a.png", clothes[0]))
    expect(seen.page.locator("#drop")).to_have_class("drop over")
    hand_over(seen.page, "drop", file("a.png", clothes[0]), file("b.png", clothes[1]))
    expect(seen.page.locator("#drop")).to_have_class("drop")
    seen.answered(2)
    hand_over(seen.page, "paste", file("image.png", clothes[2]))
    seen.answered(3)
    expect(seen.card("pasted-1.png").locator(".verdict strong")).to_have_text("Passes")


def test_a_still_of_the_camera(visit):
    seen = visit().ready()
    seen.page.get_by_role("button", name="Use the camera").click()
    seen.page.wait_for_function("() => document.querySelector('#camera-view').videoWidth > 0")
    seen.page.get_by_role("button", name="Take a still").click()
    seen.answered(1)
    expect(seen.card("camera-1.png").locator(".p-value")).to_be_visible()
    assert seen.page.evaluate("document.querySelector('#camera-view').srcObject") is None, (
        "it is switched off"
    )


def test_a_corrupt_file_spoils_nothing_but_itself(visit, clothes, file):
    whole = file("whole.png", clothes[0])
    cut = {**whole, "name": "cut.png", "buffer": whole["buffer"][:60]}
    seen = visit().ready()
    seen.choose(whole, cut, file("words.png", b"no picture at all"), file("empty.png", b""))
    expect(seen.card("whole.png").locator(".p-value")).to_be_visible()
    for name in ("cut.png", "words.png", "empty.png"):
        expect(seen.card(name).locator(".verdict strong")).to_have_text("Could not be read")
        assert len(seen.card(name).locator(".meaning").inner_text()) > 15
    expect(seen.page.locator("#announcer")).to_have_text(
        "1 input answered: 0 flagged, 1 pass. 3 inputs got no answer."
    )


def test_nothing_but_corrupt_files(visit, file):
    seen = visit(expected=("422",)).ready()
    seen.choose(file("words.png", b"no picture at all"))
    expect(seen.card("words.png").locator(".meaning")).to_contain_text("no picture")


def test_other_sizes_are_fitted_only_if_wanted(visit, clothes, file):
    large = file("large.png", np.kron(clothes[0], np.ones((3, 3), np.uint8)))
    seen = visit(expected=("422",)).ready()
    seen.choose(large)
    expect(seen.card("large.png").locator(".p-value")).to_be_visible()
    seen.page.get_by_role("button", name="Remove large.png").click()
    seen.page.get_by_label("Fit other sizes").uncheck()
    seen.choose(large)
    expect(seen.card("large.png").locator(".meaning")).to_contain_text("84")


def test_an_explanation(visit, clothes, picture_gate, file):
    seen = visit().ready()
    seen.choose(file("shirt.png", 255 - clothes[0]))
    card = seen.card("shirt.png")
    slider = card.get_by_label("Disagreement")
    slider.wait_for()
    overlay = card.locator(".map")
    assert overlay.evaluate("image => image.decode().then(() => image.naturalWidth)") == 28
    slider.focus()
    for key, opacity in (("End", "1"), ("Home", "0")):
        slider.press(key)
        assert overlay.evaluate("image => getComputedStyle(image).opacity") == opacity
    found = picture_gate.explain(255 - clothes[0])
    strips = card.locator(".strip")
    assert strips.nth(0).locator("img").count() == len(found.reconstructions)
    assert strips.nth(1).locator("img").count() == len(found.neighbours)
    lines = card.locator("details tbody tr")
    expect(lines.first).to_be_hidden()
    card.get_by_text("The numbers behind it").click()
    shown = {line.locator("b").inner_text(): line.locator("td").last.inner_text() for line in lines.all()}
    assert shown.keys() == found.statistics.keys()
    for name, text in shown.items():
        assert float(text) == pytest.approx(found.statistics[name].percentile, abs=0.06)


def test_explanations_are_fetched_for_cards_in_view(visit, clothes, file):
    seen = visit(viewport={"width": 800, "height": 700}).ready()
    seen.choose(*(file(f"{number}.png", clothes[number]) for number in range(12)))
    done = "() => document.querySelector('.strip') && !document.querySelector('.why .waiting')"
    seen.page.wait_for_function(done)
    assert 1 <= seen.calls("/explain") < 12
    seen.card("11.png").scroll_into_view_if_needed()
    seen.card("11.png").locator(".strip").first.wait_for()


def test_cards_can_be_removed(visit, clothes, file):
    seen = visit().ready()
    seen.choose(*(file(f"{number}.png", clothes[number]) for number in range(3)))
    seen.page.get_by_role("button", name="Remove 1.png").click()
    expect(seen.page.locator(".card")).to_have_count(2)
    expect(seen.page.get_by_role("button", name="Remove 2.png")).to_be_focused()
    seen.page.get_by_role("button", name="Remove all").click()
    expect(seen.page.locator(".card")).to_have_count(0)
    expect(seen.page.locator("#empty")).to_be_visible()


def test_a_file_s_name_is_only_text(visit, clothes, file):
    name = "<img src=x onerror=alert(1)>.png"
    seen = visit().ready()
    seen.choose(file(name, clothes[0]))
    expect(seen.page.locator(".card h3")).to_have_text(name)
