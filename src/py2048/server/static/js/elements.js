// Elements of a page: finding, making and changing them.

/**
 * The element with an id. Its kind is for the caller to know.
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

/** Write a text into the element with an id, unless it is already there. */
export function put(id, text) {
  const place = $(id);
  if (place.textContent !== String(text)) place.textContent = text;
}

/** Write a text into a badge, and hide the badge if the text is empty. */
export function badge(id, text) {
  put(id, text);
  $(id).hidden = !text;
}

/** Mark a button as disabled. It can still be focused, so that no focus is lost. */
export function disable(id, isDisabled) {
  $(id).disabled = false;
  $(id).setAttribute("aria-disabled", String(isDisabled));
}

/** Show whether a toggle button is on. */
export function press(id, isOn) {
  $(id).setAttribute("aria-pressed", String(isOn));
}

/**
 * Make an element with attributes and children.
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

/** Make a button. */
export function button(label, act, kind = "") {
  const made = element("button", { type: "button", class: kind }, label);
  made.addEventListener("click", act);
  return made;
}

/** Make a link that looks like a button. */
export function link(label, address, kind = "") {
  return element("a", { href: address, class: `button ${kind}` }, label);
}

/** Focus the board, so that keys go to it again. */
export function toBoard() {
  $("board").focus({ preventScroll: true });
}

/** Open a dialog. When it closes, the browser returns the focus to the board. */
export function openDialog(id) {
  if ($(id).open) return;
  toBoard();
  $(id).showModal();
}
