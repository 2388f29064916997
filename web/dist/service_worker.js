const VERSION = "0a98bfde5c700098";
const FILES = ["/assets/ai-CLtMWH9B.js","/assets/ais-Dyxox0_v.js","/assets/analysis-lPjEZndt.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-CXuqZj-8.js","/assets/explore-C2N4UbB9.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-DFbU8uz8.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BHKB_lxx.js","/assets/index-DLAe0z__.css","/assets/ja-3IkHP8IH.js","/assets/join_room-BD3xC4MD.js","/assets/live_games-B1XMm4r7.js","/assets/own_hub-Bci6D6TL.js","/assets/player-BTQv606r.js","/assets/protocol-BBIdFrkt.js","/assets/records-BCt1YWXf.js","/assets/replay-DQEo1RNk.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-Dj6siARK.js","/assets/rooms-qL9Swjuh.js","/assets/rules-CAR7_pAU.js","/assets/shared-CMts6Ose.js","/assets/worker-Dl7O9R41.js","/assets/zh-grmseC_z.js"];
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
