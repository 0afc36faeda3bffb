// The operating point: the false-alarm rate that the page shows decisions at. The server keeps its own.

import { find } from "./elements.js";
import { rates } from "./calibration.js";
import { count, percent } from "./words.js";

/** Dispatches "change" when the rate moves. */
export class OperatingPoint extends EventTarget {
  constructor() {
    super();
    this.rate = 0.01;
    this.own = 0.01;
    this.choices = [0.01];
    find("rate").addEventListener("input", (event) => this.set(this.choices[Number(event.target.value)]));
    find("rate-reset").addEventListener("click", () => {
      this.set(this.own);
      find("rate").focus(); // the button goes away with its reason
    });
  }

  /** Starts at a gate's own rate. */
  begin(gate) {
    this.own = gate.false_alarm_rate;
    this.choices = rates(gate.calibration.count, this.own);
    find("rate").max = this.choices.length - 1;
    find("rate-low").textContent = percent(this.choices[0]);
    find("rate-high").textContent = percent(this.choices.at(-1));
    find("rate-reset").textContent = `Back to the gate’s own ${percent(this.own)}`;
    this.set(this.own);
  }

  set(rate) {
    this.rate = rate;
    const words = `${percent(rate)}, 1 in ${count(1 / rate)}`;
    find("rate").value = this.choices.indexOf(rate);
    find("rate").setAttribute("aria-valuetext", words);
    find("rate-words").textContent = words;
    find("rate-reset").hidden = this.atOwn;
    this.dispatchEvent(new Event("change"));
  }

  get atOwn() {
    return this.rate === this.own;
  }

  /** An input is flagged if and only if its p-value is at most the rate. */
  flags(pValue) {
    return pValue <= this.rate;
  }
}
