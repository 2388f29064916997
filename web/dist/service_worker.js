const VERSION = "7d943f56731e0a20";
const FILES = ["/assets/ai-CWOAmCNA.js","/assets/ais-BfoSix2B.js","/assets/analysis-Cl1lMdys.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-bleoJQNN.js","/assets/explore-DCzQ_fJr.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-CK2wgSrT.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BsAq-076.js","/assets/index-DPxgCcE-.css","/assets/ja-Dv00h2pr.js","/assets/join_room-C8m9zKWX.js","/assets/live_games-DvltiD6X.js","/assets/own_hub-WqE8JaG4.js","/assets/player-CoebHUiS.js","/assets/protocol-BF0_85s7.js","/assets/records-sx81kD_Y.js","/assets/replay-Dt9__PZp.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room--JZ4DGmD.js","/assets/rooms-7lCU_QZ3.js","/assets/rules-Cyx7UkbU.js","/assets/shared-BlF3Edmg.js","/assets/worker-B_zEHMqj.js","/assets/zh-_5_26ADW.js"];
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
