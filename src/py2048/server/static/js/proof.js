// Checks in the browser that a game's secret matches its commitment.
import { _ } from "./language.js";

/** The SHA-256 of a secret in hexadecimal digits, which may have a prefix before a dash. */
async function digest(text) {
  const digits = text.slice(text.lastIndexOf("-") + 1);
  const secret = Uint8Array.from(digits.match(/../g), (pair) => parseInt(pair, 16));
  const bytes = await crypto.subtle.digest("SHA-256", secret);
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Check a secret against its commitment, and show the result in an element. */
export async function check(commitment, secret, place) {
  if (!crypto.subtle) {
    place.textContent = _("Your browser checks this only over a secure connection (https).");
    return;
  }
  const fits = (await digest(secret)) === commitment;
  place.textContent = fits
    ? _("Checked in your browser: the SHA-256 of the secret matches the commitment.")
    : _("Checked in your browser: the SHA-256 of the secret does not match the commitment.");
  place.className = fits ? "good" : "error";
}
