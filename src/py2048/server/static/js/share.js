// Shares a finished game with the device's share dialog, or copies its text to the clipboard.
import { $, element, findAll } from "./elements.js";
import { _ } from "./language.js";

/**
 * Share a game.
 * @param {HTMLElement} button holds the text, the picture's address, and the address of a page with both
 * @param {HTMLElement} status for a message about what happened
 */
export async function share({ dataset }, status) {
  const { text, picture, page } = dataset;
  if (navigator.share) {
    try {
      await navigator.share(await withPicture(text, picture));
      return;
    } catch (error) {
      if (error.name === "AbortError") return; // the player cancelled
    }
  }
  try {
    await navigator.clipboard.writeText(text);
    const save = element("a", { href: picture, download: "2048.png" }, _("Save the picture"));
    status.replaceChildren(_("Text copied."), " ", save);
  } catch {
    const there = element("a", { href: page }, _("Copy it here"));
    status.replaceChildren(_("Your browser blocked copying."), " ", there);
  }
}

// The text, and the picture if the device can share files.
async function withPicture(text, address) {
  const answer = navigator.canShare ? await fetch(address).catch(() => null) : null;
  if (!answer?.ok) return { text };
  const files = [new File([await answer.blob()], "2048.png", { type: "image/png" })];
  return navigator.canShare({ files }) ? { text, files } : { text };
}

for (const button of findAll("main [data-share]")) {
  button.addEventListener("click", () => share(button, $("shared")));
}
