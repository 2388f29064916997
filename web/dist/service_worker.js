const VERSION = "4d9ca32e89da1cd3";
const FILES = ["/assets/ai-DWZdTgSI.js","/assets/ais-C6KPkqnd.js","/assets/analysis-BScViEYV.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-Bsjrfph9.js","/assets/explore-D260VXjO.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-DhhMtMV-.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-D3NBlHpX.css","/assets/index-IjtNaL8x.js","/assets/ja-BWmwG_pW.js","/assets/join_room-BmCFXK7-.js","/assets/live_games-RqscGLtr.js","/assets/own_hub-DRbvrAmd.js","/assets/player-CDY0J0q9.js","/assets/protocol-BnDYhC2l.js","/assets/records-C5Z2a3o5.js","/assets/replay-M1ad9zlO.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-GCYFa97P.js","/assets/rooms-3rWAXZdu.js","/assets/rules-CGNs-cGH.js","/assets/shared-e7Y_DLR7.js","/assets/worker-DKyWvUJU.js","/assets/zh-C1yAd_ZZ.js"];
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
