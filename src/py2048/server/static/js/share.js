// Sharing a finished game: copy the text, or give it to the device.
import { offerCopy } from "./page.js";

const $ = (id) => document.getElementById(id);

offerCopy($("copy"), $("share-text"), $("copied"));
if (navigator.share) {
  $("send").hidden = false;
  $("send").addEventListener("click", () => navigator.share({ text: $("share-text").value }).catch(() => {}));
}
