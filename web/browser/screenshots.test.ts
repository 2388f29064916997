import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { OUT, scenario } from "./harness/scenario";
import { allScreens, TOUR_TIMEOUT } from "./harness/all_screens";

/** Small phone, laptop and large display. */
const SIZES = [
  { width: 320, height: 640 },
  { width: 1000, height: 800 },
  { width: 1900, height: 1000 },
];

scenario("every screen fits three display widths", { timeout: TOUR_TIMEOUT }, async ({ open }) => {
  const folder = join(OUT, "screens");
  mkdirSync(folder, { recursive: true });
  const page = await open({ reducedMotion: "reduce" });
  const tooWide: string[] = [];
  for await (const screen of allScreens(page)) {
    for (const size of SIZES) {
      await page.setViewportSize(size);
      for (const colorScheme of ["dark", "light"] as const) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: join(folder, `${screen}-${size.width}-${colorScheme}.png`), fullPage: true });
      }
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      if (width > size.width) tooWide.push(`${screen}: ${width} of ${size.width}`);
    }
  }
  expect(tooWide).toEqual([]);
});
