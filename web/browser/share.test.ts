import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { expect } from "vitest";
import { en } from "../src/text/en";
import { ja } from "../src/text/ja";
import { zh } from "../src/text/zh";
import { board, createRoom, download, invitation, legal, quickGame, result, seatAi } from "./harness/game_page";
import { scenario } from "./harness/scenario";

const { replay, share } = en;

scenario(
  "a game is shared by a link to a move, by pictures and as a board in another page",
  async ({ open, openAs, browser, server }) => {
    const page = await openAs("ada", { permissions: ["clipboard-read", "clipboard-write"] });
    const plies = await playAiGame(page);
    await page.getByRole("slider", { name: replay.position }).fill("23");
    await copyButton(page, share.link).click();
    await page.getByText(share.copied).first().waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    expect(link).toMatch(/#\/game\/[^/]+\/23$/);

    const visitor = await open();
    await visitor.goto(link);
    await visitor.locator(".replay-caption").getByText(replay.at(23, plies)).waitFor();
    expect(await board(visitor)).toBe(await board(page));

    const picture = await download(page, share.image);
    expect(picture.subarray(1, 4).toString()).toBe("PNG");
    const animation = await download(page, share.animation);
    expect(animation.subarray(0, 6).toString()).toBe("GIF89a");
    expect(animation.length).toBeLessThan(1 << 20);
    expect(await frameTimes(page, animation)).toEqual([...Array<number>(plies).fill(600), 4_000]);

    const code = await field(page, share.embed).inputValue();
    const other = await openOtherSite(browser, code);
    const embedded = other.frameLocator("iframe");
    await embedded.getByText(replay.at(23, plies)).waitFor();
    await embedded.getByRole("button", { name: replay.forward }).click();
    await embedded.getByText(replay.at(24, plies)).waitFor();
    const [full] = await Promise.all([other.waitForEvent("popup"), embedded.getByTitle(share.full).click()]);
    await full.locator(".replay-caption").getByText(replay.at(24, plies)).waitFor();
    await other.context().close();

    const refused = await openOtherSite(browser, `<iframe src="${server.url}"></iframe>`);
    await expect.poll(() => refused.frames()[1]?.url()).toBe("chrome-error://chromewebdata/");
    await refused.context().close();
  },
);

scenario(
  "an embedded board shows a room live, in any language, and sends no token",
  async ({ openAs, open, server }) => {
    const owner = await openAs("ada");
    await quickGame(owner, "greedy");
    await owner.getByText(share.title).click();
    const link = await field(owner, share.link).inputValue();
    expect(link).toBe(owner.url());

    // In the same browser, where the page has stored a token.
    const embedded = await owner.context().newPage();
    const tokens: (string | undefined)[] = [];
    embedded.on("request", (request) => tokens.push(request.headers()["authorization"]));
    await embedded.goto(link.replace("/#/", "/embed#/"));
    await embedded.getByText(en.game.toMove.black).waitFor();
    expect(await embedded.getByText("ada", { exact: true }).count()).toBe(1);
    const before = await board(embedded);
    await legal(owner).first().click();
    await expect.poll(() => board(embedded)).not.toBe(before);
    await owner.getByRole("button", { name: en.game.resign }).click();
    await owner.getByRole("button", { name: en.game.confirm }).click();
    await result(owner).waitFor();
    await embedded.getByRole("button", { name: replay.back }).click();
    expect(tokens.length).toBeGreaterThan(2);
    expect(new Set(tokens)).toEqual(new Set([undefined]));
    // The link is that of the game now.
    expect(await field(owner, share.link).inputValue()).toContain("#/game/");

    const anyone = await open();
    await anyone.goto(`${server.url}embed#/position/start/f5d6`);
    await anyone.getByText(replay.at(2, 2)).waitFor();
    await anyone.goto(`${server.url}embed#/rooms`);
    await anyone.getByText(share.noBoard).waitFor();

    for (const [locale, texts] of [
      ["zh-CN", zh],
      ["ja-JP", ja],
    ] as const) {
      const other = await open({ locale });
      await other.goto(`${server.url}embed#/position/start/f5d6`);
      await other.getByText(texts.replay.at(2, 2)).waitFor();
    }
  },
);

scenario(
  "a private room has no link for everybody; its invitation is sent, or selected to be copied",
  async ({ openAs }) => {
    const page = await openAs("ada");
    // As on a telephone.
    await page.evaluate(() => {
      const share = async (sent: ShareData) => void Object.assign(globalThis, { sent });
      Object.defineProperty(navigator, "share", { value: share });
    });
    await createRoom(page, async () => {
      await page.getByText(en.create.private).click();
    });
    await page.getByText(share.title).click();
    await page.getByRole("button", { name: share.image }).waitFor();
    expect(await field(page, share.link).count()).toBe(0);
    expect(await page.getByRole("button", { name: share.animation }).count()).toBe(0);

    await page.getByRole("button", { name: share.send }).click();
    const sent = await page.evaluate(() => (globalThis as { sent?: ShareData }).sent);
    expect(sent).toEqual({ title: "ada against anyone", url: await invitation(page) });

    // As on an insecure origin.
    await page.evaluate(() => {
      Object.defineProperty(navigator, "clipboard", { value: undefined });
      document.execCommand = () => false;
    });
    await copyButton(page, en.room.invite).click();
    await page.getByText(share.notCopied).first().waitFor();
    expect(await page.evaluate(() => getSelection()?.toString())).toContain("#/join/");
  },
);

/** Plays a game of two AIs and opens its replay. Returns its number of plies. */
async function playAiGame(page: Page): Promise<number> {
  await createRoom(page, async () => {
    await seatAi(page, "black", "roxanne");
    await seatAi(page, "white", "greedy");
    await page.getByLabel(en.create.pause).fill("0");
  });
  await page.getByRole("button", { name: en.room.start }).click();
  await result(page).getByRole("link", { name: en.game.replay }).click();
  const slider = page.getByRole("slider", { name: replay.position });
  return Number(await slider.getAttribute("max"));
}

function field(page: Page, label: string) {
  return page.getByRole("textbox", { name: label, exact: true });
}

function copyButton(page: Page, label: string) {
  return page.locator(".field").filter({ hasText: label }).getByRole("button", { name: share.copy });
}

/** How long the browser shows each frame of a GIF, in milliseconds. */
function frameTimes(page: Page, gif: Buffer): Promise<number[]> {
  return page.evaluate(
    async (bytes) => {
      const decoder = new ImageDecoder({ data: Uint8Array.from(bytes), type: "image/gif" });
      await decoder.tracks.ready;
      await decoder.completed;
      const times: number[] = [];
      for (let frameIndex = 0; frameIndex < (decoder.tracks.selectedTrack?.frameCount ?? 0); frameIndex++) {
        const { image } = await decoder.decode({ frameIndex });
        times.push((image.duration ?? 0) / 1_000);
        image.close();
      }
      return times;
    },
    [...gif],
  );
}

/** A page of another site; `localhost` is one, since the server is at 127.0.0.1. */
async function openOtherSite(browser: Browser, body: string): Promise<Page> {
  const site = createServer((_, answer) => answer.setHeader("content-type", "text/html").end(body));
  await once(site.listen(0, "127.0.0.1"), "listening");
  const context = await browser.newContext({ locale: "en-US" });
  context.once("close", () => site.close());
  const page = await context.newPage();
  await page.goto(`http://localhost:${(site.address() as AddressInfo).port}/`);
  return page;
}
