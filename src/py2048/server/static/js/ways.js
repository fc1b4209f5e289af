// The four directions: their names and signs, and what each would lose.
import { $, element } from "./elements.js";
import { _ } from "./language.js";

export const DIRECTIONS = ["up", "down", "left", "right"];
export const WAYS = { up: _("Up"), down: _("Down"), left: _("Left"), right: _("Right") };
const ARROWS = { up: "↑", down: "↓", left: "←", right: "→" };

/** Mark on the board's edge the best direction and the one played, where there are any. */
export function markEdge(best, played) {
  const { dataset } = $("board");
  for (const [name, way] of Object.entries({ best, played })) {
    if (way) dataset[name] = way;
    else delete dataset[name];
  }
}

/** The line of a direction in a list of what each loses. */
export function wayLine(way, { lost, share, isBest, isPlayed }) {
  const arrow = element("span", { "aria-hidden": "true" }, `${ARROWS[way]} `);
  const bar = element("span", { class: "bar" });
  bar.style.setProperty("--share", share);
  const name = element("span", {}, arrow, element("span", { class: "way" }, WAYS[way]));
  const loss = element("span", { class: "loss" }, lost);
  const line = element("li", { "data-direction": way, class: isBest ? "best" : "" }, name, bar, loss);
  if (isPlayed) line.setAttribute("aria-current", "true");
  return line;
}
