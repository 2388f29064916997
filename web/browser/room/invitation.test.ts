import { expect } from "vitest";
import { RatedPreference } from "../../src/gen/reversi/v1/lobby_pb";
import { PlayerKind } from "../../src/gen/reversi/v1/types_pb";
import { en } from "../../src/text/en";
import { otherPlayer } from "../harness/other_player";
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
  await ada.getByText(invitation.refused.rated("bot")).waitFor();
  await ada.getByLabel(en.create.rated).check();
  await ada.getByRole("button", { name: invitation.inviteName("bot") }).click();
  await ada.locator(".player-bar").getByText(en.room.reserved("bot")).waitFor();
  await expect
    .poll(() => bot.invited.map(({ by, settings }) => [by?.displayName, settings?.rated]))
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
