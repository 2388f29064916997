const VERSION = "503ec665dc8579f5";
const FILES = ["/assets/ai-BqoTrHDq.js","/assets/ais-CFH9CHje.js","/assets/analysis-C5UFb0-Z.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-CYduy2bv.js","/assets/explore-B575_GSL.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-N7nQdwT2.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BVJBE9Sg.js","/assets/index-DPxgCcE-.css","/assets/ja-DfbdssuQ.js","/assets/join_room-VfE5E2HL.js","/assets/live_games-DSN9yjZ6.js","/assets/own_hub-CMHJtffa.js","/assets/player-jGF6j9SD.js","/assets/protocol-B5Z1hKMo.js","/assets/records-DP7tZawS.js","/assets/replay-CudFYma-.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-t73CGl0B.js","/assets/rooms-BOvfnOOf.js","/assets/rules-BkVsehDc.js","/assets/shared-BAj7Zw55.js","/assets/worker-402rl5iq.js","/assets/zh-BNT-POsd.js"];
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
