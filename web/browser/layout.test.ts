import type { Page } from "playwright-core";
import { expect } from "vitest";
import { en } from "../src/text/en";
import { scenario } from "./harness/scenario";
import { createRoom, legal, playOn, quickGame, seatAi, startTwoPlayerGame } from "./harness/game_page";

/** Window sizes, each with the least width of the board: of a screen with players' bars, and of one without. */
const WINDOWS = [
  { width: 320, height: 568, withBars: 300, alone: 300 },
  { width: 375, height: 667, withBars: 350, alone: 350 },
  { width: 667, height: 375, withBars: 300, alone: 300 },
  { width: 844, height: 390, withBars: 315, alone: 315 },
  { width: 768, height: 1024, withBars: 720, alone: 720 },
  { width: 1024, height: 768, withBars: 570, alone: 640 },
  { width: 1280, height: 800, withBars: 590, alone: 690 },
  { width: 1440, height: 900, withBars: 685, alone: 785 },
  { width: 1920, height: 1080, withBars: 830, alone: 950 },
];

scenario("the board takes what width and height there are, and both clocks are in view", async ({ open, openAs }) => {
  const ada = await openAs("ada");
  await createRoom(ada, async (page) => {
    await page.getByLabel(en.create.total).fill("10");
    await seatAi(page, "white", "random");
  });
  await ada.getByRole("button", { name: en.room.start, exact: true }).click();
  await legal(ada).first().waitFor();
  await playOn(ada, 3);
  const visitor = await open({ at: ada.url().split("#/")[1] ?? "" });
  await visitor.getByRole("timer").first().waitFor();
  const problems = [...(await misfits(ada, "own game", 2)), ...(await misfits(visitor, "watched game", 2))];

  await ada.getByRole("button", { name: en.game.resign }).click();
  await ada.getByRole("button", { name: en.game.confirm, exact: true }).click();
  await ada.getByRole("link", { name: en.game.replay }).click();
  await ada.getByRole("slider", { name: en.replay.position }).waitFor();
  problems.push(...(await misfits(ada, "replay", 2)));
  await visitor.goto(new URL("#/analysis", ada.url()).href);
  await visitor.locator(".move-value").first().waitFor();
  problems.push(...(await misfits(visitor, "analysis", 0)));
  await visitor.goto(new URL("#/explore", ada.url()).href);
  await visitor.getByRole("heading", { name: en.archive.recent }).waitFor();
  problems.push(...(await misfits(visitor, "explorer", 0)));
  expect(problems).toEqual([]);
});

scenario("notices and the banner move no board, and cover no own clock", async ({ openAs, server, expectedErrors }) => {
  expectedErrors.push(/^Failed to load resource/);
  const [ada, bob] = [await openAs("ada"), await openAs("bob")];
  await startTwoPlayerGame(ada, bob);
  await ada.setViewportSize({ width: 375, height: 667 });
  const place = await boxes(ada, ".board-frame, .player-bar:last-child");
  await bob.getByLabel(en.room.say).fill("good luck");
  await bob.getByRole("button", { name: en.room.send }).click();
  // The chat is below the board, out of view on a phone.
  await ada.locator(".notice").getByText(en.event.said("bob", "good luck")).waitFor();
  const [notice] = await boxes(ada, ".notices");
  await server.kill();
  await ada.getByText(en.connection.lost).waitFor();
  const [banner] = await boxes(ada, ".banner");
  expect(await boxes(ada, ".board-frame, .player-bar:last-child")).toEqual(place);
  for (const cover of [notice, banner]) expect(place.some((box) => overlap(box, cover))).toBe(false);
});

interface Box {
  top: number;
  bottom: number;
}

function boxes(page: Page, selector: string): Promise<Box[]> {
  return page.locator(selector).evaluateAll((found) =>
    found.map((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return { top, bottom };
    }),
  );
}

function overlap(one: Box, other: Box | undefined): boolean {
  return other !== undefined && one.top < other.bottom && other.top < one.bottom;
}

scenario("both sides have a clock also if time is limited for each move only", async ({ openAs }) => {
  const ada = await openAs("ada");
  await quickGame(ada, "random");
  const clocks = ada.getByRole("timer");
  await clocks.nth(1).waitFor();
  await ada.getByRole("link", { name: en.menu.rooms }).click();
  await ada.getByRole("link", { name: en.ownGame.back }).first().waitFor();
  await clocks.nth(1).waitFor();
});

/** What does not fit in some window: the board, the players' bars, their clocks, the content of a panel, or the page. */
async function misfits(page: Page, screen: string, clocks: number): Promise<string[]> {
  const found: string[] = [];
  for (const { width, height, withBars, alone } of WINDOWS) {
    await page.setViewportSize({ width, height });
    await page.evaluate(() => scrollTo(0, 0));
    const seen = await page.evaluate(measure);
    const least = seen.bars > 0 ? withBars : alone;
    const say = (what: string) => found.push(`${screen}, ${width}×${height}: ${what}`);
    if (seen.board < least) say(`the board has ${seen.board} of ${least}`);
    if (seen.hidden.length > 0) say(`out of view: ${seen.hidden.join(", ")}`);
    if (seen.clocks !== clocks) say(`${seen.clocks} clocks`);
    if (seen.overflowing.length > 0) say(`wider than their panels: ${seen.overflowing.join(", ")}`);
    if (seen.width > width) say(`the page is ${seen.width} wide`);
  }
  return found;
}

function measure() {
  const bars = [...document.querySelectorAll(".player-bar")];
  const board = document.querySelector(".board-frame");
  const isHidden = (element: Element | null) => {
    const box = element?.getBoundingClientRect();
    return !box || box.top < 0 || box.left < 0 || box.bottom > innerHeight || box.right > innerWidth;
  };
  return {
    board: board?.getBoundingClientRect().width ?? 0,
    bars: bars.length,
    clocks: document.querySelectorAll(".player-bar .clock").length,
    hidden: [board, ...bars].filter(isHidden).map((element) => element?.className),
    overflowing: [...document.querySelectorAll(".panel")]
      .filter((panel) => panel.scrollWidth > panel.clientWidth + 1)
      .map(
        (panel) => `${panel.querySelector("h1, h2, summary")?.textContent} by ${panel.scrollWidth - panel.clientWidth}`,
      ),
    width: document.documentElement.scrollWidth,
  };
}
