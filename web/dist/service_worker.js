const VERSION = "a1171e82fddeea6d";
const FILES = ["/assets/ai-BcQHtBeu.js","/assets/ais-DeVYCg1W.js","/assets/analysis-6wtRlEJ-.js","/assets/appearance-Dr-KH_pG.js","/assets/bots-Dwn0BFlP.js","/assets/create_room-CsT_UDUv.js","/assets/explore-NRE5KZsY.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-CGnboCQp.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BvfFbc2s.css","/assets/index-jqftAjM4.js","/assets/ja-Bxj0cJnD.js","/assets/join_room-B3xwhg0d.js","/assets/live_games-DiVhJzOL.js","/assets/news-CdK6aCin.js","/assets/organise-BhLvUnS-.js","/assets/own_hub-C85i3tmz.js","/assets/player-3roLtffB.js","/assets/players-D8dObggg.js","/assets/protocol-3RimUV6O.js","/assets/records-CRKaHSjf.js","/assets/replay-D5cPcQND.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-bxMUGCif.js","/assets/rooms-BhiMsoyj.js","/assets/rules-CUvspnP5.js","/assets/shared-CwitdTnO.js","/assets/tournament-CXbPfhnB.js","/assets/tournaments-BiMxvSGg.js","/assets/worker-Cy5PB3jA.js","/assets/zh-PDAbnv4u.js"];
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
