// Measures the overview of running games with 60 live boards: its memory over time, and the CPU that page and server use.
// Not in CI: it takes ten minutes, or as many as the first argument says, and its figures depend on the machine.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const PROGRAM = process.env["REVERSI_BIN"] ?? "../target/debug/reversi";
const BOARDS = 60;
const MINUTES = Number(process.argv[2] ?? 10);
/** Milliseconds between two measurements. */
const INTERVAL = 30_000;
/** The goals: shares of a core that the page's process uses, and growth of its memory after the first minute. */
const MOST_CPU = 0.1;
const MOST_GROWTH = 1.1;

const server = spawn(PROGRAM, ["serve", "--listen", "127.0.0.1:0", "--ephemeral"], {
  // Without `REVERSI_*`, which would configure the server.
  env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("REVERSI_"))),
  stdio: ["ignore", "pipe", "ignore"],
});
const address = await listening(server);
const games = spawn(PROGRAM, ["demo", "--rooms", String(BOARDS), "--server", `http://${address}`], { stdio: "ignore" });
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--disable-dev-shm-usage", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
});
try {
  process.exitCode = (await measure(await openBoards())) ? 0 : 1;
} finally {
  await browser.close();
  games.kill();
  server.kill();
}

/** The address that the server prints when it is ready. */
async function listening({ stdout }) {
  for await (const line of createInterface(stdout)) {
    const found = /^reversi is listening on (\S+)/.exec(line);
    if (found) return found[1];
  }
  throw new Error(`${PROGRAM} did not start`);
}

async function openBoards() {
  const page = await browser.newPage({ viewport: { width: 1920, height: 1080 } });
  await page.goto(`http://${address}/#/tv`);
  await page.waitForFunction((boards) => document.querySelectorAll(".tile").length >= boards, BOARDS);
  await page.evaluate(countMoves);
  return page;
}

/** Runs in the page: counts the moves that boards show, in `window.moves`. Each changes black's discs. */
function countMoves() {
  window.moves = 0;
  const observer = new MutationObserver((changes) => (window.moves += changes.length));
  observer.observe(document.querySelector(".game-grid"), { attributeFilter: ["d"], subtree: true });
}

/** Prints a line every half minute. Returns whether the goals are met. */
async function measure(page) {
  const session = await page.context().newCDPSession(page);
  const system = await browser.newBrowserCDPSession();
  await session.send("Performance.enable");
  const start = performance.now();
  const samples = [await sample(page, session, system)];
  while (performance.now() - start < MINUTES * 60_000) {
    await new Promise((resolve) => setTimeout(resolve, INTERVAL));
    samples.push(await sample(page, session, system));
    print(samples.at(-2), samples.at(-1), start);
  }
  const settled = samples[Math.min(2, samples.length - 1)];
  const last = samples.at(-1);
  const growth = last.heap / settled.heap;
  const cpu = share(samples[0], last, "page");
  console.log(`page: ${percent(cpu)} of a core, goal ${percent(MOST_CPU)}`);
  console.log(`memory: ${growth.toFixed(2)} times that after a minute, goal at most ${MOST_GROWTH}`);
  return cpu < MOST_CPU && growth <= MOST_GROWTH;
}

async function sample(page, session, system) {
  await session.send("HeapProfiler.collectGarbage");
  const { metrics } = await session.send("Performance.getMetrics");
  const metric = (name) => metrics.find((one) => one.name === name)?.value ?? 0;
  const { processInfo } = await system.send("SystemInfo.getProcessInfo");
  const time = (type) => processInfo.filter((one) => one.type === type).reduce((sum, one) => sum + one.cpuTime, 0);
  return {
    at: performance.now(),
    moves: await page.evaluate(() => window.moves),
    heap: metric("JSHeapUsedSize"),
    nodes: metric("Nodes"),
    listeners: metric("JSEventListeners"),
    page: time("renderer"),
    drawing: time("GPU"),
    server: serverTime(),
  };
}

/** The CPU time of the server in seconds, as Linux tells it; elsewhere NaN. */
function serverTime() {
  try {
    const fields = readFileSync(`/proc/${server.pid}/stat`, "utf8").split(") ")[1].split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return NaN;
  }
}

function print(before, now, start) {
  const seconds = Math.round((now.at - start) / 1000);
  const moves = `${((1000 * (now.moves - before.moves)) / (now.at - before.at)).toFixed(0)} changes/s`;
  const heap = `${(now.heap / 2 ** 20).toFixed(2)} MB heap, ${now.nodes} nodes, ${now.listeners} listeners`;
  const cpu = ["page", "drawing", "server"].map((process) => `${process} ${percent(share(before, now, process))}`);
  console.log(`${String(seconds).padStart(4)} s: ${moves}, ${heap}; ${cpu.join(", ")} of a core`);
}

/** The share of a core that a process used between two samples. */
function share(before, now, process) {
  return ((now[process] - before[process]) * 1000) / (now.at - before.at);
}

function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}
