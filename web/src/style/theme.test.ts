import { describe, expect, it } from "vitest";
import SHEET from "./theme.css?raw";

type Colors = Readonly<Record<string, string>>;

const SHARED = colorsOf(":root {");

/** The least contrast of graphics that must be told apart (WCAG 1.4.11). */
const GRAPHICS = 3;

/** The least contrast of small text (WCAG 1.4.3). */
const TEXT = 4.5;

describe("themes", () => {
  for (const board of ["green", "blue", "wood"])
    for (const discs of ["glossy", "flat", "ivory"])
      it(`${board} board and ${discs} discs have enough contrast`, () => {
        const colors = { ...SHARED, ...colorsOf(`[data-board="${board}"]`), ...colorsOf(`[data-discs="${discs}"]`) };
        for (const [one, other, least] of PAIRS)
          expect(contrast(colors, one, other), `${one} ${other}`).toBeGreaterThanOrEqual(least);
      });
});

const PAIRS = [
  ["black-disc", "white-disc", TEXT],
  ["black-disc", "board", GRAPHICS],
  ["white-disc", "board", GRAPHICS],
  ["mark", "board", GRAPHICS],
  ["black-mark", "board", GRAPHICS],
  ["white-mark", "board", GRAPHICS],
  ["on-frame", "frame", TEXT],
] as const;

/** The declarations of the rule that starts so. */
function colorsOf(start: string): Colors {
  const rule = SHEET.slice(SHEET.lastIndexOf(start)).split("}")[0] ?? "";
  return Object.fromEntries(
    [...rule.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)].map(([, name, color]) => [name, color]),
  );
}

function contrast(colors: Colors, one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(colors[one]), luminance(colors[other])].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** The relative luminance of `#rrggbb`, as in WCAG. */
function luminance(color = ""): number {
  const [red = NaN, green = NaN, blue = NaN] = [1, 3, 5].map((at) => {
    const part = parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
