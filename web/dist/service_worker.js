const VERSION = "2069a4bc5ea33457";
const FILES = ["/assets/ai-Dd6LkiK_.js","/assets/ais-ClyF1fxy.js","/assets/analysis-CEw2vHr4.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-jimZiYcy.js","/assets/explore-CkOadqlC.js","/assets/first_paint-hv_BsRED.css","/assets/gifenc-BgRG_TFA.js","/assets/home-C0twLfaA.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BGvvGnFb.js","/assets/index-DawXJWPh.css","/assets/ja-CNVihAq4.js","/assets/join_room-5_odO2JU.js","/assets/live_games-C67Wvp1K.js","/assets/player-B0LZk52h.js","/assets/records-CQmLJnl-.js","/assets/replay-B886zTA0.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-CO7gkm1x.js","/assets/rooms-YC0K119d.js","/assets/rules-C1t7waJ8.js","/assets/shared-Bbw2EMQn.js","/assets/zh-fQgK1j8U.js"];
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
async function networkFirst(request) {
	try {
		return await fetch(request);
	} catch {
		return await caches.match("/") ?? Response.error();
	}
}
async function cacheFirst(request) {
	return await caches.match(request) ?? fetch(request);
}
