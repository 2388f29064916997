import type { Page } from "playwright-core";
import { en } from "../../src/text/en";

/** What a room's board shows, square by square: `*` black, `o` white, `-` empty. */
export async function board(page: Page): Promise<string> {
  const labels = await page.getByRole("gridcell").evaluateAll((cells) => cells.map((cell) => cell.ariaLabel ?? ""));
  const marks: Record<string, string> = { [en.game.black]: "*", [en.game.white]: "o", [en.game.empty]: "-" };
  return labels.map((label) => marks[label.split(", ")[1] ?? ""]).join("");
}

export function count(board: string, disc: string): number {
  return board.split(disc).length - 1;
}

/** The squares where the player may move now. */
export function legal(page: Page) {
  return page.getByRole("gridcell", { name: `, ${en.game.legal},` });
}

/** Where a game's outcome is told. */
export function result(page: Page) {
  return page.locator(".result");
}

/** Moves so many times, each time that it is the player's turn, or until the game is over; answers with how often. */
export async function playOn(page: Page, most: number): Promise<number> {
  for (let moves = 0; ; moves++) {
    const move = legal(page).first();
    await move.or(result(page)).first().waitFor();
    if (moves === most || (await result(page).isVisible())) return moves;
    await move.click();
  }
}

export function playToTheEnd(page: Page): Promise<number> {
  return playOn(page, Infinity);
}

/** Begins a game against an AI, with black. */
export async function quickGame(page: Page, kind: string): Promise<void> {
  const form = page.locator("form").filter({ has: page.getByRole("heading", { name: en.home.quick }) });
  await form.getByRole("combobox", { name: en.create.ai }).selectOption(kind);
  await form.getByRole("button", { name: en.home.start, exact: true }).click();
  await legal(page).first().waitFor();
}

/** Makes a room of one's own, after whatever else is filled in. */
export async function createRoom(page: Page, fill = async (_: Page) => {}): Promise<void> {
  await page.getByRole("link", { name: en.home.create }).click();
  await page.getByText(en.create.advanced).click();
  await fill(page);
  await page.getByRole("button", { name: en.create.create, exact: true }).click();
  await page.getByRole("heading", { name: en.room.members }).waitFor();
}

/** Gives a side to an AI, in the form of a new room: `mcts:3`, or `mcts` at its usual level. */
export async function seatAi(page: Page, side: "black" | "white", ai: string): Promise<void> {
  const [kind = "", level] = ai.split(":");
  const seat = page.getByRole("group", { name: en.create.seatOf[side] });
  await seat.getByText(en.create.ai).click();
  const choice = page.locator(".seat-choice").filter({ has: seat });
  await choice.getByRole("combobox", { name: en.create.ai }).selectOption(kind);
  if (level) await choice.getByRole("combobox", { name: en.home.level }).selectOption(level);
}

export async function invitation(page: Page): Promise<string> {
  return page.getByRole("textbox", { name: en.room.invite }).inputValue();
}

/** Lets two AIs play, black's and white's, with so many seconds before each move, after random ones; ends in their room. */
export async function startMatch(
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
      await page.locator("details").getByText(en.create.random, { exact: true }).click();
      await page.getByLabel(en.create.plies).fill(String(plies));
    }
  });
  await page.getByRole("button", { name: en.room.start, exact: true }).click();
  await page.getByRole("heading", { name: en.game.graph }).waitFor();
}
