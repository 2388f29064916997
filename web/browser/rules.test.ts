import { expect } from "vitest";
import { en } from "../src/text/en";
import { scenario } from "./harness/scenario";
import { board, count, legal } from "./harness/game_page";

scenario("a visitor learns the rules in a guided game", async ({ open }) => {
  const visitor = await open();
  await visitor.getByRole("link", { name: en.rules.title }).click();
  await visitor.getByText(en.rules.guide).waitFor();
  await legal(visitor).first().click();
  await visitor.getByText(en.rules.turned(1)).waitFor();
  // White has answered.
  expect(count(await board(visitor), "-")).toBe(58);
  const over = visitor.getByText(/^The game is over/);
  for (;;) {
    const move = legal(visitor).first();
    await move.or(over).first().waitFor();
    if (await over.isVisible()) break;
    await move.click();
  }
  await visitor.getByRole("button", { name: en.rules.again }).click();
  expect(count(await board(visitor), "-")).toBe(60);
});
