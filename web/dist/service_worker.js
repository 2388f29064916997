const VERSION = "5f0f513dfac80045";
const FILES = ["/assets/ai-Cuw_qb7m.js","/assets/ais-DMlwq--y.js","/assets/analysis-Dqh5_xWI.js","/assets/appearance-Dr-KH_pG.js","/assets/bots-ChuCZqVr.js","/assets/create_room-nFrntq2_.js","/assets/explore-CT4GbAnD.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-fWuQE6Y7.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-D9OAEriz.js","/assets/index-DA0FZ_Y8.css","/assets/ja-Cr2B_ua3.js","/assets/join_room-Cyvoijj8.js","/assets/live_games-DWpa5UHQ.js","/assets/news-CsD9_Mrj.js","/assets/organise-DG3noxHJ.js","/assets/own_hub-BCFDrF1C.js","/assets/player-D7ma0Q8O.js","/assets/players-B2CRjRJV.js","/assets/protocol-DHI4S0v6.js","/assets/records-DaZcpBo_.js","/assets/replay-CwDJPn10.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-D-DmcDip.js","/assets/rooms-DVy4Xxiq.js","/assets/rules-09xyHzxO.js","/assets/shared-CXlYevVQ.js","/assets/tournament-DIGtqgUW.js","/assets/tournaments-Cic-ne3X.js","/assets/worker-BJ2LDO2J.js","/assets/zh-CglLUzqh.js"];
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
