import { expect } from "vitest";
import { en } from "../src/text/en";
import { scenario } from "./harness/scenario";

scenario(
  "an unknown address shows an error, and the tab's title names the screen",
  async ({ openAs, expectedErrors }) => {
    expectedErrors.push(/^Failed to load resource/);
    const page = await openAs("ada", { at: "player/none" });
    await page.getByRole("heading", { name: en.refusal.BAD_ID }).waitFor();
    await page.goto(new URL("#/ai/none/1", page.url()).href);
    await page.getByRole("heading", { name: en.home.noSuchAi }).waitFor();
    for (const screen of ["nowhere", "player/"]) {
      await page.goto(new URL(`#/${screen}`, page.url()).href);
      await page.getByRole("heading", { name: en.shell.noSuchScreen }).waitFor();
    }
    await page.goto(new URL("#/analysis/start/f5a1", page.url()).href);
    await page.getByText(en.shell.unreadAddress("a1")).waitFor();
    await page.goto(new URL("#/explore/f5a1", page.url()).href);
    await page.getByText(en.shell.unreadAddress("a1")).waitFor();
    await page.getByRole("link", { name: en.menu.rooms }).click();
    await expect.poll(() => page.title()).toBe(`${en.rooms.title} – ${en.brand}`);
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("MAIN");
  },
);
