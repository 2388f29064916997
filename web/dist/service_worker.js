const VERSION = "485c2c4175a44381";
const FILES = ["/assets/ai-XZVMTUNE.js","/assets/ais-DIKxGscH.js","/assets/analysis-CkchHyT5.js","/assets/appearance-Dr-KH_pG.js","/assets/bots-Cxq-8asA.js","/assets/create_room-CuEOEv8R.js","/assets/explore-CMs1AEPp.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-TCd7k4Nd.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BIN-q6cF.css","/assets/index-C-UVj9P8.js","/assets/ja-D0gIz9Fv.js","/assets/join_room-LsqHGVV3.js","/assets/live_games-DxcUpn_0.js","/assets/own_hub-CuOSC0eu.js","/assets/player-B6dXTcD2.js","/assets/players-YMdPgbg5.js","/assets/protocol-26WznRaj.js","/assets/records-DfXqK4Li.js","/assets/replay-DF14DPfA.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-C1tr9wDs.js","/assets/rooms-BtLSubFs.js","/assets/rules-DMSpxhM-.js","/assets/shared-4-g1Y4c-.js","/assets/worker-BaRT-v1x.js","/assets/zh-CXug8fqR.js"];
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
