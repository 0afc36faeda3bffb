// The live view: recent p-values, the share flagged against what was promised, and drift.

import { element, find, shape } from "./elements.js";
import { mark } from "./histogram.js";
import { chanceOf, count, number, percent, several } from "./words.js";

const EVERY = 2000; // milliseconds between two looks
const HEIGHT = 190;
const [LEFT, TOP, BOTTOM] = [44, 10, 14];

/** Looks at `/traffic` while the page is seen, and shows it at the operating point. */
export class Traffic {
  constructor(api, point) {
    this.api = api;
    this.point = point;
    this.latest = null;
    this.onNews = () => {};
    this.onReplaced = () => {};
    point.addEventListener("change", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(find("traffic-plot"));
    document.addEventListener("visibilitychange", () => document.hidden || this.look());
  }

  /** Starts with a gate: its rate is what was promised. */
  begin(gate) {
    this.gate = gate;
    this.latest = null;
    this.look();
  }

  get recent() {
    return this.latest?.recent ?? [];
  }

  async look() {
    clearTimeout(this.timer);
    const asked = (this.asked = Symbol("look"));
    if (document.hidden || !this.gate) return; // seen again, it looks again
    try {
      const latest = await this.api.get("/traffic");
      if (asked !== this.asked) return;
      if (latest.version !== this.gate.version) {
        this.onReplaced();
        return;
      }
      const news = this.latest?.inputs !== latest.inputs;
      this.latest = latest;
      if (!news) return;
      this.draw();
      this.onNews();
    } catch (error) {
      if (asked !== this.asked) return;
      find("traffic-words").textContent = `${error.message} Trying again.`;
      this.latest = null;
    } finally {
      if (asked === this.asked) this.timer = setTimeout(() => this.look(), EVERY);
    }
  }

  draw() {
    if (!this.latest) return;
    this.drawWords();
    this.drawPlot();
    this.drawDrift();
  }

  drawWords() {
    const { recent } = this;
    const flagged = recent.filter((one) => one.flagged).length;
    const whatIf = recent.filter((one) => this.point.flags(one.p_value)).length;
    const share = (hits) => (recent.length ? percent(hits / recent.length) : "–");
    find("traffic-words").textContent = recent.length
      ? `The last ${recent.length === 1 ? "input" : several(recent.length, "input")} that anybody asked this gate about. Looked at every 2 seconds.`
      : "Nobody has asked this gate yet. Answers appear here within 2 seconds.";
    find("flagged-share").textContent = share(flagged);
    find("flagged-note").textContent = this.promise(flagged, recent.length);
    find("what-if-share").textContent = share(whatIf);
    find("what-if-note").textContent = `${count(whatIf)} of ${count(recent.length)}, at ${percent(this.point.rate)}`;
  }

  promise(flagged, size) {
    const { false_alarm_rate: rate, false_alarm_interval: interval } = this.gate;
    const promised = `at most ${percent(rate)} promised for inputs like the training data`;
    if (!size) return `${promised}.`;
    const surprising = chanceOf(flagged, size, Math.max(rate, interval?.high ?? rate)) < 0.01;
    return `${count(flagged)} of ${count(size)}; ${promised}. ${surprising ? "More than chance explains." : "Within what chance explains."}`;
  }

  drawPlot() {
    const plot = find("traffic-plot");
    const width = Math.max(240, Math.round(plot.clientWidth));
    const lowest = 1 / (this.gate.calibration.count + 1);
    const inner = HEIGHT - TOP - BOTTOM;
    const y = (p) => TOP + (inner * Math.log(Math.min(1, Math.max(lowest, p)))) / Math.log(lowest);
    const slots = Math.max(60, this.recent.length);
    const x = (place) => LEFT + 8 + ((width - LEFT - 16) * (slots - this.recent.length + place)) / (slots - 1);
    const levels = [1, 0.1, 0.01, 0.001, 0.0001].filter((level) => level >= lowest);
    const ruled = levels.flatMap((level) => [
      shape("line", { class: "rule", x1: LEFT, x2: width, y1: y(level), y2: y(level) }),
      shape("text", { class: "tick", x: LEFT - 8, y: y(level) + 4, "text-anchor": "end" }, String(level)),
    ]);
    const line = y(this.point.rate);
    const marks = this.recent.map((one, place) =>
      mark(x(place), y(one.p_value), this.point.flags(one.p_value), this.recent.length > 150 ? 3.5 : 4.5),
    );
    const flagged = this.recent.filter((one) => this.point.flags(one.p_value)).length;
    plot.replaceChildren(
      shape(
        "svg",
        {
          viewBox: `0 0 ${width} ${HEIGHT}`,
          class: "recent",
          role: "img",
          "aria-label": `p-values of the last ${several(this.recent.length, "input")}, ${count(flagged)} of them at or below ${number(this.point.rate)}`,
        },
        shape("rect", { class: "flag-zone", x: LEFT, y: line, width: width - LEFT, height: HEIGHT - BOTTOM + 6 - line }),
        ...ruled,
        shape("line", { class: "threshold", x1: LEFT, x2: width, y1: line, y2: line }),
        ...marks,
      ),
    );
  }

  drawDrift() {
    const { drift } = this.latest;
    const evidence = drift.alarm ? 1 : Math.min(1, Math.max(0, drift.log_capital / drift.alarm_level));
    const words = drift.alarm ? "Alarm: inputs have drifted" : evidence > 0.5 ? "Some evidence" : "No sign of it";
    find("drift").dataset.alarm = String(drift.alarm);
    const sign = element("span", { className: "sign", "aria-hidden": "true" }, drift.alarm ? "◆" : "●");
    const state = find("drift-state");
    // Only a change is set, for it is read out.
    if (state.textContent !== `${sign.textContent}${words}`) state.replaceChildren(sign, words);
    find("drift-meter").value = evidence;
    const bet =
      `A bet against “nothing has changed” turned 1 into ${number(Math.exp(drift.log_capital))}; ${number(Math.exp(drift.alarm_level))} raises the alarm.`;
    find("drift-note").textContent = drift.sentence ? `${drift.sentence} ${bet}` : bet;
  }
}
