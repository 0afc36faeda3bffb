// Asking the server. The key lives in this module's memory and nowhere else.

import { sentence } from "./words.js";

const PATIENCE = 3; // times that a busy server is asked again
const LONGEST_WAIT = 10; // seconds

/** What the server refused, in its own words. */
export class Refusal extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export class Api {
  /** `askKey(message)` promises a key from the person. */
  constructor(askKey) {
    this.askKey = askKey;
    this.key = null;
    this.asking = null;
    this.gate = null;
  }

  get(path) {
    return this.ask(path, {});
  }

  /** What `/score` says about several files in one call. */
  scoreFiles(files, convert) {
    return this.ask("/score", { method: "POST", body: form(files) }, { convert });
  }

  scoreRows(rows) {
    return this.ask("/score", json({ rows }));
  }

  explainFile(file, convert) {
    return this.ask("/explain", { method: "POST", body: form([file]) }, { convert });
  }

  explainRow(row) {
    return this.ask("/explain", json({ rows: [row] }));
  }

  /** Tells the gate for good what an input was. */
  confirm({ file, row, convert }, normal) {
    return file
      ? this.ask("/confirm", { method: "POST", body: form([file]) }, { convert, normal })
      : this.ask("/confirm", json({ rows: [row] }), { normal });
  }

  async ask(path, request, query = {}) {
    const asked = new URLSearchParams(this.gate === null ? query : { gate: this.gate, ...query });
    const url = asked.size ? `${path}?${asked}` : path;
    for (let attempt = 1; ; attempt += 1) {
      const used = this.key;
      const response = await this.send(url, request);
      if (response.status === 401) await this.renewKey(used);
      else if (response.status === 429 && attempt <= PATIENCE) await pause(waitOf(response));
      else return answerOf(response);
    }
  }

  async send(url, request) {
    const headers = { ...request.headers };
    if (this.key !== null) headers.Authorization = `Bearer ${this.key}`;
    try {
      return await fetch(url, { ...request, headers, cache: "no-store" });
    } catch {
      throw new Refusal("The server does not answer. Is it still running?", 0);
    }
  }

  /** Asks for a key once, however many calls were refused; a call refused with an old key just tries again. */
  async renewKey(used) {
    if (used !== this.key) return;
    this.asking ??= this.askKey(used === null ? "" : "The server does not know that key. Please try again.");
    try {
      this.key = await this.asking;
    } finally {
      this.asking = null;
    }
  }
}

async function answerOf(response) {
  const answer = await response.json().catch(() => null);
  if (response.ok && answer !== null) return answer;
  // Of several inputs that all failed, each has its own reason.
  if (response.status === 422 && Array.isArray(answer?.results)) return answer;
  const reason = typeof answer?.error === "string" ? answer.error : `The server answered ${response.status}.`;
  throw new Refusal(sentence(reason), response.status);
}

function form(files) {
  const body = new FormData();
  for (const file of files) body.append("files", file, file.name);
  return body;
}

const json = (value) => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(value),
});

const waitOf = (response) => Math.min(LONGEST_WAIT, Number(response.headers.get("Retry-After")) || 1);
const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
