import type { Page } from "playwright-core";
import { en } from "../../src/text/en";
import { logIn } from "./scenario";
import {
  createRoom,
  invitation,
  openInOtherBrowser,
  playOn,
  playToTheEnd,
  quickGame,
  result,
  startAiMatch,
} from "./game_page";

const MATCHES = [
  ["roxanne", "greedy"],
  ["positional", "roxanne"],
  ["alphabeta", "random"],
  ["mcts:2", "positional"],
] as const;

/** Settings of games that start in the middle and do not end during the test. */
const SLOW = { pause: 5, plies: 20 };

/** The timeout of a test that visits every screen, in milliseconds. */
export const TOUR_TIMEOUT = 300_000;

/** Visits every screen, starting logged out, and yields the name of each. */
export async function* allScreens(page: Page): AsyncGenerator<string> {
  await page.getByRole("button", { name: en.logIn.guest }).waitFor();
  yield "log-in";
  yield* visitor(page);
  await logIn(page, "ada");
  for (const match of MATCHES) await startAiMatch(page, match, SLOW);
  await page.getByRole("img", { name: en.game.evaluation }).waitFor();
  yield "watching";
  await page.getByRole("link", { name: en.menu.tv }).click();
  await page.getByText(en.liveGames.games(MATCHES.length)).waitFor();
  yield "live-games";
  await page.getByRole("link", { name: en.menu.rooms }).click();
  await page.getByText(en.rooms.count(MATCHES.length)).waitFor();
  yield "rooms";
  await page.getByRole("link", { name: en.menu.play, exact: true }).click();
  await page.getByRole("link", { name: en.rooms.watch }).first().waitFor();
  yield "home";
  await page.getByRole("button", { name: en.menu.settings }).click();
  await page.getByLabel(en.menu.language).waitFor();
  yield "menu";
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: en.invitation.players }).click();
  await page.getByText(en.invitation.accepts(en.invitation.all)).first().waitFor();
  yield "players";
  await page.getByRole("link", { name: en.menu.play, exact: true }).click();
  yield* room(page);
  yield* game(page);
  await page.goto(new URL("#/ai/mcts/5", page.url()).href);
  await page.getByRole("button", { name: en.stats.challenge }).waitFor();
  yield "ai";
  await page.goto(new URL("#/ais", page.url()).href);
  await page.getByRole("heading", { name: en.home.byStrength }).waitFor();
  yield "ais";
  await page.goto(new URL("#/records", page.url()).href);
  await page.getByRole("link", { name: /^ada – / }).waitFor();
  yield "records";
  await page.getByRole("link", { name: en.archive.openings }).click();
  await page.getByRole("heading", { name: en.archive.recent }).waitFor();
  yield "explore";
  yield* tournament(page);
  await page.goto(new URL("#/bots", page.url()).href);
  await page.getByLabel(en.bots.token).fill("0".repeat(64));
  await page.getByRole("button", { name: en.bots.add }).click();
  await page.getByText(en.bots.invalid).waitFor();
  yield "bots";
  await page.goto(new URL("#/rules", page.url()).href);
  await page.getByText(en.rules.guide).waitFor();
  yield "rules";
  await page.goto(new URL("#/analysis/start/f5d6", page.url()).href);
  await page.locator(".move-value").first().waitFor();
  yield "analysis";
  await page.getByRole("button", { name: en.analysis.setUp }).click();
  yield "set-up";
  await page.goto(new URL("/embed#/position/start/f5d6", page.url()).href);
  await page.getByText(en.replay.at(2, 2)).waitFor();
  yield "embed";
  await page.goto(new URL("/#/room/none", page.url()).href);
  await page.getByRole("heading", { name: en.refusal.ROOM_NOT_FOUND }).waitFor();
  yield "not-found";
  await openInOtherBrowser(page);
  await page.getByText(en.connection.elsewhere).waitFor();
  yield "superseded";
}

/** The screens that ask a visitor for a name or a password. */
async function* visitor(page: Page): AsyncGenerator<string> {
  await page.goto(new URL("#/create", page.url()).href);
  await page.getByRole("button", { name: en.create.create, exact: true }).click();
  await page.getByRole("dialog", { name: en.visitor.nameNeeded }).waitFor();
  yield "name-dialog";
  await page.keyboard.press("Escape");
  const owner = await page.context().browser()?.newPage();
  if (!owner) throw new Error("no browser");
  await owner.goto(new URL("#/", page.url()).href);
  await logIn(owner, "bob");
  await createRoom(owner);
  await page.goto(await invitation(owner));
  await page.getByRole("heading", { name: en.visitor.invitedBy("bob") }).waitFor();
  yield "invitation";
  await owner.getByRole("button", { name: en.room.leave }).click();
  await createRoom(owner, () => owner.getByLabel(en.create.password).fill("secret"));
  await page.goto(await invitation(owner));
  await page.getByLabel(en.create.password).waitFor();
  yield "invitation-password";
  await page.goto(owner.url());
  await page.getByLabel(en.logIn.name).waitFor({ state: "detached" });
  await page.getByLabel(en.create.password).fill("guess");
  await page.getByRole("button", { name: en.room.enter }).click();
  await page.getByRole("alert").waitFor();
  await page.getByRole("heading", { level: 1 }).waitFor();
  yield "wrong-password";
  await owner.getByRole("button", { name: en.room.leave }).click();
  await owner.getByRole("link", { name: en.home.create }).waitFor();
  await owner.close();
  await page.goto(new URL("#/", page.url()).href);
}

/** The screens of an organiser, with a tournament of two AIs. */
async function* tournament(page: Page): AsyncGenerator<string> {
  const texts = en.tournament;
  await page.goto(new URL("#/organise", page.url()).href);
  await page.getByLabel(texts.form.name).fill("Evening");
  await page.getByText(texts.form.allPlayAll).click();
  yield "organise";
  await page.getByRole("button", { name: texts.form.create, exact: true }).click();
  await page.getByText(texts.enterAi).click();
  for (const ai of ["random 1", "expert 1"]) {
    await page.getByRole("radio", { name: new RegExp(`^${ai} `) }).check({ force: true });
    await page.getByRole("button", { name: texts.enter, exact: true }).click();
    await page.getByRole("rowheader", { name: ai }).waitFor();
  }
  yield "tournament-open";
  await page.getByRole("button", { name: texts.start, exact: true }).click();
  await page.getByText(texts.phase.completed).waitFor();
  await page.getByRole("heading", { name: texts.crosstable }).waitFor();
  yield "tournament";
  await page.goto(new URL("#/tournaments", page.url()).href);
  await page.getByRole("link", { name: "Evening" }).waitFor();
  yield "tournaments";
}

/** The screens of a room's owner. */
async function* room(page: Page): AsyncGenerator<string> {
  await page.getByRole("link", { name: en.home.create }).click();
  await page.getByText(en.create.advanced).click();
  yield "create";
  await page.getByRole("link", { name: en.menu.play, exact: true }).click();
  await createRoom(page);
  await page.getByText(en.room.manage, { exact: true }).click();
  await page.getByLabel(en.room.say).fill("Who plays?");
  await page.keyboard.press("Enter");
  await page.getByRole("list", { name: en.room.chat }).getByText("Who plays?").waitFor();
  yield "room";
  await page.getByRole("button", { name: en.room.leave }).click();
}

/** The screens of a game and its record. */
async function* game(page: Page): AsyncGenerator<string> {
  await quickGame(page, "greedy");
  await playOn(page, 8);
  yield "game";
  await page.locator(".moves .move").first().click();
  await page.getByRole("group", { name: en.game.lookingBack }).waitFor();
  yield "looking-back";
  await page.getByRole("button", { name: en.game.currentPosition }).click();
  await page.getByRole("link", { name: en.menu.rooms, exact: true }).click();
  await page.getByRole("link", { name: en.ownGame.back }).first().waitFor();
  yield "own-game";
  await page.getByRole("link", { name: en.ownGame.back }).first().click();
  await playToTheEnd(page);
  yield "result";
  await result(page).getByRole("link", { name: en.game.replay }).click();
  await page.getByRole("slider", { name: en.replay.position }).fill("10");
  yield "replay";
  await page.getByRole("link", { name: "ada" }).click();
  await page.getByRole("heading", { name: en.stats.results }).waitFor();
  await page.getByRole("link", { name: en.stats.replay("greedy 1") }).waitFor();
  yield "player";
}
