const VERSION = "8eaf51025be717f5";
const FILES = ["/assets/ai-Bwauo75r.js","/assets/ais-Bq7EOMr0.js","/assets/analysis-DNJuiHDt.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-BDmZeWOg.js","/assets/explore-BX6sETBF.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-I5TgdR7v.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BT0XBuVP.js","/assets/index-DLAe0z__.css","/assets/ja-BmPGh9A0.js","/assets/join_room-D5z_tJze.js","/assets/live_games-C6EZ6hME.js","/assets/own_hub-B9Ity6rz.js","/assets/player-DtdJ0-nJ.js","/assets/protocol-DrSydl3C.js","/assets/records-DXulSIIO.js","/assets/replay-CqvqCr3e.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-SLYdbAvr.js","/assets/rooms-CNLi_DDW.js","/assets/rules-DlX5_tRy.js","/assets/shared-QdhdFoC1.js","/assets/worker-lkicYfxd.js","/assets/zh-D9Ai0KkQ.js"];
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
