const VERSION = "bfbdba3b61a73432";
const FILES = ["/assets/ai-Vce4Dn3A.js","/assets/ais-D1kIXFGh.js","/assets/analysis-CcNJ5-ZU.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-BTH8DBNC.js","/assets/explore-BYojFM0b.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-Ccja3iia.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-D3NBlHpX.css","/assets/index-DpU7VCPG.js","/assets/ja-C339BRrL.js","/assets/join_room-BrdWY6oY.js","/assets/live_games-CTqlpY5a.js","/assets/player-DBoRYFdp.js","/assets/protocol-BnDYhC2l.js","/assets/records-bGf50t2X.js","/assets/replay-b-EOFbzo.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-aa5H3IHm.js","/assets/rooms-btDcw882.js","/assets/rules-BQaDfGHJ.js","/assets/shared-Dr5Otxh8.js","/assets/zh-DLe3B5ZC.js"];
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
