import type { Page } from "playwright-core";
import { expect } from "vitest";
import { en } from "../../src/text/en";
import { address, scenario } from "../harness/scenario";
import { board, legal, result, startTwoPlayerGame } from "../harness/game_page";

/** After these moves black must pass. */
const BEFORE_PASS = ["f5", "f6", "c4", "g5", "h5", "h4", "f7", "h6"];
/** After these moves white has no disc. */
const SHORTEST_GAME = ["e6", "f4", "e3", "f6", "g5", "d6", "e7", "f5", "c5"];
const PASS = en.game.mustPass(en.side.black);

scenario("a pass is shown on the board and in the list, to players and watchers", async ({ openAs }) => {
  const ada = await openAs("ada");
  const bob = await openAs("bob");
  await startTwoPlayerGame(ada, bob);
  const cleo = await openAs("cleo", { at: address(ada.url()) });
  await legal(ada).first().waitFor();
  for (const [ply, move] of BEFORE_PASS.entries()) await square(ply % 2 ? bob : ada, move).click();
  for (const page of [ada, bob, cleo]) {
    await page.locator(".board-note").getByText(PASS).waitFor();
    await page.locator(".moves .move").getByText(PASS).waitFor();
  }
  await bob.getByRole("heading", { name: en.game.yourTurn }).waitFor();
  // The words go, the list keeps them.
  await ada.locator(".board-note").waitFor({ state: "detached" });
  await ada.locator(".moves .move").getByText(PASS).waitFor();
});

scenario("the score is the discs, and the official one is explained where empty squares count", async ({ openAs }) => {
  const ada = await openAs("ada");
  const bob = await openAs("bob");
  await startTwoPlayerGame(ada, bob);
  for (const [ply, move] of SHORTEST_GAME.entries()) await square(ply % 2 ? bob : ada, move).click();
  await result(bob).getByText("13 – 0").waitFor();
  await result(bob).getByText(en.result.official(64, 0)).waitFor();
  await result(bob).getByRole("link", { name: en.game.replay }).click();
  await bob.locator(".result").getByText("13 – 0").waitFor();
  await bob.locator(".result").getByText(en.result.official(64, 0)).waitFor();
  await bob.getByRole("link", { name: "bob" }).click();
  await bob.locator(".history").getByText("0–13").waitFor();
});

scenario("an illegal click or key gets a gentle sign and moves nothing", async ({ openAs }) => {
  const ada = await openAs("ada");
  const bob = await openAs("bob");
  await startTwoPlayerGame(ada, bob);
  const before = await board(ada);
  await ada.getByRole("gridcell", { name: "a1," }).click();
  await ada.locator(".cell.refused[data-square=a1]").waitFor();
  await ada.getByRole("log").getByText(en.refusal.ILLEGAL_MOVE).waitFor();
  await ada.keyboard.press("ArrowRight");
  await ada.keyboard.press("Enter");
  await ada.locator(".cell.refused[data-square=b1]").waitFor();
  await bob.getByRole("gridcell", { name: "d3," }).click();
  await bob.getByRole("log").getByText(en.refusal.NOT_YOUR_TURN).waitFor();
  expect(await board(ada)).toBe(before);
});

scenario("Escape closes the menu, a question and the powers over a member", async ({ openAs }) => {
  const ada = await openAs("ada");
  const bob = await openAs("bob");
  await startTwoPlayerGame(ada, bob);
  await ada.getByRole("button", { name: en.menu.settings }).click();
  await ada.getByRole("button", { name: en.menu.logOut }).click();
  const question = ada.getByRole("group", { name: en.menu.logOutSure });
  await question.waitFor();
  await ada.keyboard.press("Escape");
  await question.waitFor({ state: "detached" });
  await ada.getByLabel(en.menu.language).waitFor();
  await ada.keyboard.press("Escape");
  await ada.getByLabel(en.menu.language).waitFor({ state: "hidden" });

  await ada.getByRole("button", { name: en.game.resign }).click();
  await ada.keyboard.press("Escape");
  await ada.getByRole("group", { name: en.game.resignSure }).waitFor({ state: "detached" });

  await ada.getByLabel(`${en.room.manage}: bob`).click();
  await ada.getByRole("button", { name: en.room.makeOwner }).waitFor();
  await ada.keyboard.press("Escape");
  await ada.getByRole("button", { name: en.room.makeOwner }).waitFor({ state: "hidden" });
});

/** The square, once it is a legal move of the page's player. */
function square(page: Page, name: string) {
  return legal(page).and(page.locator(`[data-square=${name}]`));
}
