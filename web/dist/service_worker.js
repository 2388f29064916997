const VERSION = "4d69533f1598e9ad";
const FILES = ["/assets/ai-Bh0nT9ym.js","/assets/ais-C4Ydc_bL.js","/assets/analysis-BGXVJyZN.js","/assets/appearance-Dr-KH_pG.js","/assets/bots-BE-9NfMm.js","/assets/create_room-BAApDOHB.js","/assets/explore-DR_7P4IQ.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-DAjwyQT_.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-B5VVSXwc.js","/assets/index-BIN-q6cF.css","/assets/ja-Cdf3VKeS.js","/assets/join_room-BAWCvGIy.js","/assets/live_games-CRMBpWty.js","/assets/own_hub-Cu_PuMdz.js","/assets/player-DaNPUPgM.js","/assets/players-eIvj_hf1.js","/assets/protocol-BTtBSsaq.js","/assets/records-C8vk-_bs.js","/assets/replay-CX4H0WpL.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-C7QaVwc9.js","/assets/rooms-CpDcec6G.js","/assets/rules-D-HQqzVX.js","/assets/shared-DbS1W4kL.js","/assets/worker-D7Zzt1VW.js","/assets/zh-Bt00p0D3.js"];
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
