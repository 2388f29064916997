const VERSION = "0bd4e37625710254";
const FILES = ["/assets/ai-u1Xjg5i5.js","/assets/ais-C5c5eU2j.js","/assets/analysis-Bm0EgJNy.js","/assets/appearance-Dr-KH_pG.js","/assets/bots-crIz3owD.js","/assets/create_room-DiIjLiIC.js","/assets/explore-C0vx1JLZ.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-C5iaPkXX.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BIN-q6cF.css","/assets/index-BK8462ZK.js","/assets/ja-B1yHspx2.js","/assets/join_room-BWszjQL5.js","/assets/live_games-fvJ3yl4W.js","/assets/own_hub-DiS3Rw0z.js","/assets/player-sFYhE4yt.js","/assets/players-0ROO6iQZ.js","/assets/protocol-CScGagTE.js","/assets/records-DGpJEgNY.js","/assets/replay-m8HzeStA.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-Ur7n7zze.js","/assets/rooms-c4Lo9dwx.js","/assets/rules-DumtdRPa.js","/assets/shared-Co_KSgVa.js","/assets/worker-lKhySdwU.js","/assets/zh-DYzENjV6.js"];
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
