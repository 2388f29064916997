const VERSION = "b17a689863d6cdf0";
const FILES = ["/assets/ai-CbLCeCqg.js","/assets/ais-Xjaw_S7r.js","/assets/analysis-_JMVGcxt.js","/assets/appearance-Dr-KH_pG.js","/assets/bots-GmJUOU01.js","/assets/create_room-DFk9iqBK.js","/assets/explore-D1lFS-E-.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-Cbmqsslp.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-B8ztJ698.js","/assets/index-BvfFbc2s.css","/assets/ja-Du0P8PEq.js","/assets/join_room-P1GNpE9_.js","/assets/live_games-D447FyjU.js","/assets/news-Co0YXTeW.js","/assets/organise-DwzRwGsj.js","/assets/own_hub-02vI_mxn.js","/assets/player-TLqrvbaF.js","/assets/players-0ShOKSKR.js","/assets/protocol-D2Gd6yX-.js","/assets/records-BRfQKTV2.js","/assets/replay-D8r8-PgT.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-n2zWFBoj.js","/assets/rooms-9MBXGe86.js","/assets/rules-CdtuEDcq.js","/assets/shared-DxVuHfgB.js","/assets/tournament-CvJ1z-WI.js","/assets/tournaments-O6y8V5U6.js","/assets/worker-BSshMFR8.js","/assets/zh-BZdRV2QZ.js"];
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
