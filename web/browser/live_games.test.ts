import { expect } from "vitest";
import { en } from "../src/text/en";
import { scenario } from "./harness/scenario";
import { startAiMatch } from "./harness/game_page";

scenario("the overview shows the running games and links to their rooms", async ({ openAs }) => {
  const page = await openAs("ada", { at: "tv" });
  await page.getByRole("heading", { name: en.liveGames.none }).waitFor();
  await startAiMatch(page, ["greedy", "random"], { pause: 5 });
  await startAiMatch(page, ["roxanne", "random"], { pause: 0.2 });

  await page.getByRole("link", { name: en.menu.tv }).click();
  await page.getByText(en.liveGames.games(2)).waitFor();
  const tile = page.getByRole("listitem").filter({ hasText: "Roxanne" });
  const discs = () =>
    tile.locator(".small-black, .small-white").evaluateAll((paths) => paths.map((path) => path.outerHTML));
  const seen = await discs();
  expect(seen).toHaveLength(2);
  await expect.poll(discs).not.toEqual(seen);
  await tile.locator(".tile-state").getByText(en.liveGames.over).waitFor();

  await page.getByRole("listitem").filter({ hasText: "greedy 1" }).getByRole("link").click();
  await page.locator(".player-bar").getByText("greedy 1").waitFor();
  await page.getByRole("heading", { name: en.game.graph }).waitFor();
});
