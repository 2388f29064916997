const VERSION = "aa16b224492b6cdc";
const FILES = ["/assets/ai-tgNr3QmD.js","/assets/ais-DulSqWs2.js","/assets/analysis-ByUZdDON.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-CHCDE6uV.js","/assets/explore-BfsRbNB_.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-C228DVXq.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-D3NBlHpX.css","/assets/index-NpSgZJu0.js","/assets/ja-Rx1i-jKg.js","/assets/join_room-DeuazBX7.js","/assets/live_games-CoB1w6VF.js","/assets/player-xdAZpIF0.js","/assets/protocol-BnDYhC2l.js","/assets/records-BagjMm_G.js","/assets/replay-CWdvo0s8.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-BXSz1_cN.js","/assets/rooms-wLoSTVeu.js","/assets/rules-r0t2aiqu.js","/assets/shared-d6EK5Rwc.js","/assets/zh-CIv4m8_O.js"];
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
/** The server's answer, or the kept one where there is none or it takes too long. */
async function networkFirst(request) {
	const answer = fetch(request).catch(() => undefined);
	const tooLong = new Promise((resolve) => setTimeout(resolve, PATIENCE));
	return await Promise.race([answer, tooLong]) ?? await caches.match("/") ?? await answer ?? Response.error();
}
async function cacheFirst(request) {
	return await caches.match(request) ?? fetch(request);
}
