// Making elements without a line of HTML in strings: what a server or a file name says is only ever text.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element; `properties` are set as they are, `aria-*`, `data-*`, `role`, `for` and `scope` as attributes. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (/^(aria-|data-|role$|for$|scope$)/.test(name)) made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** An SVG element with attributes. */
export function shape(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** The element of the page with this id. */
export const find = (id) => document.getElementById(id);

/** A term and its description for a `<dl>`. */
export const fact = (term, description) =>
  element("div", {}, element("dt", {}, term), element("dd", {}, description));
