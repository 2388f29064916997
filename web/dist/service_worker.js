const VERSION = "cb8878fb693260af";
const FILES = ["/assets/ai-7zoqN2zY.js","/assets/ais-YaCpnEpe.js","/assets/analysis-DSan0el2.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-DNci9no2.js","/assets/explore-apby1TGT.js","/assets/first_paint-hv_BsRED.css","/assets/gifenc-BgRG_TFA.js","/assets/home-BIIJT4zC.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-DawXJWPh.css","/assets/index-Di3Fh4Bl.js","/assets/ja-Cqoa3xwV.js","/assets/join_room-DWgiNM3T.js","/assets/live_games-SFgrgv-5.js","/assets/player-Z93CLg6e.js","/assets/records-CUFP2sh8.js","/assets/replay-COVN3JVQ.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-Dbwk-6iL.js","/assets/rooms-BQu7h1QX.js","/assets/rules-COc772Pv.js","/assets/shared-BKvSNyfl.js","/assets/zh-R7uVqV4E.js"];
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
