const VERSION = "61e19f89f0488012";
const FILES = ["/assets/ai-CaZkMXI3.js","/assets/ais-cZtskfX4.js","/assets/analysis-ugV5BY7E.js","/assets/appearance-Dr-KH_pG.js","/assets/bots-CiMmsYLV.js","/assets/create_room-BZTxKayM.js","/assets/explore-CtOxXe9N.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-Dz_EKnx4.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-CNA9sGR2.js","/assets/index-DA0FZ_Y8.css","/assets/ja-CBa1TMjy.js","/assets/join_room-DEmfZrsq.js","/assets/live_games-BXSjkO4f.js","/assets/news-UboLlTyY.js","/assets/organise-QdNDvSAP.js","/assets/own_hub-Cp-1B-cg.js","/assets/player-DP75ofSe.js","/assets/players-CgrZ9hL4.js","/assets/protocol-BjGPsQnT.js","/assets/records-BiUpeaWt.js","/assets/replay-DM9_QFyW.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-C6VfHatg.js","/assets/rooms-6bx5C-Tw.js","/assets/rules-Bm-iH_P5.js","/assets/shared-DHlhqZx8.js","/assets/tournament-BTaQeUhM.js","/assets/tournaments-BTE9ShH2.js","/assets/worker-CFHeBOhv.js","/assets/zh-BgcZBheJ.js"];
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
