const VERSION = "548d8065ab89a6dd";
const FILES = ["/assets/ai-CgRNnIZg.js","/assets/ais-Darh4EaY.js","/assets/analysis-Dxk8PH-u.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-cbSB5zhl.js","/assets/explore-n6TSFwPN.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-BXJGBIzD.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-DA-afjRq.js","/assets/index-DLAe0z__.css","/assets/ja-iCOnCXDu.js","/assets/join_room-BzteKwTu.js","/assets/live_games-DythazYw.js","/assets/own_hub-Bmo5i1oW.js","/assets/player-CLySXmE6.js","/assets/protocol-BnlCwJOT.js","/assets/records-DmN__CHT.js","/assets/replay-D1zeVYD-.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-C3gpGwIc.js","/assets/rooms-DO9afVa0.js","/assets/rules-7BaPgsrW.js","/assets/shared-EoYHqOws.js","/assets/worker-Br6_1Cia.js","/assets/zh-BIrviHfZ.js"];
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
