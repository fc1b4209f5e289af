// The boards that are watched, anew every few seconds while somebody looks and uses none of them.
import { fetched } from "./server.js";

const PAUSE = 4000;
const list = document.querySelector(".now");

setInterval(async () => {
  if (document.hidden || list.matches(":hover, :focus-within")) return;
  const fresh = (await fetched(location.pathname))?.querySelector(".now");
  if (fresh) list.replaceChildren(...fresh.children);
}, PAUSE);
