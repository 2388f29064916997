import type { Page } from "playwright-core";
import { expect } from "vitest";
import { TournamentCancelReason } from "../src/gen/reversi/v1/tournament_pb";
import { PlayerKind } from "../src/gen/reversi/v1/types_pb";
import { en } from "../src/text/en";
import { ja } from "../src/text/ja";
import { zh } from "../src/text/zh";
import { otherPlayer } from "./harness/other_player";
import { address, scenario } from "./harness/scenario";

const { tournament: texts } = en;
const { form } = texts;

const CALLED_OFF = texts.phase.cancelled[TournamentCancelReason.CALLED_OFF];

/** The width of a small phone. */
const PHONE = { width: 320, height: 640 };

scenario("entrants are brought to their game, and its result is in the standings", async ({ server, open, openAs }) => {
  const [ada, bob] = [await openAs("ada"), await openAs("bob")];
  await ada.getByRole("link", { name: texts.title }).click();
  // The server keeps a pool.
  await ada.getByText(texts.pool).waitFor();
  await ada.getByRole("link", { name: texts.organise }).click();
  await organise(ada, () => ada.getByLabel(form.rounds).fill("1"));
  await ada.getByText("Swiss, 1 round").waitFor();

  await bob.getByRole("link", { name: texts.title }).click();
  await bob.getByRole("link", { name: "Evening" }).click();
  await bob.getByRole("button", { name: texts.join }).click();
  await bob.getByText(texts.takesPart).waitFor();
  const nova = await otherPlayer(server, "nova");
  await nova.tournaments.joinTournament({ tournamentId: idOf(ada) });
  for (const name of ["bob", "nova"]) await row(ada, name).waitFor();

  await ada.getByRole("button", { name: texts.start, exact: true }).click();
  await ada.getByText(texts.phase.round(1, 1)).waitFor();
  await ada.getByRole("link", { name: /^Watch .* against / }).waitFor();
  await ada.locator(".tile .clock.running").waitFor();
  await expect.poll(() => bob.url()).toMatch(/#\/room\//);
  await bob.locator(".notice").getByText(texts.news.begins("Evening", "nova")).waitFor();
  await bob.getByRole("link", { name: texts.meetingOf }).waitFor();
  const guest = await open({ at: address(bob.url()) });
  await guest.getByText(en.room.series(1, 2)).waitFor();
  expect(await guest.getByRole("button", { name: en.room.endSeries }).count()).toBe(0);
  for (const game of [1, 2]) {
    await bob.getByText(en.room.series(game, 2)).waitFor();
    await bob.getByRole("button", { name: en.game.resign }).waitFor();
    expect(await bob.getByRole("button", { name: en.game.abort }).count(), "the server refuses it").toBe(0);
    await bob.getByRole("button", { name: en.game.resign }).click();
    await bob.getByRole("button", { name: en.game.confirm, exact: true }).click();
  }

  await ada.getByText(texts.phase.completed).waitFor();
  expect((await row(ada, "nova").getByRole("cell").allTextContents()).slice(0, 3)).toEqual(["1", "2", "2–0–0"]);
  expect((await row(ada, "bob").getByRole("cell").allTextContents()).slice(0, 3)).toEqual(["2", "0", "0–0–2"]);
  await bob
    .locator(".notice")
    .getByText(texts.news.ended("Evening", 2, 2))
    .waitFor();
  expect(await bob.getByRole("button", { name: en.game.rematch }).count()).toBe(0);
  await bob.getByRole("button", { name: texts.news.show }).last().click();
  await bob.getByRole("link", { name: /^Replay game 2, / }).click();
  await bob.getByRole("slider", { name: en.replay.position }).waitFor();
  const visitor = await open({ at: address(ada.url()) });
  await visitor.getByText(texts.phase.completed).waitFor();
  expect(await visitor.getByRole("heading", { level: 1 }).textContent()).toBe("Evening");
  await visitor.goto(new URL("#/tournaments", visitor.url()).href);
  await visitor.getByRole("link", { name: "Evening" }).waitFor();
  // The stream ended with the tournament: that is no lost connection.
  expect(await ada.getByText(en.connection.lost).isVisible()).toBe(false);
  await ada.setViewportSize(PHONE);
  expect(await ada.evaluate(() => document.documentElement.scrollWidth)).toBe(PHONE.width);
});

scenario("an organiser enters AIs, excludes an entrant, and decides a meeting in the open", async ({ openAs }) => {
  const ada = await openAs("ada", { at: "organise" });
  await organise(ada, async () => {
    await ada.getByText(form.allPlayAll, { exact: true }).click();
    await ada.getByLabel(en.create.password).fill("secret");
  });
  await ada.getByRole("button", { name: texts.start, exact: true }).click();
  await ada.locator(".notice").getByText(texts.cannotStart).waitFor();

  const bob = await openAs("bob", { at: address(ada.url()) });
  for (const password of ["guess", "secret"]) {
    await bob.getByLabel(en.create.password).fill(password);
    await bob.getByRole("button", { name: texts.join }).click();
    await bob.getByRole("alert").or(bob.getByText(texts.takesPart)).first().waitFor();
  }
  await bob.getByText(texts.takesPart).waitFor();

  await ada.getByText(texts.change, { exact: true }).click();
  await ada.getByLabel(form.name).fill("Late evening");
  await ada.getByText(en.create.advanced).click();
  await ada.getByLabel(form.maxEntrants).fill("3");
  await ada.getByRole("button", { name: en.create.save }).click();
  await ada.locator(".notice").getByText(texts.changed).waitFor();
  await ada.getByRole("heading", { level: 1, name: "Late evening" }).waitFor();

  await ada.getByText(texts.enterAi).click();
  for (const ai of ["random 1", "expert 1"]) {
    await ada.getByRole("radio", { name: new RegExp(`^${ai} `) }).check({ force: true });
    await ada.getByRole("button", { name: texts.enter, exact: true }).click();
    await row(ada, ai).waitFor();
  }
  await row(ada, "expert 1").getByRole("button", { name: texts.exclude }).click();
  await ada.getByRole("button", { name: en.game.confirm, exact: true }).click();
  await row(ada, "expert 1").getByText(texts.excluded).waitFor();
  await row(ada, "expert 1").getByRole("button", { name: texts.admit }).click();
  // Before the start, who has left is not in the standings.
  await row(ada, "expert 1").waitFor({ state: "detached" });

  await ada.getByRole("button", { name: texts.start, exact: true }).click();
  await ada.getByRole("button", { name: texts.pause }).click();
  await ada.getByText(texts.phase.paused).waitFor();
  await ada.getByRole("button", { name: texts.resume }).click();
  await ada.getByRole("button", { name: texts.pause }).waitFor();
  await ada.locator(".decision summary").click();
  await ada.getByLabel(texts.outcome).selectOption(texts.allPointsFor("bob"));
  await ada.getByLabel(texts.why).fill("It was agreed.");
  await ada.getByRole("button", { name: texts.decide, exact: true }).click();
  await ada.getByText(texts.decided("It was agreed.")).waitFor();
  await ada.getByText(texts.phase.completed).waitFor();
  const table = ada.getByRole("region", { name: texts.crosstable });
  const points = table.getByRole("row", { name: "bob" }).last().getByRole("cell");
  await expect.poll(async () => (await points.allTextContents()).filter(Boolean)).toEqual(["2"]);
});

scenario("who may not join, or comes too late, reads why", async ({ server, openAs }) => {
  const ada = await openAs("ada", { at: "organise" });
  await organise(ada, () => ada.getByLabel(en.stats.humans).uncheck());
  await ada.getByText(texts.bots, { exact: true }).waitFor();
  const bob = await openAs("bob", { at: address(ada.url()) });
  await bob.getByRole("button", { name: texts.join }).click();
  await bob.locator(".notice").getByText(texts.refused.NOT_ACCEPTED).waitFor();
  const nova = await otherPlayer(server, "nova", PlayerKind.BOT);
  await nova.tournaments.joinTournament({ tournamentId: idOf(ada) });
  await row(bob, "nova").waitFor();

  await ada.getByRole("button", { name: texts.cancel }).click();
  await ada.getByRole("button", { name: en.game.confirm, exact: true }).click();
  for (const page of [ada, bob]) await page.getByText(CALLED_OFF, { exact: true }).waitFor();
  expect(await bob.getByRole("button", { name: texts.join }).count()).toBe(0);
  await bob.goto(new URL("#/tournament/7zzzzzzzzzzz", bob.url()).href);
  await bob.getByRole("heading", { name: en.refusal.TOURNAMENT_NOT_FOUND }).waitFor();
});

scenario("a setting that the server refuses is marked at its field", async ({ openAs }) => {
  const ada = await openAs("ada", { at: "organise" });
  for (const [label, value] of [
    [form.rounds, "100"],
    [form.games, "1001"],
  ] as const) {
    const input = ada.getByLabel(label);
    await input.evaluate((element: HTMLInputElement) => element.removeAttribute("max"));
    const before = await input.inputValue();
    await input.fill(value);
    await organise(ada, async () => {}, { created: false });
    await ada.locator("label").filter({ has: input }).getByRole("alert").waitFor();
    expect(await input.getAttribute("aria-invalid")).toBe("true");
    await input.fill(before);
  }
  for (const kind of [en.stats.humans, en.stats.bots]) await ada.getByLabel(kind).uncheck();
  await organise(ada, async () => {}, { created: false });
  await ada.getByRole("group", { name: form.admits }).getByRole("alert").waitFor();
});

scenario("the form is in every language, and fits a phone", async ({ open }) => {
  for (const [locale, { tournament }] of [
    ["en-US", en],
    ["ja-JP", ja],
    ["zh-CN", zh],
  ] as const) {
    const page = await open({ locale, viewport: PHONE, at: "organise" });
    await page.getByRole("heading", { name: tournament.organise }).waitFor();
    await page.getByRole("group", { name: tournament.form.admits }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(PHONE.width);
  }
});

/** Sends the form of a tournament with a name, after `fill` has completed it. */
async function organise(page: Page, fill: () => Promise<void>, { created = true } = {}): Promise<void> {
  await page.getByLabel(form.name).fill("Evening");
  await fill();
  await page.getByRole("button", { name: form.create, exact: true }).click();
  if (created) await page.getByRole("heading", { level: 1, name: "Evening" }).waitFor();
}

function idOf(page: Page): string {
  return address(page.url()).split("/").at(-1) ?? "";
}

/** The row of an entrant in the standings. */
function row(page: Page, name: string) {
  const rows = page.getByRole("region", { name: texts.standings }).getByRole("row");
  return rows.filter({ has: page.getByRole("rowheader", { name, exact: true }) });
}
