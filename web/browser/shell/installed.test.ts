import { expect } from "vitest";
import { en } from "../../src/text/en";
import { legal } from "../harness/game_page";
import { scenario } from "../harness/scenario";

scenario("the page can be installed", async ({ open, server }) => {
  const page = await open();
  const devtools = await page.context().newCDPSession(page);
  const { errors } = await devtools.send("Page.getAppManifest");
  expect(errors).toEqual([]);
  const { installabilityErrors } = await devtools.send("Page.getInstallabilityErrors");
  // The contexts of tests have no profile, into which a browser would install it.
  expect(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== "in-incognito")).toEqual([]);
  const { icons } = (await (await page.request.get(`${server.url}manifest.webmanifest`)).json()) as {
    icons: { src: string }[];
  };
  for (const { src } of icons) expect((await page.request.get(new URL(src, server.url).href)).ok()).toBe(true);
});

scenario("without a connection the page opens, and says what is missing", async ({ open, server, expectedErrors }) => {
  expectedErrors.push(/net::ERR_INTERNET_DISCONNECTED/);
  const page = await open();
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  await page.context().setOffline(true);
  await page.goto(`${server.url}#/rules`);
  await page.reload();
  await page.getByRole("status").getByText(en.shell.withoutServer).waitFor();
  const before = await legal(page).count();
  await legal(page).first().click();
  await page.getByRole("button", { name: en.rules.again }).click();
  expect(await legal(page).count()).toBe(before);

  // What was never shown before is there too.
  await page.goto(`${server.url}#/analysis/start/f5d6`);
  await legal(page).first().click();
  await page.getByRole("button", { name: en.analysis.back }).click();
  await page.context().setOffline(false);
  await page.getByText(en.shell.withoutServer).waitFor({ state: "hidden" });
});

scenario("while the server gives no answer the kept page opens", async ({ open, server }) => {
  const page = await open();
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  server.freeze();
  await page.goto(`${server.url}#/rules`);
  await page.reload();
  await page.getByText(en.rules.guide).waitFor();
  server.thaw();
});

scenario("with a connection the page is the server's, not the kept one", async ({ open, server }) => {
  const page = await open();
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  await page.evaluate(async () => {
    for (const name of await caches.keys()) {
      const stale = new Response("stale", { headers: { "content-type": "text/html" } });
      await (await caches.open(name)).put("/", stale);
    }
  });
  await page.reload();
  await page.getByLabel(en.logIn.name).waitFor();
  const calls: string[] = [];
  page.on("response", (response) => {
    if (response.fromServiceWorker()) calls.push(new URL(response.url()).pathname);
  });
  await page.getByRole("button", { name: en.logIn.guest }).click();
  await page.getByRole("heading", { name: en.home.quick }).waitFor();
  expect(calls.filter((path) => !path.startsWith("/assets/"))).toEqual([]);
  expect((await page.request.get(`${server.url}service_worker.js`)).headers()["cache-control"]).toBe("no-cache");
});

scenario("a part of the page that cannot be loaded is told, and a reload helps", async ({ open, expectedErrors }) => {
  expectedErrors.push(/Service Worker registration blocked by Playwright/, /net::ERR_FAILED/);
  const page = await open({ serviceWorkers: "block" });
  await page.getByLabel(en.logIn.name).waitFor();
  await page.route("**/assets/*.js", (route) => route.abort());
  await page.getByRole("link", { name: en.rules.title }).first().click();
  await page.getByRole("heading", { name: en.shell.loadFailed }).waitFor();
  await page.getByRole("button", { name: en.menu.settings }).click();
  await page.getByLabel(en.menu.language).selectOption("ja");
  await page.getByText(en.shell.languageFailed).first().waitFor();
  expect(await page.getByLabel(en.menu.language).inputValue()).toBe("en");
  await page.keyboard.press("Escape");

  await page.unroute("**/assets/*.js");
  await page.getByRole("alert").getByRole("button", { name: en.shell.loadAgain }).click();
  await page.getByText(en.rules.guide).waitFor();
});
