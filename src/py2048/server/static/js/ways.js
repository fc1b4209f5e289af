// Names, arrows and losses of the four directions.
import { $, element } from "./elements.js";
import { _ } from "./language.js";

export const WAYS = { up: _("Up"), down: _("Down"), left: _("Left"), right: _("Right") };
export const ARROWS = { up: "↑", down: "↓", left: "←", right: "→" };

/** Whether a move is an inaccuracy, a mistake or a blunder. */
export const isMistake = ({ grade }) => !["best", "good"].includes(grade);

/**
 * Mark the best direction and the one played at the board's edge; without them, remove the marks.
 * @param {string} [best]
 * @param {string | false} [played]
 */
export function markEdge(best, played) {
  const { dataset } = $("board");
  for (const [name, way] of Object.entries({ best, played })) {
    if (way) dataset[name] = way;
    else delete dataset[name];
  }
}

/**
 * A list item for a direction, with a bar and what the direction loses.
 * @param {string} way
 * @param {{lost: string, share: number, isBest?: boolean, isPlayed?: boolean}} facts
 */
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
