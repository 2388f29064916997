const VERSION = "b7fbeeef31577a8b";
const FILES = ["/assets/ai-DCXQBZg7.js","/assets/ais-BpcK2Iek.js","/assets/analysis-BiE4ttgU.js","/assets/appearance-Dr-KH_pG.js","/assets/bots-CW9kqvqc.js","/assets/create_room-C5HVqUgk.js","/assets/explore-DtpA0Ool.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-Belhb6D1.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BIN-q6cF.css","/assets/index-BfERsWKq.js","/assets/ja-BPZMedU4.js","/assets/join_room-DG_6rRIG.js","/assets/live_games-CyY1-Dlo.js","/assets/own_hub-DC8HH2p2.js","/assets/player-B90Ua9eH.js","/assets/players-Dek6yEmN.js","/assets/protocol-26WznRaj.js","/assets/records-YPoUhu62.js","/assets/replay-3wj3ErFi.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-c86-HNe2.js","/assets/rooms-CY3lQPlT.js","/assets/rules-H2rLUBZC.js","/assets/shared-usqbm4Et.js","/assets/worker-BaRT-v1x.js","/assets/zh-B-nggOGM.js"];
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
