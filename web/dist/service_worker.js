const VERSION = "801688fd9f923fc8";
const FILES = ["/assets/ai-2Af1izWV.js","/assets/ais-BOFsVoIj.js","/assets/analysis-BN0OnOlu.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-CrG2L6ZO.js","/assets/explore-zFMKj505.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-WizOdw7b.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-DPxgCcE-.css","/assets/index-Dd93lwYT.js","/assets/ja-De6utls5.js","/assets/join_room-CPVON5Rn.js","/assets/live_games-C0D1t0VV.js","/assets/own_hub-CvNUpG1O.js","/assets/player-CuuWU-9B.js","/assets/players-DJv5SDO_.js","/assets/protocol-jheNsMRk.js","/assets/records-yGtp1j20.js","/assets/replay-D4TObbx7.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-DvSbF4tM.js","/assets/rooms-DkGTvT1g.js","/assets/rules-B-_LWwui.js","/assets/shared-CQwnwYv2.js","/assets/worker-DigDDgy1.js","/assets/zh-Bp52Qbst.js"];
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
