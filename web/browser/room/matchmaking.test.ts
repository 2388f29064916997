import type { Page } from "playwright-core";
import { expect } from "vitest";
import { UnratedReason } from "../../src/gen/reversi/v1/session_pb";
import { en } from "../../src/text/en";
import { otherPlayer } from "../harness/other_player";
import { scenario } from "../harness/scenario";
import { board, count, createRoom, legal } from "../harness/game_page";

scenario("two waiting players are paired", async ({ openAs }) => {
  const ada = await openAs("ada");
  await search(ada);
  await ada.getByRole("heading", { name: en.room.searching }).waitFor();
  expect(await ada.getByRole("button", { name: en.room.start }).count()).toBe(0);

  const bob = await openAs("bob");
  await search(bob);
  await Promise.any([legal(ada).first().waitFor(), legal(bob).first().waitFor()]);
  const [mover, other] = (await legal(ada).count()) > 0 ? [ada, bob] : [bob, ada];
  await legal(mover).first().click();
  await legal(other).first().waitFor();
  expect(count(await board(other), "-")).toBe(59);
});

scenario("who waits plays an AI of about the same rating instead", async ({ openAs }) => {
  const ada = await openAs("ada");
  await search(ada);
  await ada.getByRole("button", { name: en.room.playAiInstead }).click();
  await legal(ada).first().waitFor();
  await ada.getByText("expert 3").first().waitFor();
});

scenario("those are paired who want the same clock and rating, which are remembered", async ({ openAs }) => {
  const ada = await openAs("ada");
  await choose(ada);
  await search(ada);
  await ada.getByRole("heading", { name: en.room.searching }).waitFor();
  const bob = await openAs("bob");
  await search(bob);
  await bob.getByRole("heading", { name: en.room.searching }).waitFor();
  await bob.getByRole("button", { name: en.room.stopSearching }).click();
  await choose(bob);
  await bob.reload();
  await search(bob);
  await Promise.any([legal(ada).first().waitFor(), legal(bob).first().waitFor()]);
  await ada.getByText(en.room.rated, { exact: true }).first().waitFor();

  await ada.getByRole("button", { name: en.game.resign }).click();
  await ada.getByRole("button", { name: en.game.confirm, exact: true }).click();
  const { rating, unrated } = en.ratingChange;
  for (const page of [ada, bob]) {
    await page.getByText(`bob: ${unrated[UnratedReason.TOO_SHORT]}`).waitFor();
    await page.getByText(rating("ada", 1338, "\u2212162")).waitFor();
  }
});

scenario("a search is repeated, and finds who was away for a moment", async ({ server, openAs }) => {
  const bot = await otherPlayer(server, "bot");
  const opponent = { case: "anyone" as const, value: {} };
  const found = await bot.lobby.quickStart({ opponent, settings: { moveLimit: { seconds: 60n } } });
  const { roomId = "" } = found.room ?? {};
  bot.leave();
  const isThere = async () => (await bot.rooms.getRoom({ roomId })).room?.members[0]?.present;
  await expect.poll(isThere).toBe(false);
  const ada = await openAs("ada");
  await search(ada);
  await ada.getByRole("heading", { name: en.room.searching }).waitFor();
  expect(ada.url()).not.toContain(roomId);
  await bot.comeBack();
  await ada.locator(".player-bar").getByText("bot", { exact: true }).waitFor();
  await ada.getByRole("button", { name: en.game.resign }).waitFor();
  expect(ada.url()).toContain(roomId);
});

scenario("a search for an opponent can be cancelled", async ({ openAs }) => {
  const ada = await openAs("ada");
  await search(ada);
  await ada.getByRole("button", { name: en.room.stopSearching }).click();
  await ada.getByRole("heading", { name: en.home.quick }).waitFor();
  // A waiting player would be listed.
  await ada.getByText(en.rooms.none).waitFor();
  expect(await ada.getByRole("heading", { name: en.home.current }).count()).toBe(0);
});

scenario("who joins a room of the list is seated and ready", async ({ openAs }) => {
  const ada = await openAs("ada");
  await createRoom(ada);
  await ada.getByText(en.room.waitingForPlayers).waitFor();
  expect(await ada.getByRole("heading", { name: en.room.searching }).count()).toBe(0);
  expect(await ada.getByRole("button", { name: en.room.start }).count()).toBe(0);
  const bob = await openAs("bob", { at: "rooms" });
  await bob.getByRole("button", { name: en.rooms.join }).click();
  await legal(ada).first().click();
  await legal(bob).first().waitFor();
});

const CLOCK = en.room.total(en.room.minutes("1"), en.room.seconds("1"));

async function choose(page: Page): Promise<void> {
  await page.getByText(en.home.anyone, { exact: true }).click();
  await page.getByRole("group", { name: en.home.clock }).getByText(CLOCK).click();
  await page.getByLabel(en.create.rated).check();
}

async function search(page: Page): Promise<void> {
  await page.getByText(en.home.anyone, { exact: true }).click();
  expect(await page.getByRole("group", { name: en.side.title }).count()).toBe(0);
  await page.getByRole("button", { name: en.home.search }).click();
}
