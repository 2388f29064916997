import { expect } from "vitest";
import { en } from "../src/text/en";
import { scenario } from "./harness/scenario";
import { board } from "./harness/game_page";

const { analysis } = en;

scenario("a visitor analyses a pasted game, plays variations and takes them back", async ({ open }) => {
  const visitor = await open({ at: "analysis/start/" });
  await visitor.getByLabel(analysis.paste).fill("f5f5");
  await visitor.getByRole("button", { name: analysis.load }).click();
  await visitor.getByText(analysis.unreadable).waitFor();
  await visitor.getByLabel(analysis.paste).fill("F5 d6 c3");
  await visitor.getByRole("button", { name: analysis.load }).click();
  await expect.poll(() => visitor.url()).toContain("#/analysis/start/f5d6c3");
  const variation = visitor.locator(".variations button").first();
  await variation.waitFor();
  await visitor.locator(".move-value").first().waitFor();
  const before = await board(visitor);
  await variation.click();
  await expect.poll(() => board(visitor)).not.toBe(before);
  await visitor.getByRole("button", { name: analysis.back }).click();
  await expect.poll(() => board(visitor)).toBe(before);
  await visitor.getByRole("button", { name: analysis.forward }).click();
  await expect.poll(() => board(visitor)).not.toBe(before);

  // The link carries the position.
  const again = await open();
  await again.goto(visitor.url());
  await again.locator(".variations").waitFor();
  expect(await board(again)).toBe(await board(visitor));
  await again.getByLabel(analysis.values).uncheck();
  await again.locator(".move-value").first().waitFor({ state: "detached" });
});
