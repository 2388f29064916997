import { expect } from "vitest";
import { en } from "../src/text/en";
import { quickGame } from "./harness/game_page";
import { scenario } from "./harness/scenario";

scenario("a log-out is not undone by calls that the server refuses after it", async ({ openAs }) => {
  const page = await openAs("ada");
  await quickGame(page, "random");
  const name = page.getByLabel(en.logIn.name);
  // Holds the call until the page has forgotten the session, so that no other call can carry its token.
  await page.route("**/LogOut", async (route) => {
    await name.waitFor();
    await route.continue();
  });
  const logIns: string[] = [];
  page.on("request", (request) => void (request.url().endsWith("/LogIn") && logIns.push(request.url())));
  const answered = page.waitForResponse("**/LogOut");
  await page.getByRole("button", { name: en.menu.settings }).click();
  await page.getByRole("button", { name: en.menu.logOut }).click();
  await page.getByRole("button", { name: en.game.confirm, exact: true }).click();
  expect((await answered).headers()["grpc-status"]).toBeUndefined();
  // Later calls of the page, which carry no token.
  await page.getByRole("button", { name: en.menu.settings }).click();
  await page.getByRole("link", { name: en.archive.finished }).click();
  await page.getByRole("button", { name: en.visitor.logIn, exact: true }).waitFor();
  expect(logIns).toEqual([]);
});
