import { effect, type Signal } from "@preact/signals";
import type { BoardColors } from "../../game/picture/picture";
import { persistentSignal } from "../persistent_signal";

export const SCHEMES = ["system", "light", "dark"] as const;
export const BOARDS = ["green", "blue", "wood"] as const;
export const DISCS = ["glossy", "flat", "ivory"] as const;

/** Light or dark, whatever the system says. */
export const scheme = attribute("scheme", SCHEMES);

/** The colors of boards, in theme.css. */
export const boardTheme = attribute("board", BOARDS);

/** The colors of discs, in theme.css. */
export const discTheme = attribute("discs", DISCS);

/** A choice that style sheets read as an attribute of the document. appearance.js sets it before the first paint. */
function attribute<T extends string>(name: string, values: readonly [T, ...T[]]): Signal<T> {
  const isValue = (value: unknown): value is T => (values as readonly unknown[]).includes(value);
  const chosen = persistentSignal<T>(name, values[0], isValue);
  effect(() => {
    document.documentElement.dataset[name] = chosen.value;
  });
  return chosen;
}

/** The colors of the chosen themes, for pictures. */
export function boardColors(): BoardColors {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    board: color("board"),
    line: color("board-line"),
    frame: color("frame"),
    onFrame: color("on-frame"),
    black: color("black-disc"),
    blackEdge: color("black-edge"),
    blackRing: color("black-ring"),
    white: color("white-disc"),
    whiteEdge: color("white-edge"),
    mark: color("mark"),
    markEdge: color("mark-edge"),
  };
}
