// The page of a battle: its players, standings and result.
import { AWAY, Connection, LOGGED_OUT } from "./connection.js";
import { $, element } from "./elements.js";
import { _ } from "./language.js";
import { check } from "./proof.js";
import { avatar, Rivals } from "./rivals.js";

const { battle, stage, rematch, least } = $("battle").dataset;
let names = null;
let isLeaving = false; // a form is being submitted; reloading would cancel it

const connection = new Connection("/ws", {
  message: hear,
  lost: () => say(connection.isLoggedOut ? LOGGED_OUT : AWAY),
});
const rivals = $("rivals") && new Rivals($("rivals"), say);
$("copy")?.addEventListener("click", copy);
if ($("secret")) check($("commitment").textContent, $("secret").textContent, $("proof"));

function say(text) {
  $("status").textContent = text;
}

async function copy() {
  $("link").select();
  try {
    await navigator.clipboard.writeText($("link").value);
    say(_("Copied."));
  } catch {
    say(_("Your browser blocked copying: the text is selected, press Ctrl+C."));
  }
}

addEventListener("submit", () => (isLeaving = true));
addEventListener("pageshow", () => (isLeaving = false));

function hear(message) {
  if (isLeaving) return;
  if (message.type === "hello") connection.send({ type: "battle", battle });
  if (message.type === "battle" && [AWAY, LOGGED_OUT].includes($("status").textContent)) say("");
  if (message.type === "refused") setTimeout(() => location.reload(), message.retry_ms ?? 0);
  if (message.type !== "battle") return;
  if (message.stage !== stage) moveOn(message);
  else if (stage === "gathering") gather(message);
  else if (stage === "running") rivals.show(message);
  else if ((message.rematch ?? "") !== rematch) location.reload();
}

// When the battle starts, players are sent to their boards. Other visitors keep watching.
function moveOn({ stage: now, you, players }) {
  const mine = players.find((each) => each.seat === you);
  if (now === "running" && mine?.game) location.assign(`/?game=${mine.game}`);
  else location.reload();
}

function gather({ you, players }) {
  const here = players.map(({ name, seat }) => (seat === you ? `${name} (${_("you")})` : name));
  const shown = players.map(({ name }, n) => element("li", {}, avatar(name), element("span", {}, here[n])));
  $("players").replaceChildren(...shown);
  if ($("start")) $("start").disabled = players.length < Number(least);
  const come = names && here.filter((name) => !names.includes(name));
  const gone = names && names.filter((name) => !here.includes(name));
  if (come?.length) say(_("{names} joined.", { names: come.join(", ") }));
  if (gone?.length) say(_("{names} left.", { names: gone.join(", ") }));
  const wasFirst = Boolean($("start"));
  if (names && !wasFirst && players[0]?.seat === you) location.reload();
  names = here;
}
