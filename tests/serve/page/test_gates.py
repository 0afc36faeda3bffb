"""Several gates, rows instead of pictures, keys, and a busy server."""

import numpy as np
import pytest

from dissensus import BayesianVAE

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect


@pytest.fixture
def rows_page(visit):
    seen = visit().ready()
    seen.page.get_by_label("Gate", exact=True).select_option("measurements")
    seen.page.get_by_label("column 1").wait_for()
    return seen


def test_a_row_from_the_form(rows_page, row_gate):
    page = rows_page.page
    for column, value in enumerate(("0.5", "8", "-0.1"), 1):
        page.get_by_label(f"column {column}").fill(value)
    page.get_by_label("column 3").press("Enter")
    rows_page.answered(1)
    shown = float(page.locator(".p-value").inner_text())
    assert shown == pytest.approx(row_gate.p_values(np.array([[0.5, 8, -0.1]]))[0], rel=6e-3)
    expect(page.locator(".columns tbody tr")).to_have_count(3)


def test_pasted_rows(rows_page, row_gate):
    page, text = rows_page.page, rows_page.page.get_by_label("Paste rows")
    text.fill("column 3,column 1,column 2\n0.1,1,2\n9,99,999\n")
    page.get_by_role("button", name="Ask about these rows").click()
    rows_page.answered(2)
    text.fill("[[1, 2, 0.1]]")
    page.get_by_role("button", name="Ask about these rows").click()
    rows_page.answered(3)
    expected = row_gate.p_values(np.array([[1, 2, 0.1], [99, 999, 9], [1, 2, 0.1]]))
    for number, p_value in enumerate(expected, 1):
        shown = float(rows_page.card(f"Row {number}").locator(".p-value").inner_text())
        assert shown == pytest.approx(p_value, rel=6e-3)


def test_rows_that_are_none(rows_page):
    for text, words in (
        ("1,two,3", "“two” in the column “column 2” is no number"),
        ("1,2", "Row 1 has 2 values where 3 are needed"),
        ("[1, 2", "cannot be read as JSON"),
        ("", "nothing to ask about"),
    ):
        rows_page.page.get_by_label("Paste rows").fill(text)
        rows_page.page.get_by_role("button", name="Ask about these rows").click()
        expect(rows_page.page.get_by_role("alert").first).to_contain_text(words)
    expect(rows_page.page.locator(".card")).to_have_count(0)


def test_csv_with_quotes_and_tables_of_texts(modules):
    found = modules("""async () => {
      const { parseRows } = await import("/static/rows.js");
      return [
        parseRows('pet;"the age"\\n"a ""big"" cat; old";07\\n', ["pet", "the age"], "table"),
        parseRows('{"b": 2, "a": 1}\\n{"a": 3, "b": 4}', ["a", "b"], "rows"),
      ];
    }""")
    assert found == [[{"pet": 'a "big" cat; old', "the age": "07"}], [[1, 2], [3, 4]]]


def test_rows_of_a_table_with_texts(visit, table_gate, tmp_path):
    lines = ["pet,age", "cat,41.50", '"big dog",1e1', "a unicorn,40", ",39"]
    (tmp_path / "asked.csv").write_text("\n".join(lines))
    seen = visit().ready()
    page = seen.page
    page.get_by_label("Gate", exact=True).select_option("people")
    page.get_by_label("Paste rows").fill("\n".join(lines))
    page.get_by_role("button", name="Ask about these rows").click()
    seen.answered(4)
    for number, p_value in enumerate(table_gate.p_values(tmp_path / "asked.csv"), 1):
        shown = float(seen.card(f"Row {number}").locator(".p-value").inner_text())
        assert shown == pytest.approx(p_value, rel=6e-3)
    expect(seen.card("Row 3").locator(".meaning")).to_contain_text("Pet: a unicorn, never seen.")
    expect(seen.card("Row 1").locator(".meaning")).not_to_contain_text("never")
    columns = seen.card("Row 1").locator(".columns tbody th")
    expect(columns.first).to_be_visible()
    assert sorted(columns.all_inner_texts()) == ["age", "pet"]
    seen.card("Row 3").scroll_into_view_if_needed()
    pets = seen.card("Row 3").locator(".columns tbody tr").filter(has_text="pet")
    expect(pets).to_contain_text("a unicorn, never seen")
    page.get_by_role("button", name="Remove all").click()
    page.get_by_label("age").fill("41.5")
    page.get_by_label("pet").fill("cat")
    page.get_by_label("pet").press("Enter")
    seen.answered(1)
    shown = float(seen.card("Row 5").locator(".p-value").inner_text())
    assert shown == pytest.approx(table_gate.p_values(tmp_path / "asked.csv")[0], rel=6e-3)


def test_a_gate_that_is_replaced_is_noticed(visit, served, row_gate, tmp_path):
    """Its facts are read again, and so are its answers; nobody has to reload the page."""
    row_gate.save(tmp_path / "rows")
    address = served(tmp_path / "rows", poll=0.1)
    seen = visit(address).ready()
    seen.page.get_by_label("Paste rows").fill("0,5,0")
    seen.page.get_by_role("button", name="Ask about these rows").click()
    seen.answered(1)
    facts = seen.page.locator("#facts")
    before = facts.inner_text()
    BayesianVAE.load(tmp_path / "rows").set_params(false_alarm_rate=0.25).save(tmp_path / "rows")
    slider = seen.page.get_by_role("slider", name="False-alarm rate")
    expect(slider).to_have_attribute("aria-valuetext", "25%, 1 in 4")
    assert facts.inner_text() != before
    seen.answered(1)
    expect(seen.card("Row 1").locator(".p-value")).to_be_visible()
    assert seen.calls("/score") == 2


def test_many_inputs_are_sent_in_portions_that_the_server_takes(visit, served, gate_folder, clothes, file):
    address = served(gate_folder / "clothes", max_inputs=2, max_body_mb=0.03)
    seen = visit(address).ready()
    noise = np.random.default_rng(0).integers(0, 256, (140, 140), np.uint8)  # 20 kB
    some = [file(f"{number}.png", clothes[number]) for number in range(4)]
    seen.choose(*some, file("noise.png", noise), file("more noise.png", 255 - noise))
    expect(seen.page.locator(".card .p-value")).to_have_count(6)
    assert seen.calls("/score") == 4


def test_what_is_known_about_a_gate(visit, picture_gate):
    page = visit().ready().page
    facts = page.locator("#facts").inner_text()
    for words in (
        "grey pictures of 28 × 28",
        picture_gate.statistic_,
        str(len(picture_gate.calibration_scores_)),
    ):
        assert words in facts
    expect(page.locator("#health")).to_contain_text("Noise floor")
    expect(page.locator("#lead")).to_contain_text("clothes")


def test_another_gate_is_asked_about_the_same_inputs(visit, clothes, file):
    seen = visit().ready()
    choice = seen.page.get_by_label("Gate", exact=True)
    seen.choose(file("a.png", clothes[0]))
    again = lambda request: "/score?gate=clothes-again" in request.url  # noqa: E731
    with seen.page.expect_event("requestfinished", again):
        choice.select_option("clothes-again")
    seen.answered(1)
    choice.select_option("measurements")
    expect(seen.page.locator(".card")).to_have_count(0)  # it takes no pictures
    slider = seen.page.get_by_role("slider", name="False-alarm rate")
    expect(slider).to_have_attribute("aria-valuetext", "10%, 1 in 10")


def test_inputs_of_one_gate_are_not_asked_of_the_next(visit, clothes, file):
    """Between a choice and the new gate's answer, the cards that are there are the old one's."""
    seen = visit().ready()
    held = []
    seen.page.route("**/gate?gate=measurements", lambda route: held.append(route))
    seen.page.get_by_label("Gate", exact=True).select_option("measurements")
    with seen.page.expect_file_chooser() as chooser:
        seen.page.get_by_role("button", name="Choose pictures").click()
    chooser.value.set_files([file("a.png", clothes[0])])
    expect(seen.page.locator(".card")).to_have_count(1)
    held[0].continue_()
    expect(seen.page.locator(".card")).to_have_count(0)


def test_a_key_is_asked_for_and_kept_in_memory_alone(visit, locked, clothes, file):
    address, key = locked
    seen = visit(address, expected=("401",))
    page, field = seen.page, seen.page.get_by_label("API key")
    field.fill("wrong")
    field.press("Enter")
    expect(page.locator("#key-note")).to_have_text("The server does not know that key. Please try again.")
    field.press("Escape")  # leaves the page without a key: it asks again
    expect(field).to_be_visible()
    field.fill(key)
    page.get_by_role("button", name="Continue").click()
    seen.ready()
    expect(page.get_by_role("contentinfo").get_by_role("link")).to_have_text(["the API"])
    expect(page.get_by_role("contentinfo")).to_contain_text("metrics at /metrics, with a key")
    with page.context.expect_page() as described:  # what is left as a link can be followed
        page.get_by_role("link", name="the API").click(modifiers=["Control"])
    assert '"openapi"' in described.value.locator("body").inner_text()
    seen.choose(file("a.png", clothes[0]))
    expect(seen.card("a.png").locator(".p-value")).to_be_visible()
    kept = page.evaluate("JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie")
    assert key not in kept
    assert field.input_value() == ""
    assert key not in "".join(seen.asked)
    page.reload()
    expect(field).to_be_visible()


def test_a_busy_server_is_asked_again(visit, clothes, file):
    seen = visit(expected=("429",)).ready()
    answers = iter([{"status": 429, "headers": {"Retry-After": "1"}, "json": {"error": "the queue is full"}}])

    def busy_once(route):
        answer = next(answers, None)
        route.fulfill(**answer) if answer else route.continue_()

    seen.page.route("**/score*", busy_once)
    seen.choose(file("a.png", clothes[0]))
    expect(seen.card("a.png").locator(".p-value")).to_be_visible()
    assert seen.calls("/score") == 2


def test_a_refusal_is_said_in_the_server_s_words(visit, clothes, file):
    seen = visit(expected=("413",)).ready()
    answer = {"status": 413, "json": {"error": "the body is larger than 1 MB"}}
    seen.page.route("**/score*", lambda route: route.fulfill(**answer))
    seen.choose(file("a.png", clothes[0]))
    expect(seen.card("a.png").locator(".verdict strong")).to_have_text("No answer")
    expect(seen.card("a.png").locator(".meaning")).to_have_text("The body is larger than 1 MB.")
