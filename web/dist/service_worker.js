const VERSION = "bb1423ee7893e582";
const FILES = ["/assets/ai-CFpKjgD_.js","/assets/ais-Bj6kR7jh.js","/assets/analysis-CVL64M2D.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-BfLSyCcR.js","/assets/explore-CV_iM0gj.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-xmzBcMLB.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-D3NBlHpX.css","/assets/index-DhlbPM9t.js","/assets/ja-C339BRrL.js","/assets/join_room-BVXLt3eX.js","/assets/live_games-D8yF_nYn.js","/assets/player-CXcaFZFU.js","/assets/protocol-BnDYhC2l.js","/assets/records-DytnP48G.js","/assets/replay-BwtXJzHM.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-CtQ6-l9p.js","/assets/rooms-BsJXlzNZ.js","/assets/rules-BrDNRMcL.js","/assets/shared-EA6Pc3xv.js","/assets/zh-DLe3B5ZC.js"];
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
