// Rows of a table: from a form, from pasted text or from a dropped file.

import { element, find } from "./elements.js";

const MOST_FIELDS = 24; // a longer form helps nobody

/** Shows the form for a gate's columns; `take(rows)` gets lists (kind "rows") or objects (kind "table"). */
export function rowForms(gate, take, refuse) {
  const names = gate.columns ?? Array.from({ length: gate.input_shape[0] }, (_, place) => `column ${place + 1}`);
  const [form, fields, text] = [find("row-form"), find("row-fields"), find("row-text")];
  form.hidden = names.length > MOST_FIELDS;
  fields.replaceChildren(...(form.hidden ? [] : names.map((name, place) => field(name, place, gate.kind))));
  find("row-note").textContent = `${names.length} columns: ${shortened(names)}. A first line with their names may stand above.`;
  text.placeholder = names.slice(0, 6).join(",");

  const submitted = (read) => (event) => {
    event.preventDefault();
    try {
      take(read());
    } catch (error) {
      refuse(error.message);
    }
  };
  form.onsubmit = submitted(() => {
    const values = [...fields.querySelectorAll("input")].map((input) => input.value.trim());
    return [asRow(values, names, gate.kind)];
  });
  find("row-paste").onsubmit = submitted(() => parseRows(text.value, names, gate.kind));
}

function field(name, place, kind) {
  const id = `field-${place}`;
  const input = element("input", { id, type: "text", required: kind === "rows", autocomplete: "off", spellcheck: false });
  if (kind === "rows") input.inputMode = "decimal";
  return element("div", {}, element("label", { for: id }, name), input);
}

const shortened = (names) => (names.length > 8 ? `${names.slice(0, 8).join(", ")}, …` : names.join(", "));

/** Rows from CSV, JSON, or one JSON value a line. */
export function parseRows(text, names, kind) {
  const trimmed = text.trim();
  if (!trimmed) throw new Error("There is nothing to ask about: paste at least one row.");
  if (/^[[{]/.test(trimmed)) return fromJson(trimmed).map((row) => ordered(row, names, kind));
  const lines = parseCsv(trimmed);
  const header = lines[0].some((cell) => names.includes(cell)) ? lines.shift() : null;
  if (!lines.length) throw new Error("There is a line of column names, but no row under it.");
  return lines.map((cells, number) => {
    const wanted = header ?? names;
    if (cells.length !== wanted.length) {
      throw new Error(`Row ${number + 1} has ${cells.length} values where ${wanted.length} are needed.`);
    }
    if (!header) return asRow(cells, names, kind);
    const byName = new Map(header.map((name, place) => [name, cells[place]]));
    const absent = names.find((name) => !byName.has(name));
    if (absent !== undefined) throw new Error(`The column “${absent}” is missing.`);
    return asRow(names.map((name) => byName.get(name)), names, kind);
  });
}

function fromJson(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    try {
      value = text.split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line));
    } catch {
      throw new Error("That looks like JSON, but cannot be read as JSON.");
    }
  }
  if (value && Array.isArray(value.rows)) value = value.rows;
  return Array.isArray(value) && (Array.isArray(value[0]) || isObject(value[0])) ? value : [value];
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function ordered(row, names, kind) {
  if (kind === "table" || Array.isArray(row)) return row;
  const absent = names.find((name) => !(name in row));
  if (absent !== undefined) throw new Error(`The column “${absent}” is missing.`);
  return names.map((name) => row[name]);
}

/** A gate for tables takes cells as they stand in a file; one for rows takes numbers alone. */
function asRow(cells, names, kind) {
  if (kind === "table") return Object.fromEntries(names.map((name, place) => [name, cells[place]]));
  return cells.map((cell, place) => {
    const value = cell === "" ? NaN : Number(cell);
    if (Number.isNaN(value)) throw new Error(`“${cell}” in the column “${names[place]}” is no number.`);
    return value;
  });
}

/** Lines of cells: commas, semicolons or tabs between them, quotes around those that hold one. */
export function parseCsv(text) {
  const first = text.split("\n", 1)[0];
  const between = [",", ";", "\t"].find((sign) => first.includes(sign)) ?? ",";
  const lines = [[]];
  let cell = "";
  let quoted = false;
  const end = () => {
    lines.at(-1).push(cell.trim());
    cell = "";
  };
  for (let place = 0; place < text.length; place += 1) {
    const sign = text[place];
    if (quoted) {
      if (sign !== '"') cell += sign;
      else if (text[place + 1] === '"') cell += text[(place += 1)];
      else quoted = false;
    } else if (sign === '"' && !cell.trim()) [quoted, cell] = [true, ""];
    else if (sign === between) end();
    else if (sign === "\n") {
      end();
      lines.push([]);
    } else if (sign !== "\r") cell += sign;
  }
  end();
  return lines.filter((cells) => cells.length > 1 || cells[0] !== "");
}
