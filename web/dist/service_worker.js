const VERSION = "eeb2890d3d5936d2";
const FILES = ["/assets/ai-Cr8U6FCK.js","/assets/ais-DCY6f0gE.js","/assets/analysis-RYBw5ZDt.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-0VcoJuiA.js","/assets/explore-BiJvvNDm.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-WfJgoPsA.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-DLAe0z__.css","/assets/index-DS8uVf0L.js","/assets/ja-BHEgtQk0.js","/assets/join_room-amJjGluw.js","/assets/live_games-B87ebqIQ.js","/assets/own_hub-Cd3_mAqX.js","/assets/player-Poe0DB3C.js","/assets/protocol-LIuxplRG.js","/assets/records-CqpMAqev.js","/assets/replay-DNIgkW7W.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-O7s3Xw-t.js","/assets/rooms-DRDa69AD.js","/assets/rules-CBqxFfvX.js","/assets/shared-BHHN-nPZ.js","/assets/worker-C7e0Vrnh.js","/assets/zh-BSiKaaRS.js"];
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
