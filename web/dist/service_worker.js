const VERSION = "3ba75c8488dc7603";
const FILES = ["/assets/ai-Blh21G7j.js","/assets/ais-D5TzvCOT.js","/assets/analysis-BrpJP3-Q.js","/assets/appearance-Dr-KH_pG.js","/assets/bots-CpxzLUph.js","/assets/create_room-kKXkKgx7.js","/assets/explore-DxyOTt-Y.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-BhSkiao8.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BIN-q6cF.css","/assets/index-D2AwybYp.js","/assets/ja-Cbb4rm9H.js","/assets/join_room-NPhjdFPs.js","/assets/live_games-C76hE9Lv.js","/assets/own_hub-BcGhOWaW.js","/assets/player-D1d_JhBi.js","/assets/players-BKgr69o3.js","/assets/protocol-26WznRaj.js","/assets/records-rNTXVvka.js","/assets/replay-Bpf_1hNY.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-Dfu3U3W1.js","/assets/rooms-lUVFxZxP.js","/assets/rules-D7Ldczf5.js","/assets/shared-CsPlkdMz.js","/assets/worker-BaRT-v1x.js","/assets/zh-BRblhoay.js"];
/** The longest wait for the server's page, in milliseconds, where an earlier one is kept. */
const PATIENCE = 4e3;
const worker = self;
const CACHE = `page-${VERSION}`;
worker.addEventListener("install", (event) => event.waitUntil(install()));
worker.addEventListener("activate", (event) => event.waitUntil(removeOldVersions()));
worker.addEventListener("fetch", (event) => {
	const { method, url } = event.request;
	const { origin, pathname } = new URL(url);
	if (method !== "GET" || origin !== worker.location.origin) return;
	if (pathname === "/") event.respondWith(networkFirst(event.request));
	else if (FILES.includes(pathname)) event.respondWith(cacheFirst(event.request));
});
async function install() {
	const cache = await caches.open(CACHE);
	await cache.addAll(["/", ...FILES]);
	await worker.skipWaiting();
}
async function removeOldVersions() {
	const old = (await caches.keys()).filter((name) => name !== CACHE);
	await Promise.all(old.map((name) => caches.delete(name)));
}
/** The server's answer, or the kept one where there is none, it takes too long, or a proxy says that there is no server. */
async function networkFirst(request) {
	const answer = fetch(request).then((response) => response.status < 500 ? response : undefined, () => undefined);
	const tooLong = new Promise((resolve) => setTimeout(resolve, PATIENCE));
	return await Promise.race([answer, tooLong]) ?? await caches.match("/") ?? await answer ?? Response.error();
}
async function cacheFirst(request) {
	return await caches.match(request) ?? fetch(request);
}
