const VERSION = "7eae7e4c5e6d6d90";
const FILES = ["/assets/ai-CPVKjAFD.js","/assets/ais-kU_quTWl.js","/assets/analysis-B3wovhyC.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-BiWjYXii.js","/assets/explore-UUuDfvOo.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-DlFQLCFR.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-B4gSo81_.js","/assets/index-DPxgCcE-.css","/assets/ja-Ck3rpJ5C.js","/assets/join_room-BiTMFL4x.js","/assets/live_games-DXwUVh3Q.js","/assets/own_hub-B6DXByb9.js","/assets/player-DhF0KOlx.js","/assets/players-HIZr6PJ0.js","/assets/protocol-BGIap93g.js","/assets/records-D_20AIeq.js","/assets/replay-Pcov1j5o.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-IlhJkynL.js","/assets/rooms-D0cUc6cQ.js","/assets/rules-lLfF80JI.js","/assets/shared-CuZfqflM.js","/assets/worker-B_zEHMqj.js","/assets/zh-Bh0iGkhf.js"];
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
