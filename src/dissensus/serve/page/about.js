// What the gate was trained on, what it promises, and how its sampler did.

import { element, fact, find } from "./elements.js";
import { count, number, percent, sentence, several } from "./words.js";

/** "28×28 grey pictures", "rows of 4 columns". */
export function inputsOf(gate) {
  if (gate.kind !== "images") return `rows of ${gate.columns?.length ?? gate.input_shape[0]} columns`;
  const [height, width, channels] = gate.input_shape;
  return `${channels === 1 ? "grey" : "colour"} pictures of ${width} × ${height}`;
}

export function showGate(gate) {
  const interval = gate.false_alarm_interval;
  const facts = [
    fact("Gate", gate.version ? `${gate.name}, version ${gate.version}` : gate.name),
    fact("Takes", inputsOf(gate)),
    fact("Fitted on", fittedOn(gate.fitted_on)),
    fact("Score", gate.statistic),
    fact("Threshold", number(gate.threshold ?? Infinity)),
    fact("False-alarm rate", `${percent(gate.false_alarm_rate)} of inputs like the training data`),
  ];
  if (interval) {
    facts.push(
      fact(
        `True rate, with probability ${percent(interval.probability)}`,
        `${percent(interval.low)} to ${percent(interval.high)}`,
      ),
    );
  }
  find("facts").replaceChildren(...facts);
  find("settings").replaceChildren(
    ...Object.entries({ ...gate.settings, ...details(gate.fitted_on) }).map(([name, value]) =>
      fact(plain(name), shown(value)),
    ),
  );
  find("health").replaceChildren(...healthOf(gate.health ?? {}).map((line) => element("li", {}, line)));
  find("version").textContent = `dissensus ${gate.dissensus ?? ""}`.trim();
}

/** "6,000 inputs: 4,800 training, 300 validation, 900 calibration". */
function fittedOn({ total, train, ...others }) {
  const parts = { training: train, ...others };
  const counts = Object.entries(parts).filter(([, value]) => typeof value === "number");
  const sum = total ?? counts.reduce((all, [, value]) => all + value, 0);
  return `${several(sum, "input")}: ${counts.map(([name, value]) => `${count(value)} ${plain(name).toLowerCase()}`).join(", ")}`;
}

const details = (about) => Object.fromEntries(Object.entries(about).filter(([, value]) => typeof value !== "number"));

function healthOf({ warnings = [], sentences = [], rhat, noise_floor: floor }) {
  const lines = warnings.map((warning) => `Warning: ${warning}`);
  if (sentences.length) return [...lines, ...sentences.map(sentence)];
  if (typeof rhat === "number") lines.push(`Chains: R̂ ${number(rhat)}; near 1 they cannot be told apart.`);
  if (typeof floor === "number") lines.push(`Noise floor: estimating a log-likelihood twice moves it by ${number(floor)} nats.`);
  return lines.length ? lines : ["Nothing was recorded."];
}

const plain = (name) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");

function shown(value) {
  if (typeof value === "number") return Number.isInteger(value) ? count(value) : number(value);
  if (value === null) return "none";
  if (Array.isArray(value)) return value.map(shown).join(value.length === 2 ? " to " : ", ");
  if (typeof value === "object") {
    const { name: own, ...rest } = value;
    const parts = Object.entries(rest).map(([name, inner]) => `${name.replaceAll("_", " ")} ${shown(inner)}`);
    return (own === undefined ? parts : [shown(own), ...parts]).join(", ");
  }
  return String(value);
}
