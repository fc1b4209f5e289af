// Refreshes the boards of games in progress, except while the list is hovered, focused or hidden.
import { fetched } from "./server.js";

const REFRESH_MS = 4000;
const list = document.querySelector(".now");

setInterval(async () => {
  if (document.hidden || list.matches(":hover, :focus-within")) return;
  const fresh = (await fetched(location.pathname))?.querySelector(".now");
  if (fresh) list.replaceChildren(...fresh.children);
}, REFRESH_MS);
