const VERSION = "77a4598356271e60";
const FILES = ["/assets/ai-Cd5A-ZPS.js","/assets/ais-BnoF02lr.js","/assets/analysis-BkNRNVvC.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-D622Kwe9.js","/assets/explore-CHERkdsw.js","/assets/first_paint-hv_BsRED.css","/assets/home-BujFzmPN.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-DVTyp_MU.css","/assets/index-Dn8eEULB.js","/assets/ja-CBprOtr1.js","/assets/join_room-B2OAduvA.js","/assets/live_games-D1EfebZy.js","/assets/player-BZGmXSRZ.js","/assets/records-CTPhwuik.js","/assets/replay-BAqxvUi5.js","/assets/room-DBnFg06M.js","/assets/rooms-BhnT39uJ.js","/assets/rules-BdW2rrxT.js","/assets/shared-Rs5DzZpf.js","/assets/zh-DL4FSpA4.js"];
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
