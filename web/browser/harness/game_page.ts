import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { en } from "../../src/text/en";

/** The shown board as 64 characters: `*` black, `o` white, `-` empty. */
export async function board(page: Page): Promise<string> {
  const labels = await page.getByRole("gridcell").evaluateAll((cells) => cells.map((cell) => cell.ariaLabel ?? ""));
  const marks: Record<string, string> = { [en.game.black]: "*", [en.game.white]: "o", [en.game.empty]: "-" };
  return labels.map((label) => marks[label.split(", ")[1] ?? ""]).join("");
}

export function count(board: string, disc: string): number {
  return board.split(disc).length - 1;
}

/** The player's legal squares. */
export function legal(page: Page) {
  return page.getByRole("gridcell", { name: `, ${en.game.legal},` });
}

/** The element that shows the outcome. */
export function result(page: Page) {
  return page.locator(".result");
}

/** Plays up to `most` moves, or until the game is over. Returns the number of moves. */
export async function playOn(page: Page, most: number): Promise<number> {
  for (let moves = 0; ; moves++) {
    const move = legal(page).first();
    await move.or(result(page)).first().waitFor();
    if (moves === most || (await result(page).isVisible())) return moves;
    await moveAt(page, move);
  }
}

/** Makes a move and waits for the reply, or for the next turn if the opponent has to pass. */
export async function exchange(page: Page): Promise<void> {
  const move = legal(page).first();
  await move.waitFor();
  const empty = count(await board(page), "-");
  await moveAt(page, move);
  const replied = async () => count(await board(page), "-") < empty - 1;
  await expect.poll(async () => (await replied()) || (await move.isVisible())).toBe(true);
  await move.waitFor();
}

/** Clicks a square and waits for the disc, so that no later step meets the legal squares of before. */
async function moveAt(page: Page, square: Locator): Promise<void> {
  const before = await board(page);
  await square.click();
  await expect.poll(() => board(page)).not.toBe(before);
}

export function playToTheEnd(page: Page): Promise<number> {
  return playOn(page, Infinity);
}

/** Chooses an AI among all kinds and levels: `mcts:3`, or `mcts` at its default level. */
export async function chooseAi(within: Locator, ai: string): Promise<void> {
  const [kind = "", level] = ai.split(":");
  const kinds = within.getByRole("combobox", { name: en.create.ai });
  if (!(await kinds.isVisible())) await within.getByText(en.home.moreOpponents).click();
  await kinds.selectOption(kind);
  if (level) await within.getByRole("combobox", { name: en.home.level }).selectOption(level);
}

/** Starts a game against an AI, as black. */
export async function quickGame(page: Page, kind: string): Promise<void> {
  const form = page.locator("form").filter({ has: page.getByRole("heading", { name: en.home.quick }) });
  await chooseAi(form, kind);
  await form.getByRole("button", { name: en.home.start, exact: true }).click();
  await legal(page).first().waitFor();
}

/** Creates a room after `fill` has completed the form. */
export async function createRoom(page: Page, fill = async (_: Page) => {}): Promise<void> {
  await page.getByRole("link", { name: en.home.create }).click();
  await page.getByText(en.create.advanced).click();
  await fill(page);
  await page.getByRole("button", { name: en.create.create, exact: true }).click();
  await page.getByRole("heading", { name: en.room.members }).waitFor();
}

/** Lets the owner start the game, in the form of a new room. */
export function startByOwner(page: Page): Promise<void> {
  return page.getByLabel(en.create.autoStart).uncheck();
}

/** Seats an AI in the form of a new room: `mcts:3`, or `mcts` at its default level. */
export async function seatAi(page: Page, side: "black" | "white", ai: string): Promise<void> {
  const seat = page.getByRole("group", { name: en.create.seatOf[side] });
  await seat.getByText(en.create.ai).click();
  await chooseAi(page.locator(".seat-choice").filter({ has: seat }), ai);
}

/** Starts a game of two players in a new room of the first, who has black. Both are in the room then. */
export async function startTwoPlayerGame(owner: Page, guest: Page, fill = async (_: Page) => {}): Promise<void> {
  await createRoom(owner, fill);
  await guest.goto(await invitation(owner));
  await guest.getByRole("button", { name: en.visitor.play, exact: true }).click();
  await legal(owner).first().waitFor();
  await guest.getByRole("heading", { name: en.game.toMove.black }).waitFor();
}

export async function invitation(page: Page): Promise<string> {
  return page.getByRole("textbox", { name: en.room.invite }).inputValue();
}

/** Starts a game of two AIs with `pause` seconds a move, after `plies` random ones, and opens its room. */
export async function startAiMatch(
  page: Page,
  [black, white]: readonly [string, string],
  { pause, plies = 0 }: { pause: number; plies?: number },
): Promise<void> {
  await page.getByRole("link", { name: en.menu.play, exact: true }).click();
  await createRoom(page, async () => {
    await seatAi(page, "black", black);
    await seatAi(page, "white", white);
    await page.getByLabel(en.create.pause).fill(String(pause));
    if (plies > 0) {
      await page.getByRole("group", { name: en.create.opening }).getByText(en.create.random, { exact: true }).click();
      await page.getByLabel(en.create.plies).fill(String(plies));
    }
  });
  await page.getByRole("button", { name: en.room.start, exact: true }).click();
  await page.getByRole("heading", { name: en.game.graph }).waitFor();
}

/** Opens the same screen as the same player in another browser. */
export async function openInOtherBrowser(page: Page): Promise<Page> {
  const context = await page
    .context()
    .browser()
    ?.newContext({ storageState: await page.context().storageState() });
  if (!context) throw new Error("no browser");
  page.context().once("close", () => void context.close());
  const other = await context.newPage();
  await other.goto(page.url());
  return other;
}

/** The file that a button saves. */
export async function download(page: Page, button: string): Promise<Buffer> {
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: button, exact: true }).click(),
  ]);
  return readFileSync(await file.path());
}
