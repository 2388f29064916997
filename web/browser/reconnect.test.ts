import { expect, onTestFinished } from "vitest";
import type { Page } from "playwright-core";
import { en } from "../src/text/en";
import { Server } from "./harness/server";
import { type Fixtures, scenario } from "./harness/scenario";
import { board, count, legal, quickGame } from "./harness/game_page";

/** With a durable server, whose failed requests are expected on the console. */
const durableScenario = scenario.extend<Pick<Fixtures, "server" | "expectedErrors">>({
  server: async ({ folder }, use) => {
    const server = await Server.start({ data: folder });
    await use(server);
    await server.kill();
  },
  expectedErrors: async ({}, use) => use([/^Failed to load resource: net::ERR_/]),
});

durableScenario("a game continues after the server was killed", async ({ openAs, server, folder }) => {
  const ada = await openAs("ada");
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

durableScenario(
  "a screen opened while the server is down loads when it is back",
  async ({ openAs, server, folder }) => {
    const ada = await openAs("ada", { at: "rooms" });
    await ada.getByRole("heading", { name: en.rooms.title }).waitFor();
    await server.kill();
    await ada.getByText(en.connection.lost).waitFor();
    await ada.getByRole("link", { name: en.menu.play, exact: true }).click();
    await ada.getByRole("heading", { name: en.home.quick }).waitFor();
    await restart(server, folder);
    await quickGame(ada, "random");
    expect(await ada.getByText(en.refusal.OFFLINE).count()).toBe(0);
  },
);

durableScenario(
  "the page shows a draining server and reconnects to the next one",
  async ({ openAs, server, folder }) => {
    const ada = await openAs("ada");
    await quickGame(ada, "random");
    server.stop();
    await ada.getByText(en.connection.draining).waitFor();
    await server.ended();
    await restart(server, folder);
    await ada.locator(".banner").waitFor({ state: "hidden" });
    await exchange(ada);
  },
);

scenario("a second tab takes over, and the first can take back", async ({ openAs }) => {
  const first = await openAs("ada");
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

/** Makes a move and waits for the reply. */
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
