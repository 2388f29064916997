import type { Page } from "playwright-core";
import { expect } from "vitest";
import { RatedPreference } from "../../src/gen/reversi/v1/lobby_pb";
import { PlayerKind } from "../../src/gen/reversi/v1/types_pb";
import { en } from "../../src/text/en";
import { callsAs, invitationsIn, otherPlayer } from "../harness/other_player";
import { createRoom, legal, quickGame } from "../harness/game_page";
import { scenario } from "../harness/scenario";

const { invitation } = en;

scenario("the players online are listed with what they accept, and can be invited", async ({ server, openAs }) => {
  const ada = await openAs("ada");
  const bot = await otherPlayer(server, "bot");
  await bot.lobby.setAvailability({ availability: { rated: RatedPreference.RATED } });
  const shy = await otherPlayer(server, "shy", PlayerKind.HUMAN);
  await shy.lobby.setAvailability({ availability: { unavailable: true } });

  await ada.getByRole("link", { name: invitation.players }).click();
  const rows = ada.locator(".room-list li");
  const row = (name: string) => rows.filter({ has: ada.getByRole("link", { name, exact: true }) });
  await row("ada").getByText(en.room.you).waitFor();
  await row("bot").getByText(invitation.accepts(invitation.rated)).waitFor();
  await row("bot").getByText(invitation.free).waitFor();
  await row("bot").getByText(en.room.kind.bot, { exact: true }).waitFor();
  await row("shy").getByText(invitation.accepts(invitation.none)).waitFor();
  expect(await ada.getByRole("button", { name: invitation.invite }).count()).toBe(1);
  for (const width of [320, 1280]) {
    await ada.setViewportSize({ width, height: 700 });
    expect(await ada.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  }

  await ada.getByText(en.stats.humans, { exact: true }).click();
  await row("bot").waitFor({ state: "detached" });
  await row("shy").waitFor();
  await ada.getByText(en.stats.bots, { exact: true }).click();
  await ada.getByRole("button", { name: invitation.inviteName("bot") }).click();
  await ada.getByRole("log").getByText(invitation.refused.rated("bot")).waitFor();
  await ada.getByLabel(en.create.rated).check();
  await ada.getByRole("button", { name: invitation.inviteName("bot") }).click();
  await ada.locator(".player-bar").getByText(en.room.reserved("bot")).waitFor();
  await expect
    .poll(() => invitationsIn(bot.events).map(({ by, settings }) => [by?.displayName, settings?.rated]))
    .toEqual([["ada", true]]);
});

scenario("a player is invited from the profile, and a visitor is asked for a name first", async ({ open, openAs }) => {
  await openAs("bob");
  const visitor = await open({ at: "players" });
  await visitor.getByRole("link", { name: "bob" }).click();
  await visitor.getByRole("button", { name: invitation.inviteName("bob") }).click();
  const dialog = visitor.getByRole("dialog", { name: en.visitor.nameNeeded });
  await dialog.getByLabel(en.logIn.name).fill("vera");
  await dialog.getByRole("button", { name: en.logIn.enter, exact: true }).click();
  await visitor.locator(".player-bar").getByText(en.room.reserved("bob")).waitFor();
  await visitor.locator(".player-bar").getByText("vera").waitFor();
});

scenario("an invitation is shown on every screen until it is accepted, and seats the guest", async ({ openAs }) => {
  const ada = await openAs("ada", { at: "players" });
  const bob = await openAs("bob", { at: "rules" });
  await ada.getByRole("group", { name: en.home.clock }).getByText(CLOCK).click();
  await ada.getByLabel(en.create.rated).check();
  await invite(ada, "bob");
  const shown = bob.getByRole("group", { name: invitation.received("ada") });
  await shown.getByText(CLOCK).waitFor();
  await shown.getByText(en.room.rated, { exact: true }).waitFor();
  await shown.getByText(/ left to answer/).waitFor();
  await ada.getByText(/^bob has .* to answer\.$/).waitFor();

  // Also on other screens, in other tabs, and after the page is loaded again.
  await bob.getByRole("link", { name: en.menu.tv }).click();
  await shown.waitFor();
  const tab = await bob.context().newPage();
  await tab.goto(bob.url());
  await tab.getByRole("group", { name: invitation.received("ada") }).waitFor();
  await bob.reload();
  await shown.getByRole("button", { name: en.game.accept }).focus();
  await bob.keyboard.press("Enter");
  await Promise.any([legal(ada).first().waitFor(), legal(bob).first().waitFor()]);
  await bob.getByText(en.room.rated, { exact: true }).first().waitFor();
  for (const page of [bob, tab])
    await page.getByRole("group", { name: invitation.received("ada") }).waitFor({ state: "detached" });
});

scenario("the inviter is told who declines and why, and invites again", async ({ server, openAs }) => {
  const ada = await openAs("ada");
  const bob = await openAs("bob");
  const bot = await otherPlayer(server, "bot");
  await ada.getByRole("link", { name: invitation.players }).click();
  await invite(ada, "bob");
  const shown = bob.getByRole("group", { name: invitation.received("ada") });
  await shown.getByRole("button", { name: en.game.decline }).click();
  await shown.waitFor({ state: "detached" });
  await ada.getByText(en.event.invitationDeclined("bob", "")).last().waitFor();
  await ada.getByRole("button", { name: invitation.again("bob") }).click();
  await shown.waitFor();
  await ada.locator(".player-bar").getByText(en.room.reserved("bob")).waitFor();
  // The room closes with its only member.
  await ada.getByRole("button", { name: en.room.leave }).click();
  await bob.getByText(invitation.ended("ada")).first().waitFor();
  expect(await shown.count()).toBe(0);

  await ada.getByRole("link", { name: invitation.players }).click();
  await invite(ada, "bot");
  await expect.poll(() => invitationsIn(bot.events).length).toBe(1);
  await ada.getByRole("link", { name: en.menu.tv }).click();
  await bot.rooms.declineInvitation({ roomId: invitationsIn(bot.events)[0]?.roomId ?? "", reason: "too late" });
  const notice = ada.locator(".notice").filter({ hasText: en.event.invitationDeclined("bot", "too late") });
  await notice.getByRole("button", { name: en.home.accept }).click();
  await ada.getByRole("button", { name: invitation.again("bot") }).waitFor();
});

scenario(
  "who plays is not taken from the game by an invitation, and may accept it later",
  async ({ server, openAs }) => {
    const ada = await openAs("ada");
    await quickGame(ada, "random");
    const game = ada.url();
    const bot = await otherPlayer(server, "bot");
    const guest = { player: { case: "displayName" as const, value: "ada" } };
    await bot.lobby.createRoom({ seats: [{ occupant: { case: "invite", value: guest } }, {}] });
    const shown = ada.getByRole("group", { name: invitation.received("bot") });
    await shown.getByRole("button", { name: en.game.accept }).click();
    await ada.locator(".notice").getByText(en.ownGame.finishFirst).waitFor();
    await legal(ada).first().click();
    await legal(ada).first().waitFor();
    expect(ada.url()).toBe(game);
    await ada.getByRole("button", { name: en.game.resign }).click();
    await ada.getByRole("button", { name: en.game.confirm, exact: true }).click();
    await shown.getByRole("button", { name: en.game.accept }).click();
    await ada.getByText(`ada (${en.room.you})`).waitFor();
    await ada.getByRole("link", { name: "bot", exact: true }).first().waitFor();
    await shown.waitFor({ state: "detached" });
  },
);

scenario("an invitation that is not answered in time is over for both", async ({ server, openAs }) => {
  const ada = await openAs("ada");
  const bob = await openAs("bob");
  await createRoom(ada);
  const token = await ada.evaluate(() => JSON.parse(localStorage.getItem("reversi.session") ?? "").token);
  const player = { case: "displayName" as const, value: "bob" };
  const value = { player, lasts: { seconds: 10n } };
  const roomId = ada.url().split("/").at(-1) ?? "";
  await callsAs(server, token).rooms.setSeat({ roomId, seat: 1, occupant: { case: "invite", value } });
  const shown = bob.getByRole("group", { name: invitation.received("ada") });
  await shown.waitFor();
  await ada.getByText(/^bob has .* to answer\.$/).waitFor();
  await bob.getByText(invitation.ended("ada")).first().waitFor();
  await shown.waitFor({ state: "detached" });
  await ada.getByRole("button", { name: invitation.again("bob") }).click();
  await shown.waitFor();
});

const CLOCK = en.room.total(en.room.minutes("1"), en.room.seconds("1"));

/** Invites a player of the list, which may have been loaded before the player came. */
async function invite(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: invitation.reload }).click();
  await page.getByRole("button", { name: invitation.inviteName(name) }).click();
  await page.locator(".player-bar").getByText(en.room.reserved(name)).waitFor();
}
