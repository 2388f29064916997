import { expect } from "vitest";
import { en } from "../src/text/en";
import { story } from "./harness/scenario";

story("an address that names nothing says so, and the tab is named by its screen", async ({ enter, harmless }) => {
  harmless.push(/^Failed to load resource/);
  const page = await enter("ada", { at: "player/none" });
  await page.getByRole("heading", { name: en.refusal.BAD_ID }).waitFor();
  await page.goto(new URL("#/ai/none/1", page.url()).href);
  await page.getByRole("heading", { name: en.home.noSuchAi }).waitFor();
  await page.getByRole("link", { name: en.menu.rooms }).click();
  await expect.poll(() => page.title()).toBe(`${en.rooms.title} – ${en.brand}`);
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("MAIN");
});
