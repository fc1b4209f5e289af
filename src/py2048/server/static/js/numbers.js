// Numbers as the page's language writes them.

/** A whole number with its thousands apart. */
export const grouped = (value) => Math.round(value).toLocaleString(document.documentElement.lang);

/** A change with its sign. */
export const signed = (value) => (value < 0 ? `−${grouped(-value)}` : `+${grouped(value)}`);
