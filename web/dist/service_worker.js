const VERSION = "21d0ca84615c472f";
const FILES = ["/assets/ai-LYWA3XwY.js","/assets/ais-BcDWlg6c.js","/assets/analysis-Bz5h2_7b.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-yF_vQCXh.js","/assets/explore-DB9Wr3h0.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-BaKoXN-c.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index--8iQGo0e.js","/assets/index-CAxaieVe.css","/assets/ja-DnZHXSAW.js","/assets/join_room-DwQOFdL7.js","/assets/live_games-DskfMQp1.js","/assets/player-DJNeoiTi.js","/assets/records-BWr6PTAk.js","/assets/replay-CkpnamZX.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-E59caVjC.js","/assets/rooms-PrJJhhg_.js","/assets/rules-Zukw9h5y.js","/assets/shared-Cp_p0dWX.js","/assets/zh-DivE_Lvb.js"];
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
