const VERSION = "da33b7e81842cd75";
const FILES = ["/assets/ai-URkqQNKs.js","/assets/ais-C8gsbFKu.js","/assets/analysis-C2l3XctG.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-DFbVxkTx.js","/assets/explore-CA9o3GRe.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-DbifFpQy.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-CkGHzrRh.js","/assets/index-DPxgCcE-.css","/assets/ja-DEj6bho3.js","/assets/join_room-BbrZkd2N.js","/assets/live_games-cIHVwFRh.js","/assets/own_hub-BPSrv0cY.js","/assets/player-neqsIo3a.js","/assets/protocol-oEJjYwFN.js","/assets/records-CXUi_HvQ.js","/assets/replay-XLYO8SeI.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-BmoeOPC-.js","/assets/rooms-raWNttqD.js","/assets/rules-DTodvnXp.js","/assets/shared-CMWfsnWf.js","/assets/worker-Cb3AQplu.js","/assets/zh-Du2GE22G.js"];
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
