const VERSION = "34145a43b6c47cdc";
const FILES = ["/assets/ai-CMLKXQ5o.js","/assets/ais-Ec4ctrGj.js","/assets/analysis-GdXHrAZN.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-DGimB0QJ.js","/assets/explore-DdHgOxnT.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-C6ew7qIn.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BDLB22Oy.js","/assets/index-CHxFovBy.css","/assets/ja-IIUv4PXI.js","/assets/join_room-Breq3tg_.js","/assets/live_games-CLeOEN-N.js","/assets/player-DB6cNAPH.js","/assets/records-BPHm3iqw.js","/assets/replay-BcHwkJ15.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-CuZtoHEy.js","/assets/rooms-BX4Yk3EW.js","/assets/rules-Bd7Dwf8x.js","/assets/shared-BEy-UcCL.js","/assets/zh-CKbHDtUx.js"];
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
