const VERSION = "77124c2b35773dce";
const FILES = ["/assets/ai-BqYdEA8t.js","/assets/ais-DBLeAOb2.js","/assets/analysis-BYB-BU6v.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-COI7JMF_.js","/assets/explore-CzWLj0lE.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-CB4nl06I.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-ANKcc3DR.js","/assets/index-DLAe0z__.css","/assets/ja-CHcbu_b2.js","/assets/join_room-DAPLHJ2B.js","/assets/live_games-D-PnC4LA.js","/assets/own_hub-Cb01ELwM.js","/assets/player-CMu8-s6g.js","/assets/protocol-DTtdRKZB.js","/assets/records-CcLM0cuq.js","/assets/replay-B6WYZZOQ.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-COosKlsM.js","/assets/rooms-D2XLld9Y.js","/assets/rules-BfebYZ9_.js","/assets/shared-C6j5tAxL.js","/assets/worker-TphqEz5b.js","/assets/zh-DcPpqJdg.js"];
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
