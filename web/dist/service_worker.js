const VERSION = "0258c96f2271aeeb";
const FILES = ["/assets/ai-C7XaIOBn.js","/assets/ais-DknZivHr.js","/assets/analysis-DNF5gX6j.js","/assets/appearance-Dr-KH_pG.js","/assets/bots-DtJ5HO2G.js","/assets/create_room-CWhUo_ui.js","/assets/explore-CQs73dqF.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-DNp6Oku-.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BIN-q6cF.css","/assets/index-DCN7dPgC.js","/assets/ja-BTLowSFN.js","/assets/join_room-DoTGly2n.js","/assets/live_games-BE6wjqLu.js","/assets/own_hub-DtHDLRk2.js","/assets/player-B23C6-m3.js","/assets/players-DaDr2PS1.js","/assets/protocol-8vkhnn2g.js","/assets/records-BnMJdbE2.js","/assets/replay-BvbiY9Ij.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-BRWbYNrO.js","/assets/rooms-BZaKlT_N.js","/assets/rules-Dgh21MwA.js","/assets/shared-DBf66oiQ.js","/assets/worker-CSAdTwi1.js","/assets/zh-C10i4zBt.js"];
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
