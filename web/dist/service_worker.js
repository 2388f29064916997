const VERSION = "d4254eb3afa47bf9";
const FILES = ["/assets/ai-Ctws3HJx.js","/assets/ais-BS4yjDpO.js","/assets/analysis-BAS-gTus.js","/assets/appearance-Dr-KH_pG.js","/assets/bots-Dqdj6sRn.js","/assets/create_room-CDDNwF3Y.js","/assets/explore-NAovjeGg.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-CbltPHgP.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BIN-q6cF.css","/assets/index-CqeTf7g-.js","/assets/ja-D0gIz9Fv.js","/assets/join_room-nvXUbz35.js","/assets/live_games-CzuVILk2.js","/assets/own_hub-CKNE0wIa.js","/assets/player-HJRFQTKd.js","/assets/players-DJ1ZCn0y.js","/assets/protocol-26WznRaj.js","/assets/records-X-V58h7Q.js","/assets/replay-Dt618Jjl.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-CJA2GYue.js","/assets/rooms-CBgo1JMY.js","/assets/rules-DmKt1XTE.js","/assets/shared-kkhPXFR9.js","/assets/worker-BaRT-v1x.js","/assets/zh-CXug8fqR.js"];
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
