import type { Page } from "playwright-core";
import { expect } from "vitest";
import { en } from "../../src/text/en";
import { scenario } from "../harness/scenario";

const LIGHT = "rgb(244, 244, 240)";
const DARK = "rgb(20, 24, 23)";
const BLUE = "rgb(47, 110, 165)";
const IVORY = "rgb(247, 233, 201)";

scenario("a reader chooses light or dark, from the first paint on", async ({ open, server, expectedErrors }) => {
  expectedErrors.push(/Service Worker registration blocked by Playwright/);
  const page = await open({ colorScheme: "light", serviceWorkers: "block" });
  await choose(page, en.shell.scheme, en.shell.schemes.dark);
  expect(await ground(page)).toBe(DARK);
  await page.emulateMedia({ colorScheme: "dark" });
  await choose(page, en.shell.scheme, en.shell.schemes.light);
  expect(await ground(page)).toBe(LIGHT);

  await page.route(server.url, async (route) => {
    const page = await (await route.fetch()).text();
    await route.fulfill({ contentType: "text/html", body: page.replace(/<script type="module".*<\/script>/g, "") });
  });
  await page.reload();
  await page.getByText("Loading…").waitFor();
  expect(await ground(page)).toBe(LIGHT);
  await page.unroute(server.url);

  await page.reload();
  await choose(page, en.shell.scheme, en.shell.schemes.system);
  expect(await ground(page)).toBe(DARK);
});

scenario("themes of boards and discs are chosen by keyboard, and kept", async ({ open, server }) => {
  const page = await open();
  await page.getByRole("button", { name: en.menu.settings }).click();
  await page.getByRole("radio", { name: en.shell.boards.green }).press("ArrowRight");
  expect(await page.getByRole("radio", { name: en.shell.boards.blue }).isChecked()).toBe(true);
  await page.getByRole("radio", { name: en.shell.discThemes.glossy }).press("ArrowLeft");
  expect(await page.getByRole("radio", { name: en.shell.discThemes.ivory }).isChecked()).toBe(true);
  expect(await color(page, ".cell", "background-color")).toBe(BLUE);

  await page.goto(`${server.url}#/rules`);
  await page.reload();
  await page.getByText(en.rules.guide).waitFor();
  expect(await color(page, ".cell", "background-color")).toBe(BLUE);
  expect(await color(page, ".small-ground", "fill")).toBe(BLUE);
  expect(await color(page, ".small-white", "fill")).toBe(IVORY);
});

scenario("themes are chosen by touch on a narrow phone", async ({ open }) => {
  const page = await open({ hasTouch: true, viewport: { width: 320, height: 568 } });
  await page.getByRole("button", { name: en.menu.settings }).tap();
  await page.locator(`label[title="${en.shell.boards.wood}"]`).tap();
  expect(await page.getByRole("radio", { name: en.shell.boards.wood }).isChecked()).toBe(true);
  expect(await page.evaluate(() => document.documentElement.dataset["board"])).toBe("wood");
});

/** Chooses in the menu by pointer. */
async function choose(page: Page, group: string, option: string): Promise<void> {
  await page.getByRole("button", { name: en.menu.settings }).click();
  await page.getByRole("group", { name: group }).getByText(option, { exact: true }).click();
  await page.keyboard.press("Escape");
}

function ground(page: Page): Promise<string> {
  return color(page, "body", "background-color");
}

function color(page: Page, selector: string, property: string): Promise<string> {
  const first = page.locator(selector).first();
  return first.evaluate((element, property) => getComputedStyle(element).getPropertyValue(property), property);
}
