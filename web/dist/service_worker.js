const VERSION = "60c48153b25008b4";
const FILES = ["/assets/ai-Di8XAr2r.js","/assets/ais-gMgeacbg.js","/assets/analysis-DEB5WTcP.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-BR6Xafg0.js","/assets/explore-Diqn97sS.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-Dw3hyh5n.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BvK1nCWR.js","/assets/index-DPxgCcE-.css","/assets/ja-Dv00h2pr.js","/assets/join_room-cGUMMtnF.js","/assets/live_games-Bt0VkXCu.js","/assets/own_hub-BibhfyMh.js","/assets/player-CIUEOdcu.js","/assets/protocol-BF0_85s7.js","/assets/records-CfBNwB1-.js","/assets/replay-b73oRQyH.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-3cpgwGoa.js","/assets/rooms-DOqpozA2.js","/assets/rules-BsLPUnAS.js","/assets/shared-CKd6VIRb.js","/assets/worker-B_zEHMqj.js","/assets/zh-_5_26ADW.js"];
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
