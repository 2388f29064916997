const VERSION = "8f8e4d3870916a4f";
const FILES = ["/assets/ai-U7COGWc4.js","/assets/ais-TJMOGSN9.js","/assets/analysis-BluCvao5.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-Cszoirh9.js","/assets/explore-BOt-W64L.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-BDL3zPYM.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-B1EkDlTT.js","/assets/index-D3NBlHpX.css","/assets/ja-C339BRrL.js","/assets/join_room-B4DTM-ms.js","/assets/live_games-D2whINKT.js","/assets/player-DgJeNtII.js","/assets/protocol-BnDYhC2l.js","/assets/records-BdzL3LGm.js","/assets/replay-CuJ8V3Rk.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-Da65wEwm.js","/assets/rooms-Z75QMqcm.js","/assets/rules-COP6Z2ag.js","/assets/shared-DvVofFeU.js","/assets/zh-DLe3B5ZC.js"];
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
