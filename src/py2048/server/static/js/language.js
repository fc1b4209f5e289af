// The page's language: English is in the sources; a page in another loads its `messages` before the
// modules, which `make messages` writes.
import { grouped } from "./numbers.js";

const messages = globalThis.messages ?? {};

/** A text, with the values of its {names}. */
export function _(text, values = {}) {
  return filled([messages[text] ?? text].flat()[0], values); // some have a form for many as well
}

/** The text for `count` things, by the rule of the language. */
export function ngettext(one, many, count, values = {}) {
  const form = messages[one]?.[messages[""](count)] ?? (count === 1 ? one : many);
  return filled(form, { n: grouped(count), ...values });
}

/** Mark a text of a table, to be translated where it is shown. */
export const N_ = (text) => text;

const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
