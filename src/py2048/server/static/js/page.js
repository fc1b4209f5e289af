// What every page does.
import { $ } from "./elements.js";
import { read, write } from "./settings.js";

const select = $("theme");
select.value = read("theme");
select.addEventListener("change", () => choose(select.value));
addEventListener("storage", (event) => {
  if (event.key === "theme") choose(event.newValue ?? "");
});

/** Go to the next theme in the menu's order; return its title. */
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

const SAME_PRESS = 5000;
/** When each form was sent, in milliseconds: a second press would drop the answer to the first. */
const sent = new Map();
addEventListener("pageshow", () => sent.clear());
addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  if (event.timeStamp - sent.get(form) < SAME_PRESS) event.preventDefault();
  else sent.set(form, event.timeStamp);
});

// An open menu closes as people expect of menus.
for (const kind of ["click", "keydown"]) {
  addEventListener(kind, (event) => {
    const menu = document.querySelector("details.menu[open]");
    const isLeft = kind === "click" ? !menu?.contains(event.target) : event.key === "Escape";
    if (menu && isLeft) menu.open = false;
    if (menu && isLeft && kind === "keydown") menu.firstElementChild.focus();
  });
}
