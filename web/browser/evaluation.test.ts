import { expect } from "vitest";
import { en } from "../src/text/en";
import { scenario } from "./harness/scenario";
import { startAiMatch } from "./harness/game_page";

/** Plies to watch: both sides move more than once. */
const WATCHED = 8;

scenario("an AI's evaluation stays while the other moves, without layout shifts", async ({ openAs }) => {
  const page = await openAs("ada");
  await startAiMatch(page, ["alphabeta:2", "mcts:2"], { pause: 0.3 });
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
  await page.locator(".evaluation-text strong").getByText("mcts").waitFor();
});
