const VERSION = "ed94026bf9f0496b";
const FILES = ["/assets/ai-DWUvvC1u.js","/assets/ais-CTu4uDtE.js","/assets/analysis-DDP-Bs0G.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-7yGnco8D.js","/assets/explore-Bjwrt-7T.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-vCZFmFgK.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-CawpoVYk.js","/assets/index-DLAe0z__.css","/assets/ja-BHEgtQk0.js","/assets/join_room-Dzy0YqR-.js","/assets/live_games-CLvymLuH.js","/assets/own_hub-D_VXPAvf.js","/assets/player-SyYWNLmJ.js","/assets/protocol-LIuxplRG.js","/assets/records-DNImPmUm.js","/assets/replay-nLs5enns.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-BfRlvvXT.js","/assets/rooms-D6htC-H6.js","/assets/rules-Tlm-3jY-.js","/assets/shared-bIYTxeg7.js","/assets/worker-C7e0Vrnh.js","/assets/zh-BSiKaaRS.js"];
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
