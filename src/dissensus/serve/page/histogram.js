// The calibration scores as bars, with the threshold and the inputs asked about in the same picture.

import { shape } from "./elements.js";

const BEYOND = 0.09; // the share of the width kept for scores off the scale
const MOST_BARS = 44;

/** A histogram of `width` × `height` pixels; `words` makes room for a lane of marks and for labels. */
export class Histogram {
  constructor(calibration, { width, height, words = false }) {
    this.calibration = calibration;
    this.width = width;
    this.lane = words ? 22 : 0;
    this.head = words ? 20 : 4;
    this.base = height - this.lane - 2;
    this.bars = shape("g");
    this.marks = shape("g");
    this.line = shape("line", { class: "threshold", y1: this.head - 4, y2: height - 1 });
    this.label = words ? shape("text", { class: "threshold-word", y: 12 }) : null;
    this.svg = shape(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, class: "histogram", role: "img", focusable: "false" },
      this.bars,
      shape("line", { class: "axis", x1: 0, x2: width, y1: this.base, y2: this.base }),
      this.line,
      ...(this.label ? [this.label] : []),
      this.marks,
    );
    this.drawBars();
  }

  /** Where a score stands; what is off the scale stands in the margin. */
  place(score) {
    const inner = this.width * (1 - BEYOND);
    const place = this.calibration.scale.place(score);
    if (place <= 1) return Math.max(5, inner * place);
    return inner + this.width * BEYOND * (0.3 + 0.5 * (1 - 1 / place));
  }

  drawBars() {
    const bars = Math.min(MOST_BARS, Math.max(8, Math.round(2 * Math.sqrt(this.calibration.count))));
    const counts = this.calibration.counts(bars);
    const tallest = Math.max(...counts);
    const step = (this.width * (1 - BEYOND)) / bars;
    counts.forEach((amount, bar) => {
      const height = amount > 0 ? Math.max(1, ((this.base - this.head) * amount) / tallest) : 0;
      const x = bar * step;
      this.bars.append(
        shape("rect", { class: "bar", x, y: this.base - height, width: Math.max(1, step - 1), height, rx: 1 }),
      );
    });
    this.middles = counts.map((_, bar) => this.calibration.scale.score((bar + 0.5) / bars));
  }

  /** Moves the threshold and sets the marks: `inputs` are scores with whether they are flagged. */
  show(threshold, inputs, description) {
    const finite = Number.isFinite(threshold);
    const x = finite ? this.place(threshold) : this.width - 1;
    this.line.setAttribute("x1", x);
    this.line.setAttribute("x2", x);
    [...this.bars.children].forEach((bar, index) => {
      bar.classList.toggle("above", finite && this.middles[index] > threshold);
    });
    if (this.label) {
      const right = x < this.width * 0.7;
      this.label.setAttribute("x", x + (right ? 6 : -6));
      this.label.setAttribute("text-anchor", right ? "start" : "end");
      this.label.textContent = right ? "flagged →" : "flagged beyond this line →";
    }
    const y = this.lane ? this.base + this.lane / 2 + 2 : this.base - 7;
    this.marks.replaceChildren(
      ...inputs.map(({ score, flagged }) => mark(this.place(score), y, flagged, this.lane ? 5 : 6)),
    );
    this.svg.setAttribute("aria-label", description);
  }
}

/** One input: a diamond if flagged, a disc if not. */
export function mark(x, y, flagged, size) {
  if (!flagged) return shape("circle", { class: "mark passes", cx: x, cy: y, r: size * 0.8 });
  const d = `M${x} ${y - size}l${size} ${size}l${-size} ${size}l${-size} ${-size}z`;
  return shape("path", { class: "mark flagged", d });
}
