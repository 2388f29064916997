const VERSION = "705bff28487096f3";
const FILES = ["/assets/ai-DI05KR-i.js","/assets/ais-CyVEcE2e.js","/assets/analysis-qmCgT86z.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-_hKO560A.js","/assets/explore-BK9X2z5Y.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-1rf-tpYh.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-CFFq1Opa.js","/assets/index-DPxgCcE-.css","/assets/ja-CET28GyH.js","/assets/join_room-B1c3O3Bn.js","/assets/live_games-jfSTfL_N.js","/assets/own_hub-C7OAETWo.js","/assets/player-DTnjTpb1.js","/assets/players-DSACnZ_z.js","/assets/protocol-DqBPUYAk.js","/assets/records-BDN6JpmR.js","/assets/replay-D88rCVCF.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-BZ-Zb-e-.js","/assets/rooms-CiTKnPmY.js","/assets/rules-Dc3rYEVe.js","/assets/shared-BUAhWt-g.js","/assets/worker-ClNiuhfa.js","/assets/zh-4CjaFQnR.js"];
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
