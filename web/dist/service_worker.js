const VERSION = "52bc0a07c98851b7";
const FILES = ["/assets/ai-BSsr-ZbU.js","/assets/ais-DoTuVa1R.js","/assets/analysis-Co6QsLsL.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-Dmy6ao0j.js","/assets/explore-CQuN5a3r.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-lghILWDT.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-C_F2qYbk.js","/assets/index-DPxgCcE-.css","/assets/ja-BYscnJ1X.js","/assets/join_room-DPbo9uf3.js","/assets/live_games-Dsb2hbQ8.js","/assets/own_hub-CYshJg9S.js","/assets/player-B0N4HHbf.js","/assets/players-BLlJw5UJ.js","/assets/protocol-CXns8pMm.js","/assets/records-C8bU98rD.js","/assets/replay-DM2OghaL.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-G5rx6Mg5.js","/assets/rooms-CRiPcZAA.js","/assets/rules-rUEo9fjP.js","/assets/shared-7YAB_MLT.js","/assets/worker-BaRT-v1x.js","/assets/zh-C7f2_aHE.js"];
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
