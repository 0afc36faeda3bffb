"""Saying on the page what an input was."""

import pytest

from dissensus import BayesianVAE
from dissensus.lock import Claim

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect


@pytest.fixture
def own_gate(picture_gate, tmp_path):
    picture_gate.save(tmp_path / "clothes")
    return tmp_path / "clothes"


def say(card, words):
    card.get_by_role("button", name=words).click()


def test_an_input_is_confirmed_and_known_when_it_comes_again(visit, served, own_gate, clothes, file):
    odd = file("odd.png", 255 - clothes[0])
    address = served(own_gate, reviewers=("*",), poll=0.1)
    seen = visit(address).ready()
    seen.choose(odd, file("coat.png", clothes[1]))
    card = seen.card("odd.png")
    expect(card.locator(".known")).to_be_hidden()
    say(card, "This was an outlier")
    expect(card.locator(".known")).to_contain_text("Saved: an outlier.")
    expect(card.get_by_role("button", name="This was an outlier")).to_have_attribute("aria-pressed", "true")
    say(seen.card("coat.png"), "This was normal")
    expect(seen.card("coat.png").locator(".known")).to_contain_text("Saved: normal.")
    seen.choose({**odd, "name": "again.png"})
    expect(seen.card("again.png").locator(".known")).to_have_text(
        "Such an input was looked at, and confirmed as an outlier before."
    )
    with seen.page.expect_response("**/traffic*"), seen.page.expect_response("**/traffic*"):
        pass  # the page has seen that another save answers
    assert seen.page.locator(".card").count() == 3
    assert seen.calls("/score") == 2, "a gate that only remembers more is not asked again"
    mind = seen.card("odd.png")
    say(mind, "This was normal")
    expect(mind.locator(".known")).to_contain_text("Saved: normal.")
    expect(mind.get_by_role("button", name="This was an outlier")).to_have_attribute("aria-pressed", "false")
    saved = BayesianVAE.load(own_gate, device="cpu")
    told = ["confirmed as normal before", "confirmed as normal before"]
    assert saved.known([255 - clothes[0], clothes[1]]) == told
    assert saved.confirmed_.joined == 0


def test_rows_are_confirmed_too(visit, served, row_gate, tmp_path):
    row_gate.save(tmp_path / "rows")
    address = served(tmp_path / "rows", reviewers=("*",))
    seen = visit(address).ready()
    seen.page.get_by_label("Paste rows").fill("0,5,0")
    seen.page.get_by_role("button", name="Ask about these rows").click()
    seen.answered(1)
    say(seen.card("Row 1"), "This was an outlier: Row 1")
    expect(seen.card("Row 1").locator(".known")).to_contain_text("Saved: an outlier.")
    assert BayesianVAE.load(tmp_path / "rows").known([[0, 5, 0]]) == ["confirmed as an outlier before"]


def test_what_could_not_be_saved_is_said(visit, served, own_gate, clothes, file):
    address = served(own_gate, reviewers=("*",))
    seen = visit(address, expected=("429",)).ready()
    seen.choose(file("coat.png", clothes[0]))
    with Claim(own_gate):
        say(seen.card("coat.png"), "This was normal")
        expect(seen.card("coat.png").locator(".known")).to_have_text(
            "Not saved: Another process is writing to gate clothes: try again in 1 s."
        )
    say(seen.card("coat.png"), "This was normal")
    expect(seen.card("coat.png").locator(".known")).to_contain_text("Saved: normal.")


def test_who_may_not_sees_no_buttons_but_what_was_said(visit, served, own_gate, clothes, file):
    gate = BayesianVAE.load(own_gate, device="cpu")
    gate.confirm(clothes[:1], normal=True)
    gate.save(own_gate)
    address = served(own_gate)
    seen = visit(address).ready()
    seen.choose(file("coat.png", clothes[0]), file("new.png", clothes[1]))
    expect(seen.card("coat.png").locator(".known")).to_contain_text("confirmed as normal before")
    expect(seen.card("new.png").locator(".known")).to_be_hidden()
    expect(seen.page.get_by_role("button", name="This was")).to_have_count(0)
