const VERSION = "f148f93e08949be9";
const FILES = ["/assets/ai-DVZYEyc0.js","/assets/ais-B_gFDHPl.js","/assets/analysis-CC19gNUo.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-BaFkKapH.js","/assets/explore-sOEq4Czu.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-BcQvHhc6.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-DLAe0z__.css","/assets/index-gOhx0SR1.js","/assets/ja-Dj7VaILh.js","/assets/join_room-4DCTjBxg.js","/assets/live_games-BYAIXhSI.js","/assets/own_hub-Dmb9OMEC.js","/assets/player-CSHl3HVC.js","/assets/protocol-DL5852nq.js","/assets/records-CiZTd3y_.js","/assets/replay-Ces4Jr0n.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-BfuSanrJ.js","/assets/rooms-N_ANAJTs.js","/assets/rules-DY7WbDNs.js","/assets/shared-D7AtIEpS.js","/assets/worker-BVbPpTi6.js","/assets/zh-NLWdPtFF.js"];
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
