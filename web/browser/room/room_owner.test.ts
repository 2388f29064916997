import type { Page } from "playwright-core";
import { expect } from "vitest";
import { aiName } from "../../src/text/ai_name";
import { en } from "../../src/text/en";
import { address, scenario } from "../harness/scenario";
import {
  chooseAi,
  createRoom,
  invitation,
  result,
  seatAi,
  startByOwner,
  startTwoPlayerGame,
} from "../harness/game_page";

const { room: texts } = en;

scenario("an owner reserves, swaps, removes and bans", async ({ openAs }) => {
  const ada = await openAs("ada");
  await createRoom(ada, startByOwner);
  const bob = await openAs("bob", { at: address(ada.url()) });
  const cleo = await openAs("cleo", { at: address(ada.url()) });
  for (const page of [bob, cleo]) await page.getByRole("button", { name: texts.join, exact: true }).click();
  await cleo.getByRole("heading", { name: texts.members }).waitFor();
  await expectNoOwnerControls(bob);

  await manageMember(ada, "bob", `${en.side.white}: ${texts.keepSeat("bob")}`);
  await cleo.locator(".player-bar").getByText(texts.reserved("bob")).waitFor();
  expect(await cleo.getByRole("button", { name: texts.sit }).count()).toBe(0);
  await bob.getByRole("button", { name: texts.sit }).click();
  await seat(ada, "white", "bob").waitFor();

  await ada.getByText(texts.manage, { exact: true }).click();
  await ada.getByRole("button", { name: texts.swap }).click();
  await seat(ada, "black", "bob").waitFor();
  await seat(cleo, "white", "ada").waitFor();

  await manageMember(ada, "bob", texts.kick);
  await ada.getByRole("button", { name: en.game.confirm, exact: true }).click();
  await expectRemoved(bob);
  await seat(ada, "black", texts.open).waitFor();

  await bob.goto(ada.url());
  await bob.getByRole("button", { name: texts.join, exact: true }).click();
  await manageMember(ada, "bob", texts.ban);
  await ada.getByRole("button", { name: en.game.confirm, exact: true }).click();
  await expectRemoved(bob);
  await bob.goto(ada.url());
  await bob.getByText(en.refusal.BANNED).waitFor();
});

scenario(
  "an owner seats AIs, changes the settings and transfers the room; the next owner closes it",
  async ({ openAs }) => {
    const ada = await openAs("ada");
    await createRoom(ada, startByOwner);
    const cleo = await openAs("cleo", { at: address(ada.url()) });
    await cleo.getByRole("button", { name: texts.join, exact: true }).click();
    await cleo.getByRole("heading", { name: texts.members }).waitFor();

    await ada.getByText(texts.manage, { exact: true }).click();
    const white = ada.getByRole("group", { name: texts.seatFor(en.side.white) });
    await chooseAi(white, "mcts:3");
    await white.getByRole("button", { name: texts.makeAi }).click();
    await seat(cleo, "white", aiName({ kind: "mcts", level: 3 })).waitFor();
    await white.getByRole("button", { name: texts.makeOpen }).click();
    await seat(cleo, "white", texts.open).waitFor();

    await ada.locator("summary").getByText(texts.settings, { exact: true }).click();
    await ada.getByText(en.create.advanced).click();
    await ada.getByLabel(en.create.moveLimit).fill("30");
    await ada.getByLabel(en.create.games).fill("3");
    await ada.getByRole("button", { name: en.create.save }).click();
    await cleo.getByText(texts.perMove("30 s")).waitFor();
    await ada.getByRole("button", { name: texts.startSeries(3) }).waitFor();

    await manageMember(ada, "cleo", texts.makeOwner);
    const question = ada.getByRole("group", { name: texts.makeOwnerSure("cleo") });
    await question.getByRole("button", { name: en.game.cancel, exact: true }).click();
    await manageMember(ada, "cleo", texts.makeOwner);
    await question.getByRole("button", { name: en.game.confirm, exact: true }).click();
    await cleo.getByText(texts.manage, { exact: true }).waitFor();
    await ada.getByText(texts.manage, { exact: true }).waitFor({ state: "detached" });
    await expectNoOwnerControls(ada);

    await cleo.getByRole("button", { name: texts.close }).click();
    await cleo.getByRole("button", { name: en.game.confirm, exact: true }).click();
    for (const page of [ada, cleo]) await page.getByText(texts.closed).first().waitFor();
  },
);

scenario("an owner sets and removes a password", async ({ openAs }) => {
  const ada = await openAs("ada");
  await createRoom(ada, (page) => page.getByLabel(en.create.password).fill("secret"));
  const bob = await openAs("bob", { at: address(await invitation(ada)) });
  await bob.getByLabel(en.create.password).waitFor();

  await ada.getByText(texts.manage, { exact: true }).click();
  await ada.locator("summary").getByText(texts.settings, { exact: true }).click();
  await ada.getByText(en.create.advanced).click();
  await ada.getByLabel(en.create.games).fill("0");
  await ada.getByText(en.create.advanced).click();
  await ada.getByRole("button", { name: en.create.save }).click();
  // An invalid field in a closed section opens it.
  await ada.getByLabel(en.create.games).fill("1");
  await ada.getByLabel(en.create.noPassword).check();
  await ada.getByRole("button", { name: en.create.save }).click();
  await ada.getByLabel(en.create.noPassword).waitFor({ state: "detached" });
  await bob.reload();
  await bob.getByRole("button", { name: en.visitor.play, exact: true }).click();
  await bob.getByRole("heading", { name: texts.members }).waitFor();
});

scenario("an owner starts a series of two AIs", async ({ openAs }) => {
  const ada = await openAs("ada");
  await createRoom(ada, async (page) => {
    await seatAi(page, "black", "random");
    await seatAi(page, "white", "random");
    await page.getByLabel(en.create.pause).fill("0");
    await page.getByLabel(en.create.games).fill("2");
  });
  await ada.getByRole("button", { name: texts.startSeries(2) }).click();
  await expect.poll(() => points(ada)).toBe(2);
});

scenario("only players who have played can rematch; a new opponent starts a first game", async ({ openAs }) => {
  const ada = await openAs("ada");
  await createRoom(ada, startByOwner);
  const bob = await openAs("bob", { at: address(await invitation(ada)) });
  await bob.getByRole("button", { name: en.visitor.play, exact: true }).click();
  await bob.getByRole("button", { name: texts.unready }).click();
  await bob.getByText(texts.waitingForYou).waitFor();
  await bob.getByRole("button", { name: texts.getReady }).click();
  await ada.getByRole("button", { name: texts.start }).click();
  await bob.getByRole("button", { name: en.game.resign }).click();
  await bob.getByRole("button", { name: en.game.confirm, exact: true }).click();
  for (const page of [ada, bob]) await page.getByRole("button", { name: en.game.rematch, exact: true }).waitFor();
  expect(await bob.getByRole("button", { name: texts.getReady }).count()).toBe(0);
  expect(await ada.getByRole("button", { name: texts.start }).count()).toBe(0);

  await bob.getByRole("button", { name: texts.stand }).click();
  await ada.getByText(texts.manage, { exact: true }).click();
  const white = ada.getByRole("group", { name: texts.seatFor(en.side.white) });
  await white.getByRole("button", { name: texts.makeAi }).click();
  await ada.getByRole("button", { name: texts.start, exact: true }).click();
  await result(ada).waitFor({ state: "detached" });
});

scenario("while a game runs, the owner may remove watchers only", async ({ openAs }) => {
  const ada = await openAs("ada");
  const bob = await openAs("bob");
  await startTwoPlayerGame(ada, bob);
  const cleo = await openAs("cleo", { at: address(ada.url()) });
  await cleo.getByRole("button", { name: texts.join, exact: true }).click();
  await cleo.getByRole("heading", { name: texts.members }).waitFor();
  const powers = (member: string) => powersOver(ada, member).getByRole("button");
  await powersOver(ada, "bob").locator("summary").click();
  await expect.poll(() => powers("bob").allTextContents()).toEqual([texts.makeOwner]);
  await powersOver(ada, "cleo").locator("summary").click();
  await expect.poll(() => powers("cleo").allTextContents()).toEqual([texts.makeOwner, texts.kick, texts.ban]);
  expect(await ada.getByRole("button", { name: texts.close }).count()).toBe(0);

  await bob.getByRole("button", { name: en.game.resign }).click();
  await bob.getByRole("button", { name: en.game.confirm, exact: true }).click();
  await expect.poll(() => powers("bob").allTextContents()).toEqual([texts.makeOwner, texts.kick, texts.ban]);
});

scenario("a series ends with who won it", async ({ openAs }) => {
  const ada = await openAs("ada");
  const bob = await openAs("bob");
  await startTwoPlayerGame(ada, bob, (page) => page.getByLabel(en.create.games).fill("2"));
  const cleo = await openAs("cleo", { at: address(ada.url()) });
  const seriesOver = (page: Page) => page.locator(".series-result").getByText(en.result.seriesWon("bob", "2", "0"));
  for (const game of [1, 2]) {
    await ada.getByText(texts.series(game, 2)).waitFor();
    expect(await seriesOver(ada).count()).toBe(0);
    await ada.getByRole("button", { name: en.game.resign }).click();
    await ada.getByRole("button", { name: en.game.confirm, exact: true }).click();
  }
  for (const page of [ada, bob, cleo]) await seriesOver(page).waitFor();
});

/** Opens the owner's menu for a member and chooses an action. */
async function manageMember(page: Page, member: string, power: string): Promise<void> {
  const powers = powersOver(page, member);
  if ((await powers.getAttribute("open")) === null) await powers.locator("summary").click();
  await powers.getByRole("button", { name: power, exact: true }).click();
}

function powersOver(page: Page, member: string) {
  return page.locator("details.member-actions").filter({ has: page.getByLabel(`${texts.manage}: ${member}`) });
}

function seat(page: Page, side: "black" | "white", occupant: string) {
  return page
    .locator(".player-bar")
    .filter({ has: page.locator(`.chip.${side}`) })
    .getByText(occupant, { exact: true });
}

/** The number of finished games in a series: wins plus half the draws of both sides. */
async function points(page: Page): Promise<number> {
  const scores = await page
    .locator(".player-tags")
    .getByText(/\d+ wins?, \d+ draws?/)
    .allTextContents();
  const numbers = scores.map((score) => (score.match(/\d+/g) ?? []).map(Number));
  return numbers.reduce((sum, [wins = 0, draws = 0]) => sum + wins + draws / 2, 0);
}

/** Expects the notice and the start screen; the notice alone may be an older one. */
async function expectRemoved(page: Page): Promise<void> {
  await page.getByText(texts.kicked).first().waitFor();
  await page.getByRole("heading", { name: en.home.quick }).waitFor();
}

async function expectNoOwnerControls(page: Page): Promise<void> {
  await page.getByRole("heading", { name: texts.members }).waitFor();
  expect(await page.getByText(texts.manage, { exact: true }).count()).toBe(0);
  expect(await page.locator("details.member-actions").count()).toBe(0);
  expect(await page.getByRole("button", { name: texts.close }).count()).toBe(0);
}

scenario("a finished game shows the names of its players when a seat is free again", async ({ openAs }) => {
  const [ada, bob] = [await openAs("ada"), await openAs("bob")];
  await startTwoPlayerGame(ada, bob);
  await ada.getByRole("button", { name: en.game.resign }).click();
  await ada.getByRole("button", { name: en.game.confirm, exact: true }).click();
  const title = en.result.white("bob");
  const watcher = await openAs("cleo", { at: address(ada.url()) });
  await watcher.getByRole("heading", { name: title }).waitFor();
  await bob.getByRole("button", { name: texts.stand }).click();
  await seat(watcher, "white", texts.open).waitFor();
  await watcher.getByRole("heading", { name: title }).waitFor();
});

scenario("a setting that the server refuses is marked, and no time at all is not sent", async ({ openAs }) => {
  const ada = await openAs("ada");
  await ada.getByRole("link", { name: en.home.create }).click();
  await ada.getByText(en.create.advanced).click();
  const limit = ada.getByLabel(en.create.moveLimit);
  await limit.fill("0");
  expect(await limit.evaluate((input: HTMLInputElement) => input.checkValidity())).toBe(false);
  await ada.getByLabel(en.create.total).fill("5");
  expect(await limit.evaluate((input: HTMLInputElement) => input.checkValidity())).toBe(true);
  const games = ada.getByLabel(en.create.games);
  await games.evaluate((input: HTMLInputElement) => input.removeAttribute("max"));
  await games.fill("1001");
  await ada.getByRole("button", { name: en.create.create, exact: true }).click();
  await ada.locator("label").filter({ has: games }).getByRole("alert").waitFor();
  expect(await games.getAttribute("aria-invalid")).toBe("true");
});
