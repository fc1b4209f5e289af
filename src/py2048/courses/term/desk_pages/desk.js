// Filters and sorts a class, opens the next student of the filtered list by arrow keys, fills in the
// form for a line's comment, and asks before unsaved entries are lost.
"use strict";

document.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
  const busy = event.target.closest("input, textarea, select, pre, [role=region]");
  if (busy || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (step) document.querySelector(`a[rel=${step}]:not([hidden])`)?.click();
  if (event.key === "/" && filters) {
    event.preventDefault();
    filters.words.focus();
  }
});

const table = document.getElementById("class");
const filters = document.getElementById("filters");
if (table) {
  const body = table.tBodies[0];
  const address = table.dataset.list;
  const kept = JSON.parse(sessionStorage.getItem(`${address}filters`) ?? "{}");
  const value = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value ?? cell.textContent.trim();
  };
  const compare = new Intl.Collator(undefined, { numeric: true }).compare;
  const show = () => {
    const words = filters.words.value.toLowerCase().split(/\s+/);
    const section = filters.section?.value ?? "";
    const rows = [...body.rows];
    for (const row of rows) {
      const found = words.every((word) => row.dataset.words.includes(word));
      const inside = !section || row.dataset.section === section;
      row.hidden = !found || !inside || (filters.attention.checked && !("attention" in row.dataset));
    }
    const shown = rows.filter((row) => !row.hidden);
    filters.querySelector("output").value = `${shown.length} of ${rows.length}`;
    sessionStorage.setItem(address, JSON.stringify(shown.map((row) => row.dataset.key)));
    Object.assign(kept, { words: filters.words.value, section, attention: filters.attention.checked });
    sessionStorage.setItem(`${address}filters`, JSON.stringify(kept));
  };
  const sort = (column, descending) => {
    const rows = [...body.rows];
    rows.sort((one, other) => compare(value(one, column), value(other, column)));
    body.append(...(descending ? rows.reverse() : rows));
    for (const head of table.tHead.rows[0].cells) head.removeAttribute("aria-sort");
    table.tHead.rows[0].cells[column].ariaSort = descending ? "descending" : "ascending";
    Object.assign(kept, { column, descending });
  };
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      sort(column, head.ariaSort === "ascending");
      show();
    });
  });
  filters.hidden = false;
  filters.words.value = kept.words ?? "";
  if (filters.section) filters.section.value = kept.section ?? "";
  filters.attention.checked = kept.attention ?? false;
  if (kept.column !== undefined) sort(kept.column, kept.descending);
  filters.addEventListener("input", show);
  filters.addEventListener("submit", (event) => event.preventDefault());
  show();
}

const place = document.getElementById("place");
const list = place && JSON.parse(sessionStorage.getItem(place.dataset.list) ?? "[]");
if (list?.includes(place.dataset.key)) {
  const at = list.indexOf(place.dataset.key);
  place.textContent = `${at + 1} of ${list.length}`;
  for (const [rel, key] of [["prev", list[at - 1]], ["next", list[at + 1]]]) {
    const link = document.querySelector(`a[rel=${rel}]`);
    link.hidden = key === undefined;
    if (key !== undefined) link.href = `student?who=${encodeURIComponent(key)}`;
  }
  const next = document.querySelector("button[name=next]");
  if (next) next.value = list[at + 1] ?? "";
}

const comment = document.getElementById("comment");
if (comment) comment.hidden = true;
document.querySelector(".programs")?.addEventListener("click", (event) => {
  const line = event.target.closest("[data-file] span");
  if (!line || !comment || String(getSelection())) return;
  const lines = [...line.parentElement.querySelectorAll("span")];
  comment.file.value = line.closest("[data-file]").dataset.file;
  comment.line.value = lines.indexOf(line) + 1;
  comment.text.value = line.nextElementSibling?.matches("q") ? line.nextElementSibling.textContent : "";
  comment.hidden = false;
  comment.text.focus();
});

for (const form of document.querySelectorAll("form[method=post]")) {
  const fields = () => new URLSearchParams(new FormData(form)).toString();
  let saved = fields();
  form.addEventListener("submit", () => { saved = null; });
  window.addEventListener("beforeunload", (event) => {
    if (saved !== null && saved !== fields()) event.preventDefault();
  });
}
