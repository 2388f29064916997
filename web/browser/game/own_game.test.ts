import type { Page } from "playwright-core";
import { expect } from "vitest";
import { en } from "../../src/text/en";
import { legal, quickGame, startTwoPlayerGame } from "../harness/game_page";
import { scenario } from "../harness/scenario";

const SIZES = [320, 768, 1920];

scenario(
  "a running game stays in sight on every screen, and leads back by pointer and keyboard",
  async ({ openAs }) => {
    const ada = await openAs("ada");
    const bob = await openAs("bob");
    await startTwoPlayerGame(ada, bob);
    await expectNoBar(ada);
    for (const screen of [en.menu.play, en.menu.rooms, en.menu.tv]) {
      await bob.getByRole("link", { name: screen, exact: true }).click();
      await bar(bob).getByText(en.ownGame.against("ada")).waitFor();
    }
    await bar(bob).getByText(en.game.toMove.black).waitFor();
    expect(await bar(bob).getByRole("timer").count()).toBe(2);
    const icon = await iconOf(bob);

    await legal(ada).first().click();
    await bar(bob).getByText(en.game.yourTurn).waitFor();
    expect(await bob.title()).toContain(en.game.yourTurn);
    expect(await iconOf(bob)).not.toBe(icon);
    for (const width of SIZES) {
      await bob.setViewportSize({ width, height: 700 });
      expect(await bob.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }

    const back = bar(bob).getByRole("link", { name: en.ownGame.back });
    await back.focus();
    await bob.keyboard.press("Enter");
    await legal(bob).first().click();
    await bob.getByRole("heading", { name: en.game.toMove.black }).waitFor();
    await expect.poll(() => iconOf(bob)).toBe(icon);
    expect(await bob.title()).not.toContain(en.game.yourTurn);
    await expectNoBar(bob);

    // A page that is opened anew finds the game, too.
    await bob.goto(new URL("#/rooms", bob.url()).href);
    await bob.reload();
    await bar(bob).getByRole("link", { name: en.ownGame.back }).click();
    await bob.getByRole("heading", { name: en.game.toMove.black }).waitFor();
  },
);

scenario("notices tell what happens in a game elsewhere, and that the time ran out", async ({ openAs }) => {
  const ada = await openAs("ada");
  const bob = await openAs("bob");
  await startTwoPlayerGame(ada, bob, (page) => page.getByLabel(en.create.moveLimit).fill("5"));
  await bob.getByRole("link", { name: en.menu.tv, exact: true }).click();
  await ada.getByRole("button", { name: en.game.offerDraw }).click();
  await ada.getByRole("button", { name: en.game.confirm, exact: true }).click();
  await notice(bob, en.game.drawOfferedBy("ada")).waitFor();
  await ada.getByRole("heading", { name: en.result.lost }).waitFor();
  await ada.locator(".result").getByText(en.result.ownTimeout).waitFor();
  await notice(bob, en.ownGame.ended("ada", en.result.won, en.result.timeout("ada"))).waitFor();

  await ada.getByRole("button", { name: en.game.rematch, exact: true }).click();
  await notice(bob, en.game.rematchOfferedBy("ada")).getByRole("button", { name: en.home.accept }).click();
  await bob.getByRole("button", { name: en.game.accept }).click();
  await legal(bob).first().waitFor();
});

scenario("who starts a second game is led back to the first", async ({ openAs }) => {
  const ada = await openAs("ada");
  await quickGame(ada, "random");
  // The player sees the game, and needs no notice of its start.
  await ada.locator(".notice").waitFor({ state: "detached" });
  await ada.getByRole("link", { name: en.menu.play, exact: true }).click();
  await ada.getByRole("button", { name: en.home.start, exact: true }).click();
  const refused = notice(ada, en.ownGame.finishFirst);
  await refused.getByRole("button", { name: en.ownGame.back }).focus();
  await ada.keyboard.press("Enter");
  await legal(ada).first().waitFor();
  await refused.waitFor({ state: "detached" });
});

scenario("who is refused a second game is told so only while the first runs", async ({ openAs }) => {
  const ada = await openAs("ada");
  const bob = await openAs("bob");
  await startTwoPlayerGame(ada, bob);
  await bob.getByRole("link", { name: en.menu.play, exact: true }).click();
  await search(bob);
  const refused = notice(bob, en.ownGame.finishFirst);
  await refused.waitFor();
  await ada.getByRole("button", { name: en.game.resign }).click();
  await ada.getByRole("button", { name: en.game.confirm, exact: true }).click();
  await refused.waitFor({ state: "detached" });
});

scenario("who searches may go elsewhere, and hears when an opponent is found", async ({ openAs }) => {
  const ada = await openAs("ada");
  await search(ada);
  await ada.getByRole("heading", { name: en.room.searching }).waitFor();
  await ada.getByRole("link", { name: en.menu.rooms, exact: true }).click();
  const bob = await openAs("bob");
  await search(bob);
  await notice(ada, en.ownGame.started("bob")).getByRole("button", { name: en.home.accept }).click();
  await Promise.any([legal(ada).first().waitFor(), legal(bob).first().waitFor()]);
});

scenario("notifications of the browser are asked for on a click only", async ({ openAs }) => {
  const ada = await openAs("ada", { permissions: ["notifications"] });
  const asked = await ada.evaluateHandle(recordNotifications);
  await quickGame(ada, "random");
  await ada.evaluate(() => Object.defineProperty(document, "hidden", { get: () => true, configurable: true }));
  await legal(ada).first().click();
  await legal(ada).first().waitFor();
  expect(await asked.jsonValue()).toEqual([]);

  await ada.getByRole("button", { name: en.menu.settings }).click();
  await ada.getByLabel(en.menu.notifications).check();
  await ada.keyboard.press("Escape");
  await legal(ada).first().click();
  await expect.poll(() => asked.jsonValue()).toEqual(["asked", en.ownGame.turn("random 1")]);
  expect(await ada.getByLabel(en.menu.sound).isChecked()).toBe(true);
});

/** Replaces the browser's notifications. Returns what is asked and shown from now on. */
function recordNotifications(): string[] {
  const log: string[] = [];
  class Recorded {
    static requestPermission = () => (log.push("asked"), Promise.resolve("granted"));
    constructor(_: string, { body }: { body: string }) {
      log.push(body);
    }
  }
  Object.defineProperty(globalThis, "Notification", { value: Recorded });
  return log;
}

function bar(page: Page) {
  return page.getByRole("complementary", { name: en.ownGame.title });
}

function notice(page: Page, words: string) {
  return page.locator(".notice").filter({ hasText: words });
}

async function expectNoBar(page: Page): Promise<void> {
  expect(await bar(page).count()).toBe(0);
}

function iconOf(page: Page): Promise<string | null> {
  return page.locator("link[rel=icon]").getAttribute("href");
}

async function search(page: Page): Promise<void> {
  await page.getByText(en.home.anyone, { exact: true }).click();
  await page.getByRole("button", { name: en.home.search }).click();
}
