import { expect, it } from "vitest";
import { readPasted } from "./pasted";

const FULL = "5f".repeat(32);
const PLAY = `play_${FULL}`;

it("reads a token, or a line of a keep file", () => {
  const read = (pasted: string) => readPasted(pasted, "b.example");
  expect(read(` ${FULL}\n`)).toEqual({ token: FULL });
  expect(read(PLAY)).toEqual({ token: PLAY });
  expect(read(`https://a.example:1,https://b.example ${PLAY} my bot`)).toEqual({ token: PLAY });
  expect(read(`- ${FULL} ada`)).toEqual({ token: FULL });
});

it("does not take a token for another server, nor what is none", () => {
  expect(readPasted(`https://a.example ${FULL} ada`, "b.example")).toBe("elsewhere");
  for (const pasted of ["", "nova", FULL.slice(1), `${FULL}0`, `bot_${FULL}`, `https://b.example nova ${FULL}`]) {
    expect(readPasted(pasted, "b.example")).toBe("unreadable");
  }
});
