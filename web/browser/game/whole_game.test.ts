import { expect } from "vitest";
import { GameEndReason } from "../../src/gen/reversi/v1/types_pb";
import { en } from "../../src/text/en";
import { scenario } from "../harness/scenario";
import { board, count, legal, playToTheEnd, quickGame, result } from "../harness/game_page";

scenario("a whole game against an AI", async ({ openAs }) => {
  const page = await openAs("ada");
  await quickGame(page, "random");
  expect(await legal(page).count()).toBe(4);
  await page.getByRole("heading", { name: en.game.yourTurn }).waitFor();
  const moves = await playToTheEnd(page);

  expect(moves).toBeGreaterThan(4);
  const final = await board(page);
  const [black, white] = [count(final, "*"), count(final, "o")];
  await page.locator(".player-bar .discs").getByText(String(black)).first().waitFor();
  const ending = black > white ? en.result.won : black < white ? en.result.lost : en.result.draw;
  await result(page).getByRole("heading", { name: ending }).waitFor();
  await result(page).getByText(en.result.reason[GameEndReason.DISCS]).waitFor();

  await page.getByRole("button", { name: en.game.rematch }).click();
  await result(page).waitFor({ state: "detached" });
  await legal(page).first().or(page.getByText(en.game.toMove.black)).first().waitFor();
});
