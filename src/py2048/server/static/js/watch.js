// The page of a game in progress, which shows each move as it is made.
import { AWAY, Connection, LATER, LOGGED_OUT } from "./connection.js";
import { $, button } from "./elements.js";
import { _ } from "./language.js";
import { Scene } from "./scene.js";

const SETTLED = 400;

const id = $("game").dataset.game;
const scene = new Scene();
let isLost = true;

const connection = new Connection("/ws", {
  message: hear,
  lost: () => scene.note(connection.isLoggedOut ? LOGGED_OUT : AWAY, "warn"),
});

function hear(message) {
  if (message.type === "hello") ask();
  if (message.type === "state") shown(message);
  if (message.type === "events" && message.game === id && !isLost) {
    scene.events(message);
    if (message.outcome !== "playing") over();
  }
  if (message.type === "refused") {
    if (message.state) scene.state(message.state);
    scene.note(message.message, "warn");
    if (isLost && LATER.includes(message.reason)) setTimeout(ask, message.retry_ms ?? 1000);
  }
}

function ask() {
  isLost = true;
  connection.send({ type: "watch", game: id });
}

function shown(state) {
  isLost = false;
  scene.state(state);
  if (state.outcome === "playing") scene.note(_("Waiting for the next move …"));
  else if (performance.getEntriesByType("navigation")[0]?.type === "reload") over();
  else settle();
}

function over() {
  const replay = button(_("See the replay"), settle, "primary");
  scene.note(`${_("The game is over.")} `);
  $("status").append(replay);
  $("status").removeAttribute("aria-hidden");
}

// A game that can be undone becomes a record when its player has left it.
function settle() {
  connection.send({ type: "leave" });
  setTimeout(() => location.reload(), SETTLED);
}
