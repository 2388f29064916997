const VERSION = "275d543ed691bebb";
const FILES = ["/assets/ai-D5UelpOr.js","/assets/ais-B2wabO3c.js","/assets/analysis-DWIoV9_M.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-DfNdzoDQ.js","/assets/explore-DoByG9aM.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-LaZAFjZQ.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-DLAe0z__.css","/assets/index-MlJ3FblC.js","/assets/ja-CJVfoYos.js","/assets/join_room-Dn3Pqy6r.js","/assets/live_games-Dgk4uk_O.js","/assets/own_hub-DTjNyFB3.js","/assets/player-BIFdVy22.js","/assets/protocol-CDwonnKX.js","/assets/records-B93dnaMw.js","/assets/replay-DlanbfIY.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-Bjlsg8Tz.js","/assets/rooms-HHi5dIU0.js","/assets/rules-DcaN4kMC.js","/assets/shared-BsF-EKPP.js","/assets/worker-CAI2QSiJ.js","/assets/zh-30Pkx1tA.js"];
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
