const VERSION = "6d3f2394de51d84e";
const FILES = ["/assets/ai-B1PeoU8N.js","/assets/ais-BSSqp8TU.js","/assets/analysis-Dy1k8qUo.js","/assets/appearance-Dr-KH_pG.js","/assets/bots-B2uF8u5S.js","/assets/create_room-DPney31N.js","/assets/explore-CsxLINwD.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-BDrWa8em.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-DA0FZ_Y8.css","/assets/index-Ry8KQUdS.js","/assets/ja-lh0nKW2r.js","/assets/join_room-Bxolho4s.js","/assets/live_games-DbexbGR4.js","/assets/news-Dl9rkMtX.js","/assets/organise-SoWFPFm9.js","/assets/own_hub-I5_ReZ0U.js","/assets/player-D4-AL53A.js","/assets/players-BbrsTA5K.js","/assets/protocol-bGy33WLB.js","/assets/records-BtSnDMZ0.js","/assets/replay-Dn4_jC2a.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-CwjdjgNt.js","/assets/rooms-DVxVJ_PM.js","/assets/rules-DxxLbYYh.js","/assets/shared-Imb0gblJ.js","/assets/tournament-DfNji8n7.js","/assets/tournaments-o1zqVqIu.js","/assets/worker-txKkke4I.js","/assets/zh-Depyh_z1.js"];
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
