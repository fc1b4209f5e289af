// Scripts for all pages: themes, forms and menus.
import { $, find } from "./elements.js";
import { nameOf, read, write } from "./storage.js";

const select = $("theme");
select.value = read("theme");
select.addEventListener("change", () => choose(select.value));
addEventListener("storage", (event) => {
  if (nameOf(event.key) === "theme") choose(event.newValue ?? "");
});

/** Select the next theme in the menu; return its title. */
export function nextTheme() {
  const next = select.options[(select.selectedIndex + 1) % select.options.length];
  choose(next.value);
  return next.textContent;
}

function choose(theme) {
  select.value = theme;
  write("theme", theme);
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

// Submitting a form again within this time would discard the first response.
const DOUBLE_PRESS_MS = 5000;
/** @type {Map<EventTarget, number>} when each form was sent */
const sent = new Map();
addEventListener("pageshow", () => sent.clear());
addEventListener("submit", (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (event.defaultPrevented || form.method !== "post") return;
  if (event.timeStamp - sent.get(form) < DOUBLE_PRESS_MS) event.preventDefault();
  else sent.set(form, event.timeStamp);
});

// A click elsewhere or Escape closes an open menu.
for (const kind of ["click", "keydown"]) {
  addEventListener(kind, (/** @type {any} */ event) => {
    const menu = find("details.menu[open]");
    const isLeft = kind === "click" ? !menu?.contains(event.target) : event.key === "Escape";
    if (menu && isLeft) menu.open = false;
    if (menu && isLeft && kind === "keydown") menu.firstElementChild.focus();
  });
}
