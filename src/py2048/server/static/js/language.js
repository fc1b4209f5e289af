// The page's language, and numbers as it writes them: English is in the sources; a page in another
// loads its `messages` before the modules, which `make messages` writes.

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

const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

/** A number with its thousands apart. */
export function grouped(value, digits = 0) {
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return value.toLocaleString(document.documentElement.lang, options);
}

/** A change with its sign. */
export const signed = (value) => (value < 0 ? `−${grouped(-value)}` : `+${grouped(value)}`);
