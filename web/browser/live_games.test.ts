import { expect } from "vitest";
import { en } from "../src/text/en";
import { story } from "./harness/scenario";
import { startMatch } from "./harness/game_page";

story("the running games hang on a wall, and lead to their rooms", async ({ enter }) => {
  const page = await enter("ada", { at: "tv" });
  await page.getByRole("heading", { name: en.wall.none }).waitFor();
  await startMatch(page, ["greedy", "random"], { pause: 5 });
  await startMatch(page, ["roxanne", "random"], { pause: 0.2 });

  await page.getByRole("link", { name: en.menu.tv }).click();
  await page.getByText(en.wall.games(2)).waitFor();
  const tile = page.getByRole("listitem").filter({ hasText: "Roxanne" });
  const discs = () =>
    tile.locator(".small-black, .small-white").evaluateAll((paths) => paths.map((path) => path.outerHTML));
  const seen = await discs();
  expect(seen).toHaveLength(2);
  await expect.poll(discs).not.toEqual(seen);
  await tile.locator(".tile-state").getByText(en.wall.over).waitFor();

  await page.getByRole("listitem").filter({ hasText: "Greedy" }).getByRole("link").click();
  await page.locator(".player-bar").getByText("Greedy").waitFor();
  await page.getByRole("heading", { name: en.game.graph }).waitFor();
});
