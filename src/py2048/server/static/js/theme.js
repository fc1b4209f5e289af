// The choice of a theme; the colours themselves come from the server's table.
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
