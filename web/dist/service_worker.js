const VERSION = "2f070f6b7fc29eaa";
const FILES = ["/assets/ai-Ba3Ey_eD.js","/assets/ais-DwUeYMNW.js","/assets/analysis-Cjw8spP3.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-eb3_8E7R.js","/assets/explore-jGhNtAdi.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-Bz7kmGb6.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-C_6VokCv.js","/assets/index-CqSAhiq5.css","/assets/ja-D2uwAM97.js","/assets/join_room-D35g2g0D.js","/assets/live_games-DRbbhxXe.js","/assets/player-DYqouVoV.js","/assets/records-D_e-_d7z.js","/assets/replay-DjN4miK0.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-PC2FCo0l.js","/assets/rooms-BQ1D9KCr.js","/assets/rules-axAKfS0v.js","/assets/shared-5bRe5GR4.js","/assets/zh-BrTMSBdI.js"];
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
