// Elements of a page: those that are there, and those that scripts make.

/** The element with an id. */
export const $ = (id) => document.getElementById(id);

/** Write a text into the element with an id, unless it is there. */
export function put(id, text) {
  const place = $(id);
  if (place.textContent !== String(text)) place.textContent = text;
}

/** An element with attributes and children. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A button that does something. */
export function button(label, act, kind = "") {
  const made = element("button", { type: "button", class: kind }, label);
  made.addEventListener("click", act);
  return made;
}

/** A link that looks like a button. */
export function link(label, address, kind = "") {
  return element("a", { href: address, class: `button ${kind}` }, label);
}
