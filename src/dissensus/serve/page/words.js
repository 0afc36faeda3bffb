// Numbers and decisions in words.

/** A number a person reads: three digits that matter, no trailing zeros. */
export function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "unknown";
  if (!Number.isFinite(value)) return value > 0 ? "infinite" : "minus infinite";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(1).replace("e+", "e");
  if (size >= 1000) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}

/** A whole number with its thousands apart. */
export const count = (value) => Math.round(value).toLocaleString("en");

/** "1 input", "2 inputs". */
export const several = (amount, word) => `${count(amount)} ${word}${amount === 1 ? "" : "s"}`;

/** 0.0125 → "1.25%". */
export function percent(share) {
  if (!Number.isFinite(share)) return "unknown";
  return `${Number((100 * share).toPrecision(share >= 0.1 ? 3 : 2))}%`;
}

/** 0.004 → "1 time in 250", 0.42 → "42 times in 100". */
export function oftenness(share) {
  if (share >= 0.995) return "almost every time";
  if (share > 0.2) return `${Math.round(100 * share)} times in 100`;
  return `1 time in ${count(1 / share)}`;
}

/** What a p-value against `size` calibration inputs means. */
export function meaning(pValue, size) {
  const most = pValue * (size + 1) < 1.5 ? "at most " : "";
  return `Inputs like the training data score this high ${most}${oftenness(pValue)}.`;
}

/** The two things a gate can say. */
export const verdict = (flagged) => (flagged ? "Flagged" : "Passes");

/** What the same input would get at another rate than the gate's own; empty where both agree. */
export function otherwise(flagged, ownFlagged, ownRate) {
  if (flagged === ownFlagged) return "";
  return `The gate itself, at ${percent(ownRate)}, ${ownFlagged ? "flags it" : "lets it pass"}.`;
}

/** The probability of `least` or more of `tests` when each happens with probability `rate`. */
export function chanceOf(least, tests, rate) {
  if (least <= 0) return 1;
  if (rate <= 0) return 0;
  let term = tests * Math.log1p(-rate); // log P(none)
  let below = Math.exp(term);
  for (let hits = 1; hits < least; hits += 1) {
    term += Math.log((tests - hits + 1) / hits) + Math.log(rate) - Math.log1p(-rate);
    below += Math.exp(term);
  }
  return Math.max(0, 1 - below);
}

/** "the file is empty" → "The file is empty." */
export function sentence(text) {
  const trimmed = text.trim();
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}${/[.!?]$/.test(trimmed) ? "" : "."}`;
}
