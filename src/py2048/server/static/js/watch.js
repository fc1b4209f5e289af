// The page of a game in progress, which shows each move as it is made.
import { AWAY, Connection, LOGGED_OUT, RETRYABLE } from "./connection.js";
import { $, button } from "./elements.js";
import { _ } from "./language.js";
import { Scene } from "./scene.js";
import { merged } from "./session.js";

const SAVE_MS = 400;

const id = $("game").dataset.game;
const scene = new Scene();
let game = null;
let isWaiting = true;

const connection = new Connection("/ws", {
  message: hear,
  lost: () => scene.note(connection.isLoggedOut ? LOGGED_OUT : AWAY, "warn"),
});

function hear(message) {
  if (message.type === "hello") ask();
  if (message.type === "state") start(message);
  if (message.type === "events" && message.game === id && !isWaiting) {
    const before = game;
    game = merged(before, message);
    scene.play(before, game, message.events);
    if (game.outcome !== "playing") offerReplay();
  }
  if (message.type === "refused") {
    if (message.state) show(message.state);
    scene.note(message.message, "warn");
    if (isWaiting && RETRYABLE.includes(message.reason)) setTimeout(ask, message.retry_ms ?? 1000);
  }
}

function ask() {
  isWaiting = true;
  connection.send({ type: "watch", game: id });
}

function show(state) {
  scene.show(state, game?.game !== state.game);
  game = state;
}

function start(state) {
  isWaiting = false;
  show(state);
  const [visit] = performance.getEntriesByType("navigation");
  if (state.outcome === "playing") scene.note(_("Waiting for the next move …"));
  else if (/** @type {PerformanceNavigationTiming} */ (visit)?.type === "reload") offerReplay();
  else openReplay();
}

function offerReplay() {
  const replay = button(_("Watch the replay"), openReplay, "primary");
  scene.note(`${_("The game is over.")} `);
  $("status").append(replay);
  $("status").removeAttribute("aria-hidden");
}

// Leaving a finished game makes it final and saves its record; until then, it can be undone.
function openReplay() {
  connection.send({ type: "leave" });
  setTimeout(() => location.reload(), SAVE_MS);
}
