const VERSION = "5f7602d037c11ec0";
const FILES = ["/assets/ai-DDd7SvzC.js","/assets/ais-BEYS1HHq.js","/assets/analysis-BA855rtE.js","/assets/appearance-Dr-KH_pG.js","/assets/bots-5cvb41dm.js","/assets/create_room-Dp5VE6We.js","/assets/explore-BzwZhAw1.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-CXCeSQmb.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BLP7a4eN.js","/assets/index-DA0FZ_Y8.css","/assets/ja-E7Q180jA.js","/assets/join_room-CBluoRQG.js","/assets/live_games-CfZjF8VM.js","/assets/news-DxFn8avY.js","/assets/organise-CDZwSABZ.js","/assets/own_hub-xUJVmGHA.js","/assets/player-DO3rPk1h.js","/assets/players-yUhB2ki3.js","/assets/protocol-B4j5ChrS.js","/assets/records-C90MDOut.js","/assets/replay-BWdr2oY8.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-Dx-SDIl2.js","/assets/rooms-CNZhNfI9.js","/assets/rules-DPAjBQV_.js","/assets/shared-Ds7uq7HJ.js","/assets/tournament-C_xJhdMZ.js","/assets/tournaments-DeG4RUWd.js","/assets/worker-StGaa6Ec.js","/assets/zh-BOihuhA5.js"];
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
