import { expect, test } from "vitest";
import { OPENING_NAMES } from "./opening_names";

test("the names are those of the server, each once and without its moves", () => {
  expect(OPENING_NAMES.length).toBeGreaterThanOrEqual(80);
  expect(new Set(OPENING_NAMES).size).toBe(OPENING_NAMES.length);
  expect(OPENING_NAMES).toEqual(expect.arrayContaining(["Rose", "Tiger", "Buffalo", "Heath", "Perpendicular"]));
  for (const name of OPENING_NAMES) expect(name).not.toMatch(/ ([a-h][1-8])+$|#/);
});
