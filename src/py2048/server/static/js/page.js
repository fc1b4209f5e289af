// What every page does, and what several of them offer: themes, and buttons that copy.
import { _ } from "./language.js";
import { read, write } from "./settings.js";

/** Let a `select` choose the theme of the page. */
export function offerThemes(select) {
  select.value = read("theme");
  select.addEventListener("change", () => choose(select, select.value));
  addEventListener("storage", (event) => {
    if (event.key === "theme") choose(select, event.newValue ?? "");
  });
}

/** Go to the next theme in the menu's order; return its title. */
export function nextTheme(select) {
  const options = [...select.options];
  const index = (select.selectedIndex + 1) % options.length;
  choose(select, options[index].value);
  return options[index].textContent;
}

function choose(select, theme) {
  select.value = theme;
  write("theme", theme);
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

/**
 * Let a button copy a field, where scripts run.
 * @param {HTMLElement} button shown by this
 * @param {HTMLInputElement | HTMLTextAreaElement} field what is copied
 * @param {HTMLElement} status where it is said
 */
export function offerCopy(button, field, status) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      status.textContent = _("Copied.");
    } catch {
      status.textContent = _("Your browser does not copy by itself: the text is marked, press Ctrl+C.");
    }
  });
}

offerThemes(document.getElementById("theme"));

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
