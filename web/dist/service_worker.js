const VERSION = "ef08d8d43e83c079";
const FILES = ["/assets/ai-BNmpQY8C.js","/assets/ais-C1yadTvC.js","/assets/analysis-M99ybKFb.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-D-w64MAR.js","/assets/explore-B-m6pd2X.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-D4hdIjz1.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BHAFdz8V.js","/assets/index-DPxgCcE-.css","/assets/ja-5bVpBq45.js","/assets/join_room-BoTyKWMh.js","/assets/live_games-DnR0NDAr.js","/assets/own_hub-CvOuNqRu.js","/assets/player-DK7xVU7B.js","/assets/players-Dib-viwV.js","/assets/protocol-CqPJEOhC.js","/assets/records-CvMFo9cR.js","/assets/replay-Czwl3nLm.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-BjHeXoxV.js","/assets/rooms-D2gRYQuq.js","/assets/rules-BsE2BJNH.js","/assets/shared-BtCVVk82.js","/assets/worker-B_zEHMqj.js","/assets/zh-Ct64IJxG.js"];
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
