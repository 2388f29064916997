const VERSION = "8a35be1c1db0918a";
const FILES = ["/assets/ai-DgiNfwEk.js","/assets/ais-Biqfhu9v.js","/assets/analysis-BFcyios5.js","/assets/appearance-Dr-KH_pG.js","/assets/bots-D6WCmpB6.js","/assets/create_room-C9f_es23.js","/assets/explore-D0CfWXpA.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-C2WDmv8r.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BvfFbc2s.css","/assets/index-CY-qg_Ei.js","/assets/ja-BikXEmfU.js","/assets/join_room-FhxeH2Iy.js","/assets/live_games-Cd8YA3s_.js","/assets/news-Yra2yOfk.js","/assets/organise-BRyOxGdh.js","/assets/own_hub-CtUDN_wZ.js","/assets/player-BzxWhhfa.js","/assets/players-B4iv-eyB.js","/assets/protocol-3RimUV6O.js","/assets/records-DuFlzuVf.js","/assets/replay-BMvo869x.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-CSDoCP5G.js","/assets/rooms-CbiUuVAp.js","/assets/rules-BGX1hAc9.js","/assets/shared-CvcZuVUJ.js","/assets/tournament-HGiZ9dOA.js","/assets/tournaments-bpyA1reN.js","/assets/worker-Cy5PB3jA.js","/assets/zh-CejqxqE9.js"];
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
