import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { GameEndReason } from "../src/gen/reversi/v1/types_pb";
import { en } from "../src/text/en";
import { scenario } from "./harness/scenario";
import { legal, quickGame, result } from "./harness/game_page";

/** More than the tab stops of any screen. */
const FAR = 80;

scenario("a whole game by the keyboard alone", async ({ open }) => {
  const page = await open();
  await page.locator("input:focus").waitFor();
  await page.keyboard.type("ada");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: en.home.quick }).waitFor();
  const first = page.getByRole("radio", { name: /^random 1 / });
  const second = page.getByRole("radio", { name: /^expert 1 / });
  await first.waitFor();
  await tabTo(page, first);
  await page.keyboard.press("ArrowDown");
  expect(await second.isChecked()).toBe(true);
  await page.keyboard.press("ArrowUp");
  expect(await first.isChecked()).toBe(true);
  await tabTo(page, page.getByRole("button", { name: en.home.start, exact: true }));
  await page.keyboard.press("Enter");

  await legal(page).first().waitFor();
  await tabTo(page, page.locator("[role=gridcell][tabindex='0']"));
  for (;;) {
    await legal(page).or(result(page)).first().waitFor();
    if (await result(page).isVisible()) break;
    await walkTo(page, await squareOf(legal(page).first()));
    await page.keyboard.press("Enter");
  }
  // Without a move the game would end by timeout.
  await result(page).getByText(en.result.reason[GameEndReason.DISCS]).waitFor();
  await tabTo(page, page.getByRole("button", { name: en.game.rematch }));
  await page.keyboard.press("Enter");
  await result(page).waitFor({ state: "detached" });
});

scenario("a confirmation takes the focus and returns it", async ({ openAs }) => {
  const page = await openAs("ada");
  await quickGame(page, "random");
  const resign = page.getByRole("button", { name: en.game.resign });
  await tabTo(page, resign);
  await page.keyboard.press("Enter");
  const no = page.getByRole("button", { name: en.game.cancel, exact: true });
  await no.waitFor();
  expect(await page.locator(":focus").textContent()).toBe(en.game.confirm);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await no.waitFor({ state: "detached" });
  expect(await resign.evaluate((element) => element === document.activeElement)).toBe(true);

  await page.getByRole("button", { name: en.menu.settings }).click();
  await page.getByRole("button", { name: en.menu.logOut }).click();
  await page.getByText(en.menu.logOutSure).waitFor();
  await page.getByRole("button", { name: en.game.confirm, exact: true }).click();
  await page.getByLabel(en.logIn.name).waitFor();
});

async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let steps = 0; steps < FAR; steps++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  expect.fail(`${target} cannot be reached by Tab`);
}

/** Moves the focus to a square by arrow keys. */
async function walkTo(page: Page, to: string): Promise<void> {
  const from = await squareOf(page.locator("[role=gridcell]:focus"));
  const press = async (key: string, times: number) => {
    for (let done = 0; done < times; done++) await page.keyboard.press(key);
  };
  const [right, down] = [0, 1].map((axis) => to.charCodeAt(axis) - from.charCodeAt(axis)) as [number, number];
  await press(right > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(right));
  await press(down > 0 ? "ArrowDown" : "ArrowUp", Math.abs(down));
}

/** The square's name, with which its label begins. */
async function squareOf(cell: Locator): Promise<string> {
  return (await cell.getAttribute("aria-label"))?.slice(0, 2) ?? "";
}
