const VERSION = "c623a5d83cdf0145";
const FILES = ["/assets/ai-BIUu4do1.js","/assets/ais-ggzMMIz4.js","/assets/analysis-Cf4IjMZU.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-CnJHOAiF.js","/assets/explore-B8qjlb0B.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-72QkTspH.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-DLAe0z__.css","/assets/index-LIAImx5a.js","/assets/ja-iCOnCXDu.js","/assets/join_room-yi7i9Z_q.js","/assets/live_games-DSxs4L9Q.js","/assets/own_hub-59yH1k_t.js","/assets/player-CFt1PhxY.js","/assets/protocol-BnlCwJOT.js","/assets/records-CMpR-NnX.js","/assets/replay-Buu_1Rwb.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-DZyMiEFp.js","/assets/rooms-Ht9GOJRh.js","/assets/rules-CPe8dhNJ.js","/assets/shared-C28ZJH6-.js","/assets/worker-Br6_1Cia.js","/assets/zh-BIrviHfZ.js"];
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
