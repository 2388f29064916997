const VERSION = "76229b01907a2dd7";
const FILES = ["/assets/ai-dqF3EBz8.js","/assets/ais-DIxAiiu2.js","/assets/analysis-Fy8QVV0K.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-DsXYYxuk.js","/assets/explore-88OJDFKq.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-DgGuC7AS.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-D0c3Zy0F.css","/assets/index-Dzz9mhTL.js","/assets/ja-BIto-W3f.js","/assets/join_room-B2b0h1pn.js","/assets/live_games-M3i0h_ft.js","/assets/player-B_0jbsyJ.js","/assets/records-Ta9YCvGv.js","/assets/replay-Ds7kbRoz.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-DlsN2O8R.js","/assets/rooms-kguNEAwg.js","/assets/rules-D5mPdxed.js","/assets/shared-DH7Egn-K.js","/assets/zh-CUVF4dbC.js"];
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
