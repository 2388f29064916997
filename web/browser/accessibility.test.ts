import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { scenario } from "./harness/scenario";
import { allScreens, TOUR_TIMEOUT } from "./harness/all_screens";

scenario("no screen has accessibility violations, in light or dark", { timeout: TOUR_TIMEOUT }, async ({ open }) => {
  const page = await open({ reducedMotion: "reduce" });
  const found: string[] = [];
  for await (const screen of allScreens(page)) {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      found.push(...(await barriers(page)).map((barrier) => `${screen}, ${colorScheme}: ${barrier}`));
    }
  }
  expect(found).toEqual([]);
});

async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations, passes } = (await page.evaluate("axe.run()")) as axe.AxeResults;
  expect(passes.length).toBeGreaterThan(0);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
  );
}
