// Arrow keys go to the previous and the next student; what was typed is not lost by leaving.
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
  let kept = fields();
  form.addEventListener("submit", () => { kept = null; });
  window.addEventListener("beforeunload", (event) => {
    if (kept !== null && kept !== fields()) event.preventDefault();
  });
}
