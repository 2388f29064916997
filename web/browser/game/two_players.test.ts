import type { Page } from "playwright-core";
import { expect } from "vitest";
import { GameEndReason } from "../../src/gen/reversi/v1/types_pb";
import { en } from "../../src/text/en";
import { address, scenario } from "../harness/scenario";
import {
  board,
  createRoom,
  invitation,
  legal,
  playToTheEnd,
  quickGame,
  result,
  startTwoPlayerGame,
} from "../harness/game_page";

scenario("two players meet by a link, and a third watches", async ({ openAs }) => {
  const ada = await openAs("ada");
  await createRoom(ada);
  const bob = await openAs("bob", { at: address(await invitation(ada)) });
  const cleo = await openAs("cleo", { at: address(ada.url()) });
  await bob.getByRole("button", { name: en.visitor.play, exact: true }).click();

  await cleo.getByRole("heading", { name: en.game.toMove.black }).waitFor();
  await expectNoControls(cleo);
  await ada.getByLabel(en.room.say).fill("have fun");
  await ada.keyboard.press("Enter");
  await bob.getByRole("list", { name: en.room.chat }).getByText("have fun").waitFor();

  await Promise.all([playToTheEnd(ada), playToTheEnd(bob)]);
  await result(cleo).getByText(en.result.reason[GameEndReason.DISCS]).waitFor();
  const final = await board(ada);
  expect(final).toHaveLength(64);
  expect(await board(bob)).toBe(final);
  expect(await board(cleo)).toBe(final);
  await expectNoControls(cleo);

  await bob.getByRole("button", { name: en.game.rematch }).click();
  await ada.locator(".offer").getByText(en.game.rematchOfferedBy("bob")).waitFor();
  await ada.getByRole("button", { name: en.game.accept }).click();
  // The sides have changed.
  await legal(bob).first().waitFor();
  await bob.getByRole("button", { name: en.game.offerDraw }).click();
  await bob.getByRole("button", { name: en.game.confirm, exact: true }).click();
  await ada.getByRole("button", { name: en.game.accept }).click();
  for (const page of [ada, bob, cleo]) await result(page).getByText(en.result.reason[GameEndReason.AGREED]).waitFor();
});

/** A watcher has no controls to play or to manage the room. */
async function expectNoControls(page: Page): Promise<void> {
  const { game, room } = en;
  for (const name of [game.resign, game.abort, game.offerDraw, game.rematch, room.start, room.close, room.kick]) {
    expect(await page.getByRole("button", { name }).count(), name).toBe(0);
  }
  expect(await page.getByText(room.manage).count()).toBe(0);
  const before = await board(page);
  await page.getByRole("gridcell", { name: "d3," }).click();
  expect(await board(page)).toBe(before);
}

scenario("a move is taken back: an AI agrees at once, a person is asked", async ({ openAs }) => {
  const ada = await openAs("ada");
  const takeBack = ada.getByRole("button", { name: en.game.takeBack, exact: true });
  await quickGame(ada, "random");
  expect(await takeBack.count()).toBe(0);
  await legal(ada).first().click();
  await legal(ada).first().waitFor();
  await takeBack.click();
  await takeBack.waitFor({ state: "detached" });
  await expect.poll(() => legal(ada).count()).toBe(4);
  await ada.getByRole("button", { name: en.game.resign }).click();
  await ada.getByRole("button", { name: en.game.confirm, exact: true }).click();
  await ada.getByRole("heading", { name: en.result.lost }).waitFor();
  await ada.getByRole("link", { name: en.menu.play, exact: true }).click();

  const bob = await openAs("bob");
  await startTwoPlayerGame(ada, bob);
  await legal(ada).first().click();
  await takeBack.click();
  // Not the announcement, which has the same words and stays.
  const offer = bob.locator(".offer").getByText(en.game.takeBackOfferedBy("ada"));
  await offer.waitFor();
  await bob.getByRole("button", { name: en.game.decline }).click();
  await offer.waitFor({ state: "detached" });
  await legal(bob).first().click();
  await takeBack.click();
  await bob.getByRole("button", { name: en.game.accept }).click();
  await takeBack.waitFor({ state: "detached" });
  await expect.poll(() => legal(ada).count()).toBe(4);
});
