// The page's language and its number format. English texts are in the sources. A page in another
// language loads the translated `messages`, which `make messages` writes, before its modules.

const messages = globalThis.messages ?? {};
const locale = globalThis.document?.documentElement.lang ?? "en";

/**
 * Translate a text and fill in its {names}.
 * @param {string} text
 * @param {{[name: string]: unknown}} [values]
 */
export function _(text, values = {}) {
  return filled([messages[text] ?? text].flat()[0], values); // texts with a plural are lists
}

/**
 * Translate the text for `count` things, by the language's plural rule.
 * @param {string} one
 * @param {string} many
 * @param {number} count
 * @param {{[name: string]: unknown}} [values]
 */
export function ngettext(one, many, count, values = {}) {
  const form = messages[one]?.[messages[""](count)] ?? (count === 1 ? one : many);
  return filled(form, { n: grouped(count), ...values });
}

/** Fill values into a text's {names}. */
export const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

/** Format a number with the language's separators, rounded as the server does. */
export function grouped(value, digits = 0) {
  /** @type {Intl.NumberFormatOptions} */
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits, roundingMode: "halfEven" };
  const exact = /** @type {any} */ (value.toFixed(20)); // 0.35 is less than its digits say
  return new Intl.NumberFormat(locale, options).format(exact);
}

/** Format a change with its sign. */
export const signed = (value) => (value < 0 ? `−${grouped(-value)}` : `+${grouped(value)}`);

/** Format a date as the server's pages do: "29 November", with the year if it is not the current one. */
export function dated(day) {
  const year = day.startsWith(String(new Date().getUTCFullYear())) ? undefined : "numeric";
  return new Date(day).toLocaleDateString(locale.replace("en", "en-GB"), { day: "numeric", month: "long", year, timeZone: "UTC" });
}
