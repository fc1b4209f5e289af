// The boards that are watched, anew every few seconds while somebody looks and uses none of them.
const PAUSE = 4000;
const list = document.querySelector(".now");

setInterval(async () => {
  if (document.hidden || list.matches(":hover, :focus-within")) return;
  try {
    const text = await (await fetch(location.pathname)).text();
    const fresh = new DOMParser().parseFromString(text, "text/html").querySelector(".now");
    if (fresh) list.replaceChildren(...fresh.children);
  } catch {
    // The server is away: what is there stays.
  }
}, PAUSE);
