import { expect } from "vitest";
import { en } from "../../src/text/en";
import { ja } from "../../src/text/ja";
import { zh } from "../../src/text/zh";
import { scenario } from "../harness/scenario";

const LANGUAGES = [
  ["zh-CN", "zh-Hans", zh],
  ["ja-JP", "ja", ja],
] as const;

for (const [locale, tag, texts] of LANGUAGES) {
  scenario(`the page speaks the language of a browser set to ${locale}`, async ({ open }) => {
    const page = await open({ locale });
    await page.getByRole("heading", { name: texts.logIn.title }).waitFor();
    expect(await page.locator("html").getAttribute("lang")).toBe(tag);
    await page.getByLabel(texts.logIn.name).fill("阿達");
    await page.getByRole("button", { name: texts.logIn.enter, exact: true }).click();
    await page.getByRole("button", { name: texts.home.start, exact: true }).click();
    await page.getByRole("heading", { name: texts.game.yourTurn }).waitFor();
    await page.getByRole("gridcell", { name: `d3, ${texts.game.empty}, ${texts.game.legal}` }).waitFor();
  });

  scenario(`games, openings and analysis are in the language of a browser set to ${locale}`, async ({ open }) => {
    const page = await open({ locale, at: "records" });
    await page.getByText(texts.archive.noGames).waitFor();
    await page.getByRole("link", { name: texts.archive.openings }).click();
    await page.getByText(texts.archive.none).waitFor();
    await page.goto(new URL("#/analysis/start/f5d6", page.url()).href);
    await page.getByRole("heading", { name: texts.analysis.best }).waitFor();
    await page.getByRole("button", { name: texts.analysis.setUp }).click();
    await page.getByText(texts.analysis.next, { exact: true }).waitFor();
  });
}

scenario("a chosen language is kept after a reload", async ({ open }) => {
  const page = await open();
  await page.getByRole("button", { name: en.menu.settings }).click();
  await page.getByLabel(en.menu.language).selectOption("ja");
  await page.getByRole("heading", { name: ja.logIn.title }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: ja.logIn.title }).waitFor();
});
