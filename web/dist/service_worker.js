const VERSION = "410458b1d61afea7";
const FILES = ["/assets/ai-DbmY2ekv.js","/assets/ais-Eujjuq9X.js","/assets/analysis-udJvN9d6.js","/assets/appearance-Dr-KH_pG.js","/assets/bots-DbN5zUgu.js","/assets/create_room-Uh1E1a-g.js","/assets/explore-Ci9_DReN.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-EgpShz3P.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BIN-q6cF.css","/assets/index-C3zrY_Cx.js","/assets/ja-Cbb4rm9H.js","/assets/join_room-BCePh3wr.js","/assets/live_games-DWWIUilp.js","/assets/own_hub-BqbX42QD.js","/assets/player-BmIfKwuc.js","/assets/players-CgZGiBr7.js","/assets/protocol-26WznRaj.js","/assets/records-CXNcuQAk.js","/assets/replay-CcAezmPu.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-BHjFJrCx.js","/assets/rooms-DBNb-22i.js","/assets/rules-DdEaIww4.js","/assets/shared-AGFBHYfQ.js","/assets/worker-BaRT-v1x.js","/assets/zh-BRblhoay.js"];
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
