const VERSION = "f6f655081e8ef96f";
const FILES = ["/assets/ai-CHJKlGn3.js","/assets/ais-BnEyy3Ua.js","/assets/analysis-3el48sbN.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-Dxvry1d1.js","/assets/explore-wCWRJ39Q.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-ATE9D0oY.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-DPxgCcE-.css","/assets/index-DncwzYJ7.js","/assets/ja-Ck3rpJ5C.js","/assets/join_room-EngesuC2.js","/assets/live_games-Bad2vQG-.js","/assets/own_hub-Smqb2G0j.js","/assets/player-gNhh-l6q.js","/assets/players-BtP17P61.js","/assets/protocol-BGIap93g.js","/assets/records-zI_Oipn3.js","/assets/replay-C97FS_0y.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-CfBblU8O.js","/assets/rooms-B9bC_ooO.js","/assets/rules-CKubWOis.js","/assets/shared-s2S98xi-.js","/assets/worker-B_zEHMqj.js","/assets/zh-Bh0iGkhf.js"];
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
