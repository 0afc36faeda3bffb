// What is usual: the scores of held-out inputs, and the thresholds that follow from them.

const SKEWED = 2.5; // how much longer the right half may be than the left before a log scale shows more
const REACH = 3; // a picture ends this many times as far from the middle as 5% and 95% lie: tails squash the rest

export class Calibration {
  /** `count` scores, of which `scores` are all or evenly spaced quantiles, ascending; null is infinite. */
  constructor({ count, scores }) {
    this.count = count;
    this.scores = scores.map((score) => score ?? Infinity);
    this.scale = this.chooseScale();
  }

  /** Flagged is what scores above this: the k-th largest of the n scores, k = ⌊rate·(n+1)⌋. */
  threshold(rate) {
    const allowed = Math.floor(rate * (this.count + 1) + 1e-9);
    if (allowed < 1) return Infinity;
    return this.quantile((this.count - Math.min(allowed, this.count)) / Math.max(1, this.count - 1));
  }

  /** The score below which this share of them lies. */
  quantile(share) {
    const place = Math.min(1, Math.max(0, share)) * (this.scores.length - 1);
    const below = Math.floor(place);
    const rest = place - below;
    if (rest < 1e-9) return this.scores[below];
    return this.scores[below] + rest * (this.scores[below + 1] - this.scores[below]);
  }

  /** How scores become places in a picture, from `low` at 0 to `high` at 1. */
  chooseScale() {
    const [least, few, middle, most] = [0, 0.05, 0.5, 0.95].map((share) => this.quantile(share));
    const logarithmic = least > 0 && most - middle > SKEWED * (middle - few);
    const [forward, back] = logarithmic ? [Math.log, Math.exp] : [(x) => x, (x) => x];
    const [left, centre, right] = [few, middle, most].map(forward);
    let low = Math.max(forward(least), centre - REACH * (centre - left));
    let high = Math.min(forward(this.scores.at(-1)), centre + REACH * (right - centre));
    if (!(high > low)) [low, high] = [low - 0.5, low + 0.5];
    return {
      logarithmic,
      place: (score) => (forward(Math.max(score, logarithmic ? Number.MIN_VALUE : -Infinity)) - low) / (high - low),
      score: (place) => back(low + place * (high - low)),
    };
  }

  /** How many of the known scores lie in each of `bins` equal parts of the scale. */
  counts(bins) {
    const found = new Array(bins).fill(0);
    for (const score of this.scores) {
      const bin = Math.floor(bins * this.scale.place(score));
      if (bin >= 0 && bin <= bins) found[Math.min(bin, bins - 1)] += 1;
    }
    return found;
  }
}

/** Rates to choose from: ten a decade, none that the calibration set is too small for, and the gate's own. */
export function rates(size, own) {
  const found = new Set([own]);
  for (const decade of [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]) {
    for (const digits of [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8]) {
      const rate = Number((digits * decade).toPrecision(2));
      if (rate * (size + 1) >= 1 && rate <= 0.5) found.add(rate);
    }
  }
  return [...found].sort((a, b) => a - b);
}
