const VERSION = "2d3f6c43b4f6025e";
const FILES = ["/assets/ai-C29vI5qo.js","/assets/ais-gQuFtUyk.js","/assets/analysis-D8ZrTwTZ.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-CNzofibI.js","/assets/explore-Dg7Fhw8H.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-Bkfg9QGq.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-C3tO7f4N.js","/assets/index-D3NBlHpX.css","/assets/ja-Rx1i-jKg.js","/assets/join_room-BFs9yNia.js","/assets/live_games-BOY1e-YO.js","/assets/player-BYioN0PS.js","/assets/protocol-BnDYhC2l.js","/assets/records-zs8TRlUg.js","/assets/replay-DkDNpVvu.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-CYvP7ZOu.js","/assets/rooms-1lpgZVao.js","/assets/rules-C5YaHWNo.js","/assets/shared-CPJke9rL.js","/assets/zh-CIv4m8_O.js"];
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
/** The server's answer, or the kept one where there is none or it takes too long. */
async function networkFirst(request) {
	const answer = fetch(request).catch(() => undefined);
	const tooLong = new Promise((resolve) => setTimeout(resolve, PATIENCE));
	return await Promise.race([answer, tooLong]) ?? await caches.match("/") ?? await answer ?? Response.error();
}
async function cacheFirst(request) {
	return await caches.match(request) ?? fetch(request);
}
