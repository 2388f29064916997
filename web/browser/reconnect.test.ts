import { expect, onTestFinished } from "vitest";
import type { Page } from "playwright-core";
import { en } from "../src/text/en";
import { Server } from "./harness/server";
import { type Fixtures, story } from "./harness/scenario";
import { board, count, legal, quickGame } from "./harness/game_page";

/** A server that keeps what happens; and a browser that may say that it is not there. */
const lasting = story.extend<Pick<Fixtures, "server" | "harmless">>({
  server: async ({ folder }, use) => {
    const server = await Server.start({ data: folder });
    await use(server);
    await server.kill();
  },
  harmless: async ({}, use) => use([/^Failed to load resource: net::ERR_/]),
});

lasting("a game goes on after the server was killed", async ({ enter, server, folder }) => {
  const ada = await enter("ada");
  await quickGame(ada, "random");
  await exchange(ada);
  const before = await board(ada);

  await server.kill();
  await ada.getByText(en.connection.lost).waitFor();
  expect(await board(ada)).toBe(before);

  await restart(server, folder);
  await ada.getByText(en.connection.lost).waitFor({ state: "hidden" });
  expect(await board(ada)).toBe(before);
  await exchange(ada);
  expect(count(await board(ada), "-")).toBeLessThan(count(before, "-") - 1);
});

lasting("what was opened while the server was away fills when it is back", async ({ enter, server, folder }) => {
  const ada = await enter("ada", { at: "rooms" });
  await ada.getByRole("heading", { name: en.rooms.title }).waitFor();
  await server.kill();
  await ada.getByText(en.connection.lost).waitFor();
  await ada.getByRole("link", { name: en.menu.play, exact: true }).click();
  await ada.getByRole("heading", { name: en.home.quick }).waitFor();
  await restart(server, folder);
  await quickGame(ada, "random");
  expect(await ada.getByText(en.refusal.OFFLINE).count()).toBe(0);
});

lasting("a server that stops says so, and the page returns to the next one", async ({ enter, server, folder }) => {
  const ada = await enter("ada");
  await quickGame(ada, "random");
  server.stop();
  await ada.getByText(en.connection.draining).waitFor();
  await server.ended();
  await restart(server, folder);
  await ada.locator(".banner").waitFor({ state: "hidden" });
  await exchange(ada);
});

story("a second tab takes over, and gives back", async ({ enter }) => {
  const first = await enter("ada");
  await quickGame(first, "random");
  const second = await first.context().newPage();
  await second.goto(first.url());
  await legal(second).first().waitFor();
  await first.getByRole("heading", { name: en.connection.elsewhere }).waitFor();
  await exchange(second);
  const reached = await board(second);

  await first.getByRole("button", { name: en.connection.useHere }).click();
  await second.getByRole("heading", { name: en.connection.elsewhere }).waitFor();
  await legal(first).first().waitFor();
  expect(await board(first)).toBe(reached);
  await exchange(first);
});

/** A move, and the answer to it. */
async function exchange(page: Page): Promise<void> {
  const empty = count(await board(page), "-");
  await legal(page).first().click();
  await expect.poll(async () => count(await board(page), "-")).toBeLessThan(empty - 1);
  await legal(page).first().waitFor();
}

async function restart({ address }: Server, data: string): Promise<void> {
  const again = await Server.start({ data, address });
  onTestFinished(() => again.kill());
}
