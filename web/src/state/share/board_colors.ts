import type { BoardColors } from "../../game/picture";

/** The custom properties of base.css that have the colors. */
const PROPERTIES: Record<keyof BoardColors, string> = {
  frame: "--frame",
  onFrame: "--on-frame",
  board: "--board",
  line: "--board-line",
  black: "--black-disc",
  blackEdge: "--black-edge",
  white: "--white-disc",
  whiteEdge: "--white-edge",
  mark: "--mark",
};

/** The colors of the page's boards now. */
export function boardColors(): BoardColors {
  // A property may name another one, or have a color for light and one for dark; an element's color has neither.
  const probe = document.body.appendChild(document.createElement("span"));
  const computed = getComputedStyle(probe);
  const color = (property: string) => {
    probe.style.color = `var(${property})`;
    return computed.color;
  };
  const colors = Object.entries(PROPERTIES).map(([name, property]) => [name, color(property)]);
  probe.remove();
  return Object.fromEntries(colors) as BoardColors;
}
