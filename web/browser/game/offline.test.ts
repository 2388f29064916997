import { expect } from "vitest";
import { en } from "../../src/text/en";
import { scenario } from "../harness/scenario";
import { board, count, legal, quickGame } from "../harness/game_page";

/** Much less than the time until silence counts as a loss, in milliseconds. */
const AT_ONCE = 3_000;

scenario("a move made offline is kept, shown as pending, and sent later", async ({ openAs, expectedErrors }) => {
  expectedErrors.push(/^Failed to load resource: net::ERR_INTERNET_DISCONNECTED/);
  const ada = await openAs("ada");
  await quickGame(ada, "random");
  const before = await board(ada);
  await ada.context().setOffline(true);
  await ada.getByText(en.connection.lost).waitFor({ timeout: AT_ONCE });

  await legal(ada).first().focus();
  await ada.keyboard.press("Enter");
  const words = ada.locator(".board-note").getByText(en.connection.pendingMove);
  await words.waitFor();
  expect(count(await board(ada), "-")).toBe(count(before, "-") - 1);
  expect(await legal(ada).count()).toBe(0);
  await ada.getByRole("log").getByText(en.connection.pendingMove).waitFor();

  // It is kept also if the player looks at another screen.
  await ada.getByRole("link", { name: en.menu.rooms, exact: true }).click();
  await ada.getByRole("link", { name: en.ownGame.back }).first().click();
  await ada.context().setOffline(false);
  await legal(ada).first().waitFor();
  await words.waitFor({ state: "detached" });
  expect(count(await board(ada), "-")).toBe(count(before, "-") - 2);
  await ada.getByText(en.connection.lost).waitFor({ state: "hidden" });
});
