const VERSION = "751f9e670dd8fe75";
const FILES = ["/assets/ai-UZHKxJ1y.js","/assets/ais-Dn_nqjjU.js","/assets/analysis-DAGb_nel.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-C4Ugdnkl.js","/assets/explore-diAPkEhu.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-B9bWaeo4.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-CAH7o1b5.js","/assets/index-DLAe0z__.css","/assets/ja-CpEfaUQK.js","/assets/join_room-ChzZxPDK.js","/assets/live_games-5GFX15p9.js","/assets/own_hub-DMpLWU4g.js","/assets/player-2UBYN3YW.js","/assets/protocol-DXYm5tRs.js","/assets/records-D99wGE5C.js","/assets/replay-DoXO20gw.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-P-S2Nzn8.js","/assets/rooms-CY72nSAl.js","/assets/rules-HiyzZTFK.js","/assets/shared-DQDf6ESp.js","/assets/worker-NfWlKIhS.js","/assets/zh-TpghpdBH.js"];
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
