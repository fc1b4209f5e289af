// The time until the next daily board.
import { _ } from "./language.js";

const shown = document.getElementById("countdown");
const ends = performance.now() + 1000 * shown.dataset.seconds;

function tick() {
  const left = Math.max(0, Math.round((ends - performance.now()) / 1000));
  const [h, m, s] = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60];
  shown.textContent = _("{h} h {m} min {s} s", { h, m, s });
  if (!left) location.reload();
}

setInterval(tick, 1000);
tick();
