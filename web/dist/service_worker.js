const VERSION = "759f3ede92c1fd01";
const FILES = ["/assets/ai-zLB_XXeR.js","/assets/ais-BLEjo8MR.js","/assets/analysis-BnwEK79J.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-BcjLnTbN.js","/assets/explore-Bp04NPu-.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-P42OqXAq.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BcEJ-CGN.js","/assets/index-DPxgCcE-.css","/assets/ja-D5VWcJx3.js","/assets/join_room-pj9pG7DS.js","/assets/live_games-42d6rOA-.js","/assets/own_hub-CrB42J1z.js","/assets/player-7fYOCv7k.js","/assets/protocol-CsxkdkmQ.js","/assets/records-CrCFY57p.js","/assets/replay-4Eil0GhL.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-DIXBmAi0.js","/assets/rooms-DfwJDkAp.js","/assets/rules-CmmlHPTm.js","/assets/shared-g-4Zl0dN.js","/assets/worker-Hs9at-Zb.js","/assets/zh-BjWxAjhE.js"];
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
