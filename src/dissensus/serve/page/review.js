// What a person has said of an input, and the two buttons to say it.

import { element } from "./elements.js";

const SAID = [
  [true, "This was normal", "normal"],
  [false, "This was an outlier", "an outlier"],
];

/** `tell(normal)` promises that the gate has been told; null where who asks may not tell it. */
export class Review {
  constructor(name, tell) {
    this.name = name;
    this.tell = tell;
    this.busy = false;
    this.words = element("p", { className: "known", role: "status", hidden: true });
    this.buttons = tell === null ? [] : SAID.map(([normal, label, word]) => this.button(normal, label, word));
    this.element = element("div", { className: "review", hidden: true }, this.words,
      this.buttons.length ? element("p", { className: "actions" }, ...this.buttons) : null);
  }

  /** Shows what was said before of such an input; null: nothing. */
  show(known) {
    if (known) this.say(`Such an input was looked at, and ${known}.`);
    this.element.hidden = !known && !this.buttons.length;
  }

  button(normal, label, word) {
    const made = element("button", { type: "button", className: "second", "aria-label": `${label}: ${this.name}`, "aria-pressed": "false" }, label);
    made.addEventListener("click", () => this.choose(made, normal, word));
    return made;
  }

  async choose(chosen, normal, word) {
    if (this.busy) return; // one saying at a time
    this.busy = true;
    try {
      await this.tell(normal);
      this.buttons.forEach((button) => button.setAttribute("aria-pressed", String(button === chosen)));
      this.say(`Saved: ${word}. The gate says so when such an input comes again; its score stays as it is.`);
    } catch (error) {
      this.say(`Not saved: ${error.message}`);
    }
    this.busy = false;
  }

  say(text) {
    this.words.textContent = text;
    this.words.hidden = false;
  }
}
