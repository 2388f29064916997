import { expect } from "vitest";
import { en } from "../src/text/en";
import { story } from "./story";
import { createRoom, result, seatAi } from "./table";

story("the running games hang on a wall, and lead to their rooms", async ({ enter }) => {
  const page = await enter("ada", { at: "tv" });
  await page.getByRole("heading", { name: en.wall.none }).waitFor();
  for (const kind of ["greedy", "roxanne"]) {
    await page.getByRole("link", { name: en.menu.play, exact: true }).click();
    await createRoom(page, async () => {
      await seatAi(page, "black", kind);
      await seatAi(page, "white", "random");
      await page.getByLabel(en.create.pause).fill("0.3");
    });
    await page.getByRole("button", { name: en.room.start }).click();
    await page.getByRole("heading", { name: en.game.graph }).waitFor();
  }

  await page.getByRole("link", { name: en.menu.tv }).click();
  await page.getByText(en.wall.games(2)).waitFor();
  const tile = page.getByRole("listitem").filter({ hasText: "Roxanne" }).getByRole("link");
  const discs = () => tile.locator(".small-black, .small-white").evaluateAll((paths) => paths.map((path) => path.outerHTML));
  const seen = await discs();
  expect(seen).toHaveLength(2);
  await expect.poll(discs, { timeout: 30_000 }).not.toEqual(seen);
  await tile.getByText(en.wall.over).waitFor();

  const other = page.getByRole("listitem").filter({ hasText: "Greedy" }).getByRole("link");
  await other.click();
  await result(page).waitFor();
  await page.getByRole("heading", { name: en.game.graph }).waitFor();
});
