const VERSION = "8f6993c5155fac6d";
const FILES = ["/assets/ai-DOtqHGaP.js","/assets/ais-BtkLpJXt.js","/assets/analysis-CqDOp95M.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-DCb2d81S.js","/assets/explore-CjqCo1gZ.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-DuD1fMLw.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-DLAe0z__.css","/assets/index-DbfvVUxp.js","/assets/ja-Swryrlvf.js","/assets/join_room-DVe7kM6L.js","/assets/live_games-DKhuh58d.js","/assets/own_hub-C48ArBmI.js","/assets/player-BhDrOYyA.js","/assets/protocol-D3hCQruZ.js","/assets/records-mxcKux23.js","/assets/replay-Oys1GPm6.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-DBXOznU5.js","/assets/rooms--DThiFAe.js","/assets/rules-CCeZwKHh.js","/assets/shared-W2zygptH.js","/assets/worker-sJmbS-Gx.js","/assets/zh-Cjd7X0Wr.js"];
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
