import { expect, it } from "vitest";
import { changedPixels } from "./gif";

it("encodes only the pixels that a move changes", () => {
  expect([...changedPixels(Uint8Array.of(1, 2, 3, 4), Uint8Array.of(1, 5, 3, 6), 9)]).toEqual([9, 5, 9, 6]);
});
