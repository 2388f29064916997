const VERSION = "036d4611068fbdc2";
const FILES = ["/assets/ai-C0y83xgk.js","/assets/ais-B9VeZ6Kb.js","/assets/analysis-DM_s55yV.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-CGfC8zf-.js","/assets/explore-CN7tIi0U.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-DTPYcHRz.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-DLAe0z__.css","/assets/index-H80wqkqf.js","/assets/ja-DKt5nnKB.js","/assets/join_room-Fu9YW9Vn.js","/assets/live_games-B3Tzi1ol.js","/assets/own_hub-Ra_z0pzH.js","/assets/player-DIF5H9P8.js","/assets/protocol-DTtdRKZB.js","/assets/records-DvPtW7jr.js","/assets/replay-1xbmDZ5C.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-FftYunav.js","/assets/rooms-KLVV8Myw.js","/assets/rules-DXM5A4M7.js","/assets/shared-D6hgHwPx.js","/assets/worker-TphqEz5b.js","/assets/zh-BwuOsWY3.js"];
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
