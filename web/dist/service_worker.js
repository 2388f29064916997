const VERSION = "79b9bf1a8ef223e6";
const FILES = ["/assets/ai-CyeH2AHe.js","/assets/ais-Bt2cKIQI.js","/assets/analysis-pSeLGOcj.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-BAlHa7KU.js","/assets/explore-DhF8R_OF.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-CgVuMmJZ.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BOxnQu51.js","/assets/index-D3NBlHpX.css","/assets/ja-C339BRrL.js","/assets/join_room-BqdTjD5A.js","/assets/live_games-SOileVUD.js","/assets/player-DclG-26s.js","/assets/protocol-BnDYhC2l.js","/assets/records-C2ctWxhr.js","/assets/replay-B4cTVGlT.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-De5TaQUE.js","/assets/rooms-CZ8krxp4.js","/assets/rules-8nlCluvX.js","/assets/shared-Dl9GWFNe.js","/assets/zh-DLe3B5ZC.js"];
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
