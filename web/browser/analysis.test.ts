import { expect } from "vitest";
import { en } from "../src/text/en";
import { scenario } from "./harness/scenario";
import { board, count, result, startAiMatch } from "./harness/game_page";

const { analysis } = en;

/** For the analysis of a game, in milliseconds. */
const ANALYSIS_TIMEOUT = 90_000;

scenario("a visitor analyses a pasted game, plays variations and takes them back", async ({ open }) => {
  const visitor = await open({ at: "analysis/start/" });
  await visitor.getByLabel(analysis.paste).fill("f5f5");
  await visitor.getByRole("button", { name: analysis.load }).click();
  await visitor.getByText(analysis.unreadable).waitFor();
  await visitor.getByLabel(analysis.paste).fill("F5 d6 c3");
  await visitor.getByRole("button", { name: analysis.load }).click();
  await expect.poll(() => visitor.url()).toContain("#/analysis/start/f5d6c3");
  const variation = visitor.locator(".variations button").first();
  await variation.waitFor();
  await visitor.locator(".move-value").first().waitFor();
  const before = await board(visitor);
  await variation.click();
  await expect.poll(() => board(visitor)).not.toBe(before);
  await visitor.getByRole("button", { name: analysis.back }).click();
  await expect.poll(() => board(visitor)).toBe(before);
  await visitor.getByRole("button", { name: analysis.forward }).click();
  await expect.poll(() => board(visitor)).not.toBe(before);

  // A move that was taken back continues its own line only.
  const address = visitor.url();
  await visitor.getByRole("button", { name: analysis.back }).click();
  await visitor.goto(new URL("#/analysis", visitor.url()).href);
  await expect.poll(() => board(visitor)).not.toBe(before);
  expect(await visitor.getByRole("button", { name: analysis.forward }).isDisabled()).toBe(true);
  await visitor.goto(address);

  // The link carries the position.
  const again = await open();
  await again.goto(visitor.url());
  await again.locator(".variations").waitFor();
  expect(await board(again)).toBe(await board(visitor));
  await again.getByLabel(analysis.values).uncheck();
  await again.locator(".move-value").first().waitFor({ state: "detached" });
});

scenario("a position is set up by hand, by pointer, touch and keyboard, and analysed", async ({ open }) => {
  const visitor = await open({ at: "analysis", hasTouch: true });
  await visitor.locator(".move-value").first().waitFor();
  await visitor.getByRole("button", { name: analysis.setUp }).click();
  const square = (name: string) => visitor.getByRole("gridcell", { name: `${name},` });
  const colors = async () => [count(await board(visitor), "*"), count(await board(visitor), "o")];

  await visitor.getByRole("button", { name: analysis.clear }).click();
  await visitor.getByText(analysis.problem.centre).waitFor();
  expect(await visitor.getByRole("button", { name: analysis.analyse }).isDisabled()).toBe(true);
  await visitor.getByRole("button", { name: analysis.undo }).click();
  await visitor.getByText(analysis.possible).waitFor();
  await square("a1").click();
  await visitor.getByText(analysis.problem.apart).waitFor();
  await square("a1").click();
  expect(await colors()).toEqual([2, 3]);
  await square("a1").click();
  expect(await colors()).toEqual([2, 2]);
  await visitor.getByRole("group", { name: analysis.brush }).getByText(en.side.white).click();
  await square("f4").tap();
  await square("d4").focus();
  await visitor.keyboard.press("ArrowUp");
  await visitor.keyboard.press("Enter");
  expect(await colors()).toEqual([2, 4]);
  await visitor.getByRole("group", { name: analysis.toMove }).getByText(en.side.white).click();
  await visitor.getByRole("button", { name: analysis.analyse }).click();
  await visitor.locator(".variations").waitFor();
  expect(decodeURIComponent(visitor.url())).toMatch(/#\/analysis\/[-XO]{64}O\/$/);
  expect(await colors()).toEqual([2, 4]);
  await visitor.getByRole("button", { name: analysis.setUp }).click();
  await visitor.getByRole("button", { name: analysis.standard }).click();
  await visitor.getByRole("button", { name: analysis.cancel }).click();
  expect(await colors()).toEqual([2, 4]);
  const focused = () => visitor.evaluate(() => document.activeElement?.role);
  await expect.poll(focused).toBe("gridcell");

  // Another address shows its position, not the editor.
  await visitor.getByRole("button", { name: analysis.setUp }).click();
  await expect.poll(focused).toBe("gridcell");
  await visitor.goto(new URL("#/analysis/start/f5", visitor.url()).href);
  await visitor.getByRole("button", { name: analysis.setUp }).waitFor();
  expect(await colors()).toEqual([4, 1]);
  await visitor.getByRole("button", { name: analysis.start }).click();
  await expect.poll(colors).toEqual([2, 2]);
  await visitor.getByRole("button", { name: analysis.forward }).click();
  await expect.poll(colors).toEqual([4, 1]);
});

scenario("the mistakes of a watched game are found where it was watched", async ({ open, openAs }) => {
  const ada = await openAs("ada");
  await startAiMatch(ada, ["greedy", "random"], { pause: 0, plies: 20 });
  const visitor = await open({ at: ada.url().split("#/")[1] ?? "" });
  await result(visitor).waitFor();
  await visitor.getByRole("button", { name: analysis.findMistakes }).click();
  await visitor.getByText(/lost [0-9.]+ discs in all/).waitFor({ timeout: ANALYSIS_TIMEOUT });
  await visitor.locator(".move .loss").first().click();
  await visitor.getByText(/was better/).waitFor();
  expect(await visitor.locator(".graph-mistake").count()).toBe(await visitor.locator(".move .loss").count());
});
