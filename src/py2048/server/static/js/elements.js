// Find, create and change elements of a page.

/**
 * The element with an id. Its type is known only to the caller.
 * @param {string} id
 * @returns {any}
 */
export const $ = (id) => document.getElementById(id);

/**
 * The first element that a selector finds.
 * @param {string} selector
 * @returns {any}
 */
export const find = (selector) => document.querySelector(selector);

/**
 * All elements that a selector finds.
 * @param {string} selector
 * @returns {any[]}
 */
export const findAll = (selector) => [...document.querySelectorAll(selector)];

/** Set the text of the element with an id, unless it is unchanged. */
export function put(id, text) {
  const place = $(id);
  if (place.textContent !== String(text)) place.textContent = text;
}

/** Set the text of a badge; an empty text hides the badge. */
export function badge(id, text) {
  put(id, text);
  $(id).hidden = !text;
}

/** Mark a button as disabled. It stays focusable, so that the focus is not lost. */
export function disable(id, isDisabled) {
  $(id).disabled = false;
  $(id).setAttribute("aria-disabled", String(isDisabled));
}

/** Show whether a toggle button is on. */
export function press(id, isOn) {
  $(id).setAttribute("aria-pressed", String(isOn));
}

/**
 * Create an element with attributes and children.
 * @param {string} name
 * @param {{[name: string]: string | number}} [attributes]
 * @param {...(string | Node)} children
 * @returns {any}
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

/** Create a button. */
export function button(label, act, kind = "") {
  const made = element("button", { type: "button", class: kind }, label);
  made.addEventListener("click", act);
  return made;
}

/** Create a link that looks like a button. */
export function link(label, address, kind = "") {
  return element("a", { href: address, class: `button ${kind}` }, label);
}

/** Wait for some milliseconds. */
export const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** Focus the board, so that it receives key presses again. */
export function toBoard() {
  $("board").focus({ preventScroll: true });
}

/** Open a dialog. When it closes, the browser returns the focus to the board. */
export function openDialog(id) {
  if ($(id).open) return;
  toBoard();
  $(id).showModal();
}
