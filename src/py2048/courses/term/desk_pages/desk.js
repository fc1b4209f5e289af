// Arrow keys switch between students; leaving a page with unsaved entries asks first.
"use strict";

document.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
  const busy = event.target.closest("input, textarea, select, pre, [role=region]");
  if (!step || busy || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  document.querySelector(`a[rel=${step}]`)?.click();
});

const form = document.querySelector("form[method=post]");
if (form) {
  const fields = () => new URLSearchParams(new FormData(form)).toString();
  let saved = fields();
  form.addEventListener("submit", () => { saved = null; });
  window.addEventListener("beforeunload", (event) => {
    if (saved !== null && saved !== fields()) event.preventDefault();
  });
}
