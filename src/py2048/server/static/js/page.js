// What every page does.
import { offerThemes } from "./theme.js";

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
