import { expect } from "vitest";
import type { Page } from "playwright-core";
import { scenario } from "../harness/scenario";
import { legal, quickGame } from "../harness/game_page";

/** Moves that are measured. */
const MOVES = 10;

/** Only measures: speed is judged where the machine is known. */
scenario("a click on a square brings a disc", async ({ openAs }) => {
  const ada = await openAs("ada");
  await quickGame(ada, "random");
  const measured: Times[] = [];
  while (measured.length < MOVES) measured.push(await clickToDisc(ada));
  for (const from of ["press", "click"] as const) {
    const sorted = measured.map((times) => times[from]).toSorted((a, b) => a - b);
    console.log(`${from} to disc: median ${sorted[MOVES / 2]?.toFixed(1)} ms, maximum ${sorted.at(-1)?.toFixed(1)} ms`);
    expect(sorted[0]).toBeGreaterThan(0);
  }
});

/**
 * Times to the first frame with the disc, in milliseconds: since the pointer was pressed, and since the page was told of the
 * click. The difference is the time that the driver of the browser holds the button.
 */
interface Times {
  press: number;
  click: number;
}

/** Clicks a legal square. */
async function clickToDisc(page: Page): Promise<Times> {
  const square = legal(page).first();
  const name = (await square.getAttribute("data-square")) ?? "";
  const times = page.evaluate(timesToDisc, `[data-square=${name}] .disc`);
  await page.locator(`[data-square=${name}]`).click();
  return times;
}

/** Runs in the page. */
function timesToDisc(disc: string): Promise<Times> {
  return new Promise((resolve) => {
    let press = 0;
    addEventListener("pointerdown", () => (press = performance.now()), { capture: true, once: true });
    const watch = () => {
      const click = performance.now();
      const observer = new MutationObserver(() => {
        if (!document.querySelector(disc)) return;
        observer.disconnect();
        requestAnimationFrame(() => resolve({ press: performance.now() - press, click: performance.now() - click }));
      });
      observer.observe(document.body, { subtree: true, childList: true });
    };
    addEventListener("click", watch, { capture: true, once: true });
  });
}
