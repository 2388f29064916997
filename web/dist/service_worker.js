const VERSION = "70568422693fc77f";
const FILES = ["/assets/ai-BquOKD8C.js","/assets/ais-BukKPiXP.js","/assets/analysis-C3E9HJ8b.js","/assets/appearance-Dr-KH_pG.js","/assets/bots-DffeJdYB.js","/assets/create_room-DjrmF6xD.js","/assets/explore-DFezzIhy.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-Bz2ZWzdL.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BIN-q6cF.css","/assets/index-Bqj1uGky.js","/assets/ja-B1yHspx2.js","/assets/join_room-3tZYtHKo.js","/assets/live_games-B9UeOmxa.js","/assets/own_hub-ChTlnTlR.js","/assets/player-DX8_79Ko.js","/assets/players-CRTSeItp.js","/assets/protocol-CScGagTE.js","/assets/records-BD3hb5JT.js","/assets/replay-BzUNpsGQ.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-DXVNbbbN.js","/assets/rooms-BF0mMpV6.js","/assets/rules-jQct1Go2.js","/assets/shared-BTFRYLdl.js","/assets/worker-lKhySdwU.js","/assets/zh-DYzENjV6.js"];
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
