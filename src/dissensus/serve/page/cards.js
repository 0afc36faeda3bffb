// One card for each input: what the gate says, what that means, where it stands, and why.

import { element } from "./elements.js";
import { explanationParts } from "./explanation.js";
import { Histogram } from "./histogram.js";
import { Review } from "./review.js";
import { meaning, number, otherwise, percent, sentence, verdict } from "./words.js";

const FULL_MAP = 100;

let made = 0;

/**
 * `input` has a name, and a file or a row; `onRemove(card)` is called by its button, and `tell(input, normal)`
 * promises that the gate has been told what it was; null where who asks may not.
 */
export class Card {
  constructor(input, onRemove, tell) {
    made += 1;
    this.input = input;
    this.result = null;
    this.explained = "no"; // "no", "asked", "yes"
    this.title = element("h3", { id: `card-${made}` }, input.name);
    this.sign = element("span", { className: "sign", "aria-hidden": "true" });
    this.word = element("strong", {}, "Asking …");
    this.sentence = element("p", { className: "meaning" });
    this.aside = element("p", { className: "aside", hidden: true });
    this.numbers = element("dl", { className: "numbers" });
    this.standing = element("div", { className: "standing" });
    this.review = new Review(input.name, tell && ((normal) => tell(input, normal)));
    this.why = element("div", { className: "why", hidden: true });
    this.picture = input.file ? this.makePicture() : null;
    const remove = element("button", { type: "button", className: "remove", "aria-label": `Remove ${input.name}` }, "×");
    remove.addEventListener("click", () => onRemove(this));
    this.body = element(
      "article",
      { className: "card", "aria-labelledby": this.title.id, "data-state": "waiting" },
      remove,
      element(
        "div",
        { className: "card-main" },
        this.picture,
        element(
          "div",
          { className: "card-words" },
          this.title,
          element("p", { className: "verdict" }, this.sign, this.word),
          this.sentence,
          this.aside,
          this.numbers,
          this.standing,
        ),
      ),
      this.review.element,
      this.why,
    );
    this.element = element("li", {}, this.body);
  }

  makePicture() {
    this.url = URL.createObjectURL(this.input.file);
    this.image = element("img", { src: this.url, alt: this.input.name });
    this.image.addEventListener("error", () => this.frame.classList.add("broken"), { once: true });
    this.image.addEventListener("load", () => this.image.classList.toggle("pixels", this.image.naturalWidth < 200));
    this.map = element("img", { alt: "", className: "map pixels", hidden: true });
    this.frame = element("div", { className: "frame" }, this.image, this.map);
    return element("div", { className: "picture" }, this.frame);
  }

  /** Shows the server's answer, among the calibration scores. */
  answer(result, calibration) {
    // JSON has no infinity: an answer without a score has an infinite one.
    this.result = { ...result, score: result.score ?? Infinity };
    if (result.error) {
      this.refuse("Could not be read", sentence(result.error));
      return;
    }
    this.histogram = new Histogram(calibration, { width: 260, height: 56 });
    this.standing.replaceChildren(this.histogram.svg);
    this.numbers.replaceChildren(
      element("div", {}, element("dt", {}, "p-value"), element("dd", { className: "p-value" }, number(result.p_value))),
      element("div", {}, element("dt", {}, "score"), element("dd", {}, number(this.result.score))),
    );
    // What no training input had, such as a category never seen.
    const news = (result.notes ?? []).map(sentence);
    this.sentence.textContent = [meaning(result.p_value, calibration.count), ...news].join(" ");
    this.review.show(result.known);
  }

  /** Shows that there is no decision, and why. */
  refuse(word, reason) {
    this.result = { error: reason };
    this.body.dataset.state = "error";
    this.sign.textContent = "!";
    this.word.textContent = word;
    this.sentence.textContent = reason;
  }

  /** Decides at the operating point. */
  decide(point, threshold) {
    if (!this.result || this.result.error) return;
    const flagged = point.flags(this.result.p_value);
    this.body.dataset.state = flagged ? "flagged" : "passes";
    this.sign.textContent = flagged ? "◆" : "●";
    this.word.textContent = point.atOwn ? verdict(flagged) : `${verdict(flagged)} at ${percent(point.rate)}`;
    const note = otherwise(flagged, this.result.flagged, point.own);
    this.aside.textContent = note;
    this.aside.hidden = note === "";
    this.histogram.show(
      threshold,
      [{ score: this.result.score, flagged }],
      `Where ${this.input.name} stands among the calibration scores: ${number(this.result.score)}, threshold ${number(threshold)}`,
    );
  }

  /** Fetches the explanation with `ask(input)` and shows it. */
  async explain(ask) {
    if (this.explained !== "no" || !this.result || this.result.error) return;
    this.explained = "asked";
    this.why.hidden = false;
    this.why.replaceChildren(element("p", { className: "faint waiting" }, "Looking at why …"));
    try {
      this.showExplanation(await ask(this.input));
      this.explained = "yes";
    } catch (error) {
      this.explained = "no";
      const again = element("button", { type: "button", className: "second" }, "Try again");
      again.addEventListener("click", () => this.explain(ask));
      this.why.replaceChildren(element("p", { className: "faint" }, `No explanation: ${error.message}`), again);
    }
  }

  showExplanation(answer) {
    if (this.picture && answer.disagreement?.png) this.showMap(answer);
    this.why.replaceChildren(...explanationParts(answer, this.input.name));
  }

  showMap(answer) {
    if (answer.input_png) this.image.src = answer.input_png; // as the gate sees it
    this.map.src = answer.disagreement.png;
    this.map.alt = `Where the draws disagree about ${this.input.name}: orange is much`;
    this.map.hidden = false;
    const id = `${this.title.id}-map`;
    const slider = element("input", { type: "range", id, min: 0, max: FULL_MAP, step: 10, value: 60 });
    const show = () => {
      this.map.style.opacity = Number(slider.value) / FULL_MAP;
      slider.setAttribute("aria-valuetext", `${slider.value}%`);
    };
    slider.addEventListener("input", show);
    show();
    this.picture.append(
      element("div", { className: "map-control" }, element("label", { for: id }, "Disagreement"), slider),
    );
  }

  /** Takes the card off the page and forgets its picture. */
  remove() {
    if (this.url) URL.revokeObjectURL(this.url);
    this.element.remove();
  }
}
