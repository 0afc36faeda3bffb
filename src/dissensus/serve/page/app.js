// Ties the page together: a gate, the inputs asked about, the operating point and the live view.

import { showGate, inputsOf } from "./about.js";
import { Api } from "./api.js";
import { Calibration } from "./calibration.js";
import { Card } from "./cards.js";
import { element, find } from "./elements.js";
import { Histogram } from "./histogram.js";
import { intake } from "./intake.js";
import { parseRows, rowForms } from "./rows.js";
import { themeButton } from "./theme.js";
import { Traffic } from "./traffic.js";
import { count, number, percent, several } from "./words.js";
import { OperatingPoint } from "./operating.js";

const AT_ONCE = 64; // inputs in one call: answers come in portions
const WRAPPING = 1000; // bytes around a file in a form, at most
const EXPLAINED_AT_ONCE = 2; // an explanation costs the server about as much as ten scores

const api = new Api(askKey);
const point = new OperatingPoint();
const traffic = new Traffic(api, point);
let gate = null;
let calibration = null;
let chart = null;
let cards = [];
let limits = { inputs: AT_ONCE, bytes: 0 };
let tell = null; // what a card's buttons call; null where who asks may not say what inputs are
let leaving = false; // another gate is chosen and has not answered yet: inputs of the old one are none of its
const calm = matchMedia("(prefers-reduced-motion: reduce)");

// --- gates

async function start() {
  const { gates, default: chosen, max_inputs: inputs, max_body: bytes, may_confirm: may } = await api.get("/gates");
  if (!gates.length) throw new Error("This server has no gate yet. Reload the page once it has one.");
  const first = gates.includes(chosen) ? chosen : gates[0];
  limits = { inputs: Math.min(AT_ONCE, inputs), bytes };
  tell = may ? (input, normal) => api.confirm(input, normal) : null;
  if (may) find("keeping").textContent = "it keeps none of it, unless you tell the gate what it was";
  const choice = find("gate-choice");
  choice.replaceChildren(...gates.map((name) => element("option", { value: name }, name)));
  choice.value = first;
  find("chooser").hidden = gates.length < 2;
  choice.addEventListener("change", () => attempt(() => enter(choice.value)));
  await enter(first);
}

/** Shows a gate and asks it about the inputs that are there, if it takes such inputs. */
async function enter(name) {
  api.gate = name;
  leaving = true;
  const before = gate;
  const found = await api.get("/gate");
  if (api.gate !== name) return; // another was chosen meanwhile
  leaving = false;
  gate = found;
  calibration = new Calibration(gate.calibration);
  const pictures = gate.kind === "images";
  find("pictures").hidden = !pictures;
  find("rows").hidden = pictures;
  find("picture-note").textContent = pictures ? `This gate takes ${inputsOf(gate)}; fitting a picture to that can itself make it unusual.` : "";
  if (!pictures) rowForms(gate, (rows) => attempt(() => addRows(rows)), complain);
  find("lead").textContent =
    `The gate “${gate.name}” learnt from ${inputsOf(gate)}, without labels. It says whether an input is like ` +
    `those, and how often it would say otherwise by mistake.`;
  showGate(gate);
  drawChart();
  const inputs = cards.map((card) => card.input);
  removeAll();
  point.begin(gate);
  traffic.begin(gate);
  if (before && before.kind === gate.kind && inputs.length) await add(inputs);
}

/** Another save of the gate answers now. If it decides as before, and only remembers more, nothing is asked again. */
async function renew() {
  const found = await api.get("/gate");
  if (found.name !== gate.name) return; // another was chosen meanwhile
  if (JSON.stringify({ ...found, version: "" }) === JSON.stringify({ ...gate, version: "" })) {
    gate = traffic.gate = found;
    return;
  }
  announce("The gate has been replaced by a newer one, which is asked again.");
  await enter(api.gate);
}

// --- inputs

async function takeFiles(files) {
  if (!gate || !files.length) return;
  if (gate.kind === "images") return add(files.map((file) => ({ name: file.name, file, convert: find("convert").checked })));
  const names = gate.columns ?? Array.from({ length: gate.input_shape[0] }, (_, place) => `column ${place + 1}`);
  for (const file of files) await addRows(parseRows(await file.text(), names, gate.kind));
}

let rowsAdded = 0;
const addRows = (rows) => add(rows.map((row) => ({ name: `Row ${(rowsAdded += 1)}`, row })));

/** A card for each input, and one call for all of them. */
async function add(inputs) {
  complain("");
  const fresh = inputs.map((input) => new Card(input, removeOne, tell));
  cards = [...fresh, ...cards];
  find("cards").prepend(...fresh.map((card) => card.element));
  tidy();
  fresh[0].element.scrollIntoView({ block: "nearest", behavior: calm.matches ? "auto" : "smooth" });
  for (const portion of portions(fresh)) {
    const left = portion.filter((card) => cards.includes(card)); // a person may have removed some meanwhile
    if (leaving) return; // they go when the other gate has answered
    if (left.length) await score(left);
  }
  const answered = fresh.filter((card) => cards.includes(card));
  if (answered.length) announce(summary(answered));
}

/** Cards that are asked about in one call each: as many, as large and as alike as the server takes them. */
function portions(some) {
  const found = [];
  let bytes = 0;
  for (const card of some) {
    const size = (card.input.file?.size ?? 0) + WRAPPING;
    const last = found.at(-1);
    const fits = last && last.length < limits.inputs && bytes + size <= limits.bytes && last[0].input.convert === card.input.convert;
    if (!fits) found.push([]);
    bytes = fits ? bytes + size : size;
    found.at(-1).push(card);
  }
  return found;
}

async function score(some) {
  try {
    const inputs = some.map((card) => card.input);
    const { results } = gate.kind === "images"
      ? await api.scoreFiles(inputs.map((input) => input.file), inputs[0].convert)
      : await api.scoreRows(inputs.map((input) => input.row));
    some.forEach((card, place) => card.answer(results[place], calibration));
  } catch (error) {
    some.forEach((card) => card.refuse("No answer", error.message));
  }
  decide();
  traffic.look();
  some.filter((card) => !card.result.error).forEach((card) => seen.observe(card.element));
}

function removeOne(card) {
  const next = cards[cards.indexOf(card) + 1] ?? cards[cards.indexOf(card) - 1];
  card.remove();
  cards = cards.filter((other) => other !== card);
  decide();
  announce(`${card.input.name} removed.`);
  (next?.body.querySelector(".remove") ?? find("choose")).focus();
}

function removeAll() {
  cards.forEach((card) => card.remove());
  cards = [];
  decide();
}

// --- explanations, for the cards that are seen

const waiting = [];
let explaining = 0;
const seen = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      waiting.push(cards.find((card) => card.element === target));
    }
    explainNext();
  },
  { rootMargin: "120px" },
);

async function explainNext() {
  while (!leaving && explaining < EXPLAINED_AT_ONCE && waiting.length) {
    const card = waiting.shift();
    if (!cards.includes(card)) continue;
    explaining += 1;
    card.explain((input) => (input.file ? api.explainFile(input.file, input.convert) : api.explainRow(input.row))).finally(() => {
      explaining -= 1;
      explainNext();
    });
  }
}

// --- decisions at the operating point

function decide() {
  if (!gate) return;
  const threshold = calibration.threshold(point.rate);
  cards.forEach((card) => card.decide(point, threshold));
  tidy();
  showOutcome(threshold);
}

const answered = () => cards.filter((card) => card.result && !card.result.error);

function showOutcome(threshold) {
  const here = answered();
  const marks = here.map(({ result }) => ({ score: result.score, flagged: point.flags(result.p_value) }));
  const flagged = marks.filter((one) => one.flagged).length;
  chart?.show(threshold, marks, `Calibration scores, with the threshold at ${number(threshold)} and ${several(marks.length, "input")}, ${count(flagged)} flagged`);
  const recent = traffic.recent.filter((one) => point.flags(one.p_value)).length;
  const parts = [];
  if (here.length) parts.push(`${count(flagged)} of ${several(here.length, "input")} here`);
  if (traffic.recent.length) parts.push(`${count(recent)} of ${several(traffic.recent.length, "recent one")}`);
  const rate = percent(point.rate);
  find("outcome").textContent =
    (point.atOwn ? `The gate works at ${rate}: ` : `At ${rate} instead of ${percent(point.own)}: `) +
    (parts.length ? `${parts.join(" and ")} flagged.` : `of inputs like the training data, at most ${rate} are flagged.`);
}

function drawChart() {
  const plot = find("distribution");
  const width = Math.max(240, Math.round(plot.clientWidth));
  if (!calibration) return;
  chart = new Histogram(calibration, { width, height: 170, words: true });
  plot.replaceChildren(chart.svg);
  find("distribution-caption").textContent =
    `How ${count(calibration.count)} held-out inputs like the training data score (${gate.statistic}${calibration.scale.logarithmic ? ", log scale" : ""}): more unusual to the right. ` +
    "Marks under the axis are the inputs asked about: ● pass, ◆ flagged.";
  decide();
}

// --- words

function summary(some) {
  const read = some.filter((card) => !card.result?.error);
  const flagged = read.filter((card) => point.flags(card.result.p_value));
  const failed = some.length - read.length;
  const said = some.length === 1 && read.length
    ? [`${some[0].input.name}: ${some[0].word.textContent}. ${some[0].sentence.textContent}`]
    : [`${several(read.length, "input")} answered: ${count(flagged.length)} flagged, ${count(read.length - flagged.length)} pass.`];
  if (failed) said.push(`${several(failed, "input")} got no answer.`);
  return said.join(" ");
}

function tidy() {
  const here = answered();
  const flagged = here.filter((card) => point.flags(card.result.p_value)).length;
  find("empty").hidden = cards.length > 0;
  find("clear").hidden = cards.length < 2;
  find("answers-summary").textContent = here.length
    ? `${several(here.length, "input")}: ${count(flagged)} flagged, ${count(here.length - flagged)} pass`
    : "";
}

let settled; // what the slider will say once it rests, unless something newer is said

function announce(words) {
  clearTimeout(settled);
  find("announcer").textContent = words;
}

function complain(message) {
  find("trouble").textContent = message;
  find("trouble").hidden = message === "";
}

async function attempt(work) {
  try {
    await work();
  } catch (error) {
    complain(error.message);
  }
}

/** Promises a key; asks until there is one, for without it nothing here works. */
function askKey(message) {
  const [dialog, field] = [find("key-dialog"), find("key")];
  find("metrics")?.replaceWith("metrics at /metrics, with a key"); // a link carries none
  if (message) find("key-note").textContent = message;
  field.value = "";
  dialog.showModal();
  return new Promise((resolve) => {
    const closed = () => {
      if (!field.value) return dialog.showModal();
      dialog.removeEventListener("close", closed);
      resolve(field.value);
      field.value = "";
      return undefined;
    };
    dialog.addEventListener("close", closed);
  });
}

// --- wiring

point.addEventListener("change", () => {
  decide();
  clearTimeout(settled); // a slider on the move is not read out
  if (cards.length) settled = setTimeout(() => announce(find("outcome").textContent), 700);
});
traffic.onNews = () => gate && showOutcome(calibration.threshold(point.rate));
traffic.onReplaced = () => attempt(renew);
new ResizeObserver(drawChart).observe(find("distribution"));
find("clear").addEventListener("click", () => {
  removeAll();
  announce("All inputs removed.");
  find("inputs").focus();
});
themeButton(find("theme"));
intake((files) => attempt(() => takeFiles(files)));
attempt(start);
