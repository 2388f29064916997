import { expect } from "vitest";
import { en } from "../src/text/en";
import { scenario } from "./harness/scenario";
import { chooseAi, legal } from "./harness/game_page";

const { home, opponent } = en;
const OFFERED = Object.entries(opponent);

scenario(
  "eight opponents have one name everywhere, are ordered by strength, and the first is the default",
  async ({ server, openAs }) => {
    const ada = await openAs("ada");
    const form = ada.locator("form").filter({ has: ada.getByRole("heading", { name: home.quick }) });
    const choices = form.getByRole("group", { name: en.create.ai }).getByRole("radio");
    await expect.poll(() => choices.count()).toBe(OFFERED.length);
    expect(await choices.first().isChecked()).toBe(true);
    const labels = await form.locator(".opponents label").allTextContents();
    const elos = labels.map((label) => Number(/(\d+) Elo/.exec(label)?.[1]));
    expect(elos).toEqual([...elos].sort((one, other) => one - other));
    for (const [at, [name, strength]] of OFFERED.entries()) {
      await form.locator(".opponents label").nth(at).click();
      await form.getByText(strength).waitFor();
      expect(labels[at]).toContain(name);
    }
    await form.locator(".opponents").getByText("expert 6").click();
    await form.getByRole("button", { name: home.start, exact: true }).click();
    await legal(ada).first().waitFor();
    await ada.locator(".player-who").getByText("expert 6", { exact: true }).waitFor();
    await legal(ada).first().click();
    await legal(ada).first().waitFor();
    await ada.getByRole("button", { name: en.game.resign }).click();
    await ada.getByRole("button", { name: en.game.confirm, exact: true }).click();
    await ada.goto(`${server.url}#/records`);
    await ada.getByRole("link", { name: "ada – expert 6" }).waitFor();
    await ada.getByRole("table").getByRole("link", { name: "expert 13", exact: true }).click();
    await ada.getByRole("heading", { name: "expert 13", exact: true }).waitFor();
    await ada.getByText(opponent["expert 13"]).waitFor();
  },
);

scenario("any program at any level is behind More, and the tables are one click away", async ({ openAs }) => {
  const ada = await openAs("ada");
  const form = ada.locator("form").filter({ has: ada.getByRole("heading", { name: home.quick }) });
  await chooseAi(form, "alphabeta:2");
  await form.getByRole("link", { name: home.allAis }).click();
  await ada.getByRole("heading", { name: home.allAis }).waitFor();
  for (const [name, strength] of OFFERED) {
    await ada.getByRole("row").filter({ hasText: strength }).getByRole("link", { name }).waitFor();
  }
  await ada.getByRole("link", { name: "mcts", exact: true }).first().waitFor();
  for (const width of [320, 768, 1920]) {
    await ada.setViewportSize({ width, height: 700 });
    expect(await ada.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  }
  await ada.getByRole("link", { name: "expert 13" }).focus();
  await ada.keyboard.press("Enter");
  await ada.getByRole("button", { name: en.stats.challenge }).waitFor();
  await ada.goBack();
  await ada.goBack();
  // The last choice is kept.
  await expect.poll(() => form.getByRole("combobox", { name: home.level }).inputValue()).toBe("2");
});
