const VERSION = "4e949c57bbd16b41";
const FILES = ["/assets/ai-XRAymI8m.js","/assets/ais-DnRLu_AF.js","/assets/analysis-DoP7QY85.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-dstfoKbd.js","/assets/explore-kD2Pe8cH.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-T74DBLag.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BD81IE0O.js","/assets/index-CwkjTFOd.css","/assets/ja-DYTawSKB.js","/assets/join_room-DiuZLDKh.js","/assets/live_games-DAZAc_cY.js","/assets/own_hub-BuBcEHfQ.js","/assets/player-C1izdEOi.js","/assets/protocol-CTn1DFHX.js","/assets/records-D33745Xc.js","/assets/replay-BwaBY9yh.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-BbgjcuLE.js","/assets/rooms-B0igWX5K.js","/assets/rules-C2woOxXn.js","/assets/shared-B5-xfRep.js","/assets/worker-BYgGpUgt.js","/assets/zh-C-tvdKnf.js"];
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
