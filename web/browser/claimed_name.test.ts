import { expect } from "vitest";
import { en } from "../src/text/en";
import { quickGame, result } from "./harness/game_page";
import { scenario } from "./harness/scenario";

scenario("a claimed name outlives the log-out, and its secret comes back to it", async ({ openAs, open }) => {
  const page = await openAs("ada");
  const openMenu = () => page.getByRole("button", { name: en.menu.settings }).click();
  await openMenu();
  await page.getByRole("link", { name: en.menu.history }).click();
  expect(await page.getByRole("button", { name: en.claim.claim }).isDisabled()).toBe(true);

  await page.getByRole("link", { name: en.menu.play }).first().click();
  await quickGame(page, "random");
  await page.getByRole("button", { name: en.game.resign }).click();
  await page.getByRole("button", { name: en.game.confirm, exact: true }).click();
  await result(page).waitFor();
  await openMenu();
  await page.getByRole("link", { name: en.menu.history }).click();
  await page.getByRole("button", { name: en.claim.claim }).click();
  await page.getByText(en.claim.secret, { exact: true }).click();
  const secret = await page.getByLabel(en.claim.secret).inputValue();
  expect(secret).toMatch(/^[0-9a-f]{64}$/);

  await openMenu();
  await page.getByRole("button", { name: en.menu.logOut }).click();
  await page.getByText(en.menu.logOutSure).waitFor();
  await page.getByRole("button", { name: en.game.confirm, exact: true }).click();
  await page.getByLabel(en.logIn.name).waitFor();

  const other = await open();
  await other.getByText(en.logIn.haveSecret).click();
  await other.getByLabel(en.claim.secret).fill(secret);
  await other.getByRole("button", { name: en.logIn.enter, exact: true }).last().click();
  await other.getByRole("button", { name: en.menu.settings }).getByText("ada").waitFor();
});
