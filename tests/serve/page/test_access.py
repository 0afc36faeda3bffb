"""The page for everybody: keyboards, screen readers, dark rooms, small screens."""

import re

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

CONTRASTS = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b]
    .map((x) => x / 255)
    .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4))
    .reduce((sum, x, place) => sum + x * [0.2126, 0.7152, 0.0722][place], 0);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return rgba("white");
  };
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !element.checkVisibility() || element.closest("noscript")) continue;
    const style = getComputedStyle(element);
    const ink = element instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [light(rgba(ink)), light(ground(element))].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const words = texts.currentNode.data.trim().slice(0, 40);
    found.push({ words, ratio: (a + 0.05) / (b + 0.05), needed: large ? 3 : 4.5 });
  }
  return found;
}"""


def mixed(clothes, file):
    return [file("coat.png", clothes[0]), file("negative.png", 255 - clothes[0]), file("broken.png", b"no")]


def test_landmarks_and_headings(visit):
    snapshot = visit().ready().page.locator("body").aria_snapshot()
    for landmark in ("banner", "main", "contentinfo"):
        assert re.search(rf"^- {landmark}", snapshot, re.MULTILINE), landmark
    for name in ("Ask about inputs", "How strict?", "Answers", "Recent traffic", "About this gate"):
        assert f'region "{name}"' in snapshot
        assert f'heading "{name}" [level=2]' in snapshot
    assert 'heading "Is this like the training data?" [level=1]' in snapshot


def test_everything_that_can_be_used_has_a_name(visit, clothes, file):
    seen = visit().ready()
    seen.choose(*mixed(clothes, file))
    seen.page.get_by_label("Disagreement").first.wait_for()
    tools = seen.page.context.new_cdp_session(seen.page)
    nodes = tools.send("Accessibility.getFullAXTree")["nodes"]
    used = {"button", "slider", "combobox", "textbox", "checkbox", "link", "meter", "img", "image"}
    found = [
        (node["role"]["value"], node["name"]["value"].strip())
        for node in nodes
        if not node["ignored"] and node["role"]["value"] in used
    ]
    assert len(found) > 15
    assert [role for role, name in found if not name] == []


def test_verdicts_are_announced(visit, clothes, file):
    seen = visit().ready()
    announcer = seen.page.locator("#announcer")
    expect(announcer).to_have_attribute("role", "status")
    seen.choose(file("negative.png", 255 - clothes[0]))
    expect(announcer).to_contain_text("negative.png: Flagged. Inputs like the training data score this high")
    seen.page.get_by_role("slider", name="False-alarm rate").press("End")
    expect(announcer).to_contain_text("At 50% instead of 5%")


def test_a_keyboard_is_enough(visit, clothes, file):
    seen = visit().ready()
    page = seen.page

    def tab_to(words):
        """Presses Tab until the focus is there; every stop on the way must be seen."""
        for _ in range(40):
            page.keyboard.press("Tab")
            stop = page.evaluate("""() => {
              const { activeElement: at } = document;
              const style = getComputedStyle(at);
              return { words: at.ariaLabel || at.labels?.[0]?.textContent || at.textContent,
                outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 };
            }""")
            assert stop["outlined"], stop
            if words in stop["words"]:
                return
        pytest.fail(f"Tab never reached {words!r}")

    tab_to("Skip to the inputs")
    page.keyboard.press("Enter")
    tab_to("Choose pictures")
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Enter")
    chooser.value.set_files([file("coat.png", clothes[0])])
    seen.answered(1)
    seen.card("coat.png").get_by_text("The numbers behind it").wait_for()
    tab_to("False-alarm rate")
    page.keyboard.press("End")
    expect(seen.card("coat.png").locator(".verdict")).to_contain_text("at 50%")
    tab_to("Remove coat.png")
    tab_to("Disagreement")
    page.keyboard.press("Home")
    tab_to("The numbers behind it")
    page.keyboard.press("Enter")
    expect(seen.card("coat.png").get_by_text("how few draws keep weight")).to_be_visible()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    expect(page.locator(".card")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(visit, clothes, file, scheme):
    seen = visit(color_scheme=scheme).ready()
    seen.choose(*mixed(clothes, file))
    for summary in seen.page.locator("summary").all():
        summary.click()
    texts = seen.page.evaluate(CONTRASTS)
    assert len(texts) > 60
    assert [text for text in texts if text["ratio"] < text["needed"]] == []


def test_dark_and_light(visit):
    page = visit(color_scheme="dark").ready().page
    brightness = (
        "() => Math.max(...getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number))"
    )
    assert page.evaluate(brightness) < 40
    button = page.get_by_role("button", name="Theme")
    for theme, is_light in (("light", True), ("dark", False), ("system", False)):
        button.click()
        expect(button).to_have_text(f"Theme: {theme}")
        assert (page.evaluate(brightness) > 200) == is_light
    button.click()
    page.reload()
    expect(button).to_have_text("Theme: light")
    assert page.evaluate(brightness) > 200


def test_no_screen_scrolls_sideways(visit, clothes, file):
    seen = visit(viewport={"width": 360, "height": 740}, has_touch=True).ready()
    seen.choose(*mixed(clothes, file), file("a-very-long-name-without-a-break" * 5 + ".png", clothes[1]))
    seen.page.get_by_label("Disagreement").first.wait_for()
    for summary in seen.page.locator("summary").all():
        summary.click()
    beyond = """(width) => [...document.querySelectorAll("button, input, h3, .verdict, .meaning")]
      .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > width)
      .map((one) => one.outerHTML.slice(0, 80))"""
    for width in (320, 360, 768, 1400):
        seen.page.set_viewport_size({"width": width, "height": 740})
        assert seen.page.evaluate("() => document.documentElement.scrollWidth") <= width
        assert seen.page.evaluate(beyond, width) == []


def test_nothing_moves_for_who_wants_it_still(visit, clothes, file):
    still, moving = visit().ready(), visit(reduced_motion="no-preference").ready()
    for seen in (still, moving):
        seen.choose(file("a.png", clothes[0]))
    animated = "() => getComputedStyle(document.querySelector('.card')).animationName"
    assert still.page.evaluate(animated) == "none"
    assert moving.page.evaluate(animated) == "appear"


def test_the_page_keeps_to_a_strict_policy(visit):
    seen = visit().ready()
    policy = seen.page.request.get(seen.address).headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    seen.page.evaluate("() => document.body.setAttribute('style', 'color: red')")
    assert seen.errors, "the policy is in force: an inline style is refused"
    assert "inline style" in seen.errors.pop()
