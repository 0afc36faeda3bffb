// Why an input got its score: the map, what the draws see, what is nearest, and the numbers behind it.

import { element } from "./elements.js";
import { number, percent } from "./words.js";

const SHOWN_COLUMNS = 6;
const NAMED_CARRIERS = 3;
const NOTHING = "–"; // where no draw says what it expects, as of flows

/** Pictures in a row under a heading. */
function strip(title, uris, describe) {
  if (!uris?.length) return null;
  const images = uris.map((src, place) =>
    element("li", {}, element("img", { src, alt: describe(place + 1), className: "pixels" })),
  );
  return element("figure", { className: "strip" }, element("figcaption", {}, title), element("ul", {}, ...images));
}

/** The part of a card that `/explain` fills. */
export function explanationParts(answer, name) {
  return [
    strip("As the draws see it", answer.reconstructions, (place) => `${name} as draw ${place} sees it`),
    strip("Nearest in training", answer.nearest, (place) => `Training input ${place}, nearest first`),
    largestColumns(answer),
    statisticsTable(answer.statistics, answer.surprises),
  ].filter((part) => part !== null);
}

/** The columns of a row that cause most of what is unusual, and what the draws expected, where they say. */
function largestColumns(answer) {
  const shown = (answer.columns ?? []).slice(0, SHOWN_COLUMNS);
  if (!shown.length) return null;
  const expects = shown.some(({ expected }) => span(expected) !== NOTHING);
  const lines = shown.map(({ column, value, share, expected }) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, typeof column === "number" ? `column ${column + 1}` : column),
      element("td", {}, cell(value)),
      ...(expects ? [element("td", {}, span(expected))] : []),
      element("td", { className: "bar-cell" }, bar(share)),
      element("td", {}, percent(share)),
    ),
  );
  return element(
    "figure",
    { className: "columns" },
    element("figcaption", {}, "What is unusual: each column’s share"),
    tableOf(["Column", "Value", ...(expects ? ["Draws expect"] : []), "", "Share"], lines),
  );
}

/** A table's cells come as texts; a row's numbers as numbers. */
const cell = (value) => (typeof value === "string" ? value : number(value));

function span(expected) {
  if (typeof expected === "string") return expected;
  return expected?.length ? `${number(Math.min(...expected))} to ${number(Math.max(...expected))}` : NOTHING;
}

function statisticsTable(statistics, surprises) {
  const carriers = Object.entries(surprises ?? {}).slice(0, NAMED_CARRIERS);
  const lines = Object.entries(statistics ?? {}).map(([name, standing]) => {
    const { value, percentile } = standing;
    const known = typeof percentile === "number";
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, element("b", {}, name), element("span", { className: "faint" }, standing.meaning ?? "")),
      element("td", {}, number(value)),
      element("td", { className: "bar-cell" }, bar(known ? percentile / 100 : 0)),
      element("td", {}, known ? number(percentile) : "–"),
    );
  });
  if (!lines.length) return null;
  return element(
    "details",
    {},
    element("summary", {}, "The numbers behind it"),
    element("p", { className: "faint" }, "Percentiles among the held-out inputs; higher is more unusual, and for a fused score often lower too."),
    ...(carriers.length
      ? [element("p", {}, `Most unusual by itself: ${carriers.map(([name, nats]) => `${name} (${number(nats)} nats)`).join(", ")}.`)]
      : []),
    tableOf(["Statistic", "Value", "", "Percentile"], lines),
  );
}

/** A table that scrolls by itself where it is too wide; an empty heading is that of bars, which repeat a number. */
function tableOf(heads, lines) {
  const cells = heads.map((word) => (word ? element("th", { scope: "col" }, word) : element("td")));
  return element(
    "div",
    { className: "scroll" },
    element("table", {}, element("thead", {}, element("tr", {}, ...cells)), element("tbody", {}, ...lines)),
  );
}

function bar(share) {
  const filled = element("span", { className: "bar-filled" });
  filled.style.width = `${Math.round(100 * Math.min(1, Math.max(0, share)))}%`;
  return element("span", { className: "bar-frame", "aria-hidden": "true" }, filled);
}
