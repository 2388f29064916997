const VERSION = "ed85202581effeac";
const FILES = ["/assets/ai-_a0YhIB6.js","/assets/ais-DgjyHd1k.js","/assets/analysis-BP1inKZq.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-D9IE23WO.js","/assets/explore-p_Fxgr4a.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-DlNgVMwS.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-B9bja54L.js","/assets/index-DPxgCcE-.css","/assets/ja-5e5EV6b5.js","/assets/join_room-CFT7w81f.js","/assets/live_games-DUDCxQyA.js","/assets/own_hub-hEIlRolq.js","/assets/player-k-vorrpI.js","/assets/players-Bm0ZoFJY.js","/assets/protocol-BGIap93g.js","/assets/records-DNQJRs6b.js","/assets/replay-kPgb42Br.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-DByo8nWJ.js","/assets/rooms-D_JZqLGJ.js","/assets/rules-ofs_wIGp.js","/assets/shared-Bx-ZXCM_.js","/assets/worker-B_zEHMqj.js","/assets/zh-DTEjnE6y.js"];
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
