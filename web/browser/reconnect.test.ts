import { expect, onTestFinished } from "vitest";
import { en } from "../src/text/en";
import { Server } from "./harness/server";
import { type Fixtures, scenario } from "./harness/scenario";
import { board, exchange, legal, count, openInOtherBrowser, quickGame } from "./harness/game_page";

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

scenario(
  "another browser of the player is told of events instead, until the first takes them back",
  async ({ openAs }) => {
    const first = await openAs("ada");
    await quickGame(first, "random");
    const second = await openInOtherBrowser(first);
    await legal(second).first().waitFor();
    await first.getByText(en.connection.elsewhere).waitFor();
    await exchange(second);
    const reached = await board(second);

    // The board is still there, and takes moves.
    await legal(first).first().waitFor();
    expect(await board(first)).toBe(reached);
    await exchange(first);
    await first.getByRole("button", { name: en.connection.tellHere }).click();
    await second.getByText(en.connection.elsewhere).waitFor();
    await first.getByText(en.connection.elsewhere).waitFor({ state: "detached" });
  },
);

async function restart({ address }: Server, data: string): Promise<void> {
  const again = await Server.start({ data, address });
  onTestFinished(() => again.kill());
}
