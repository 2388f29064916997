import { expect } from "vitest";
import { en } from "../src/text/en";
import { story } from "./harness/scenario";
import { startMatch } from "./harness/game_page";

/** Plies that are watched: enough for both to have moved more than once. */
const WATCHED = 8;

story("what one program thinks stays while the other moves, and nothing jumps", async ({ enter }) => {
  const page = await enter("ada");
  await startMatch(page, ["alphabeta:2", "mcts:2"], { pause: 0.3 });
  const bar = page.getByRole("img", { name: en.game.evaluation });
  await bar.waitFor();
  const moves = page.locator(".moves .move");
  const places = new Set<string>();
  for (let seen = 0; seen < WATCHED; seen++) {
    const before = await moves.count();
    await expect.poll(() => moves.count()).toBeGreaterThan(before);
    const graph = await page.locator(".graph").boundingBox();
    places.add(`${await bar.count()} ${graph?.height} at ${graph?.y}`);
  }
  expect([...places]).toHaveLength(1);
  await page.locator(".opinion strong").getByText("Monte Carlo").waitFor();
});
