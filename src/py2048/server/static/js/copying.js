// A button that copies a field, where scripts run.

/**
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
      status.textContent = "Copied.";
    } catch {
      status.textContent = "Your browser does not copy by itself: the text is marked, press Ctrl+C.";
    }
  });
}
