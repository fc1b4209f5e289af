// The page of a game that goes on: one sees each move as it is made.
import { Connection } from "./connection.js";
import { Scene } from "./scene.js";

const id = document.getElementById("game").dataset.game;
const scene = new Scene();

const connection = new Connection("/ws", {
  message: hear,
  lost: () => scene.note("The server is away; trying again.", "warn"),
});

function hear(message) {
  if (message.type === "hello") connection.send({ type: "watch", game: id });
  if (message.type === "state") shown(message);
  if (message.type === "events" && message.game === id) {
    scene.events(message);
    if (message.outcome !== "playing") over();
  }
  if (message.type === "refused") scene.note(message.message, "warn");
}

function shown(state) {
  scene.state(state);
  if (state.outcome === "playing") scene.note("Waiting for the next move …");
  else over();
}

function over() {
  scene.note("The game is over. ");
  const replay = Object.assign(document.createElement("a"), { href: location.pathname });
  replay.textContent = "See the replay";
  document.getElementById("status").append(replay);
  document.getElementById("status").removeAttribute("aria-hidden");
}
