const VERSION = "412bcdbe87406b9b";
const FILES = ["/assets/ai-CqLoBJ7E.js","/assets/ais-C8vwi_Uj.js","/assets/analysis-DNdN8EUo.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-BZhf1XeL.js","/assets/explore-rcJv26EG.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-CX8fiQOI.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BwmGBTz4.js","/assets/index-DLAe0z__.css","/assets/ja-CBdV2G4Q.js","/assets/join_room-CMmK1ggl.js","/assets/live_games-BsiH-cat.js","/assets/own_hub-Dh2ouFe1.js","/assets/player-B35MCJpO.js","/assets/protocol-DrSydl3C.js","/assets/records-CFCgmj2c.js","/assets/replay-DGOaiczc.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-cyWGTOn5.js","/assets/rooms-C5_3vH38.js","/assets/rules-CTG_MS5w.js","/assets/shared-CNSIgBoN.js","/assets/worker-lkicYfxd.js","/assets/zh-D9pSQCgF.js"];
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
