import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { en } from "../src/text/en";
import { allScreens, TOUR_TIMEOUT } from "./harness/all_screens";
import { botInGame, otherPlayer } from "./harness/other_player";
import { scenario } from "./harness/scenario";

scenario("no screen has accessibility violations, in light or dark", { timeout: TOUR_TIMEOUT }, async ({ open }) => {
  const page = await open({ reducedMotion: "reduce" });
  const found: string[] = [];
  for await (const screen of allScreens(page)) found.push(...(await barriersOf(page, screen)));
  expect(found).toEqual([]);
});

scenario("an invitation and its answer have no accessibility violations", async ({ server, openAs }) => {
  const ada = await openAs("ada", { reducedMotion: "reduce" });
  const bot = await otherPlayer(server, "bot");
  const guest = { player: { case: "displayName" as const, value: "ada" } };
  await bot.lobby.createRoom({ seats: [{ occupant: { case: "invite", value: guest } }, {}] });
  await ada.getByRole("group", { name: en.invitation.received("bot") }).waitFor();
  const found = await barriersOf(ada, "invited");
  await ada.getByRole("button", { name: en.game.decline }).click();
  await ada.getByRole("link", { name: en.invitation.players }).click();
  await ada.getByRole("button", { name: en.invitation.inviteName("bot") }).click();
  await ada.getByText(/^bot has .* to answer\.$/).waitFor();
  found.push(...(await barriersOf(ada, "inviting")));
  await bot.rooms.declineInvitation({ roomId: ada.url().split("/").at(-1) ?? "" });
  await ada.getByRole("button", { name: en.invitation.again("bot") }).waitFor();
  found.push(...(await barriersOf(ada, "declined")));
  expect(found).toEqual([]);
});

scenario("a bot and its problems have no accessibility violations", async ({ server, open }) => {
  const { bot } = await botInGame(server);
  const page = await open({ at: "bots", reducedMotion: "reduce" });
  for (const pasted of [bot.playToken, "nova"]) {
    await page.getByLabel(en.bots.token).fill(pasted);
    await page.keyboard.press("Enter");
  }
  await page.getByRole("alert").getByText(en.bots.unreadable).waitFor();
  await page.getByText("ILLEGAL_MOVE").waitFor();
  expect(await barriersOf(page, "bots")).toEqual([]);
});

async function barriersOf(page: Page, screen: string): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    found.push(...(await barriers(page)).map((barrier) => `${screen}, ${colorScheme}: ${barrier}`));
  }
  return found;
}

async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations, passes } = (await page.evaluate("axe.run()")) as axe.AxeResults;
  expect(passes.length).toBeGreaterThan(0);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
  );
}
