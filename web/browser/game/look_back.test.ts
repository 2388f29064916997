import { expect } from "vitest";
import { en } from "../../src/text/en";
import { address, scenario } from "../harness/scenario";
import { board, legal, quickGame, startAiMatch } from "../harness/game_page";

const { game, replay } = en;

scenario("a player looks back at a running game, and comes back to move", async ({ openAs }) => {
  const ada = await openAs("ada");
  await quickGame(ada, "random");
  const start = await board(ada);
  for (let moves = 0; moves < 2; moves++) {
    await legal(ada).first().click();
    await legal(ada).first().waitFor();
  }
  const now = await board(ada);

  await ada.locator(".moves .move").first().click();
  await ada.getByRole("group", { name: game.lookingBack }).getByText(replay.at(1, 4)).waitFor();
  expect(await legal(ada).count()).toBe(0);
  await ada.getByRole("button", { name: replay.back, exact: true }).click();
  expect(await board(ada)).toBe(start);

  const forward = ada.getByRole("button", { name: replay.forward, exact: true });
  await forward.focus();
  for (let steps = 0; steps < 4; steps++) await ada.keyboard.press("Enter");
  await ada.getByRole("group", { name: game.lookingBack }).waitFor({ state: "detached" });
  expect(await board(ada)).toBe(now);
  await expect.poll(() => ada.evaluate(() => document.activeElement?.role)).toBe("gridcell");

  await ada.locator(".moves .move").nth(1).focus();
  await ada.keyboard.press("Enter");
  await ada.getByRole("button", { name: game.currentPosition }).click();
  await legal(ada).first().click();
  await legal(ada).first().waitFor();
});

scenario("a watcher looks back while the game goes on, and sees what the AI thought", async ({ openAs }) => {
  const ada = await openAs("ada");
  await startAiMatch(ada, ["alphabeta:2", "alphabeta:2"], { pause: 0.5, plies: 10 });
  const bob = await openAs("bob", { at: address(ada.url()) });
  await bob.setViewportSize({ width: 320, height: 640 });
  const moves = bob.locator(".moves .move");
  await expect.poll(() => moves.count()).toBeGreaterThan(13);
  const thought = bob.locator(".evaluation");
  await moves.nth(11).click();
  const seen = await board(bob);
  const words = await thought.textContent();
  const plies = await moves.count();
  await expect.poll(() => moves.count()).toBeGreaterThan(plies + 1);
  expect(await board(bob)).toBe(seen);
  expect(await thought.textContent()).toBe(words);
  await moves.nth(12).click();
  await expect.poll(() => thought.textContent()).not.toBe(words);
  expect(await bob.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  await bob.getByRole("button", { name: game.currentPosition }).click();
  await expect.poll(() => board(bob)).not.toBe(seen);
});
