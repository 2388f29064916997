const VERSION = "7a79d73fdb3e7810";
const FILES = ["/assets/ai-3kcN2VWk.js","/assets/ais-CRlcPB0E.js","/assets/analysis-Bt9gU4u_.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-CnkP869v.js","/assets/explore-y5Q1pYdw.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-8I2UnnIu.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-DLAe0z__.css","/assets/index-DUoXtL-h.js","/assets/ja-DYTawSKB.js","/assets/join_room-CMQ_NdsZ.js","/assets/live_games-D0GAQn4K.js","/assets/own_hub-LUjP182S.js","/assets/player-CsYgfU5b.js","/assets/protocol-CTn1DFHX.js","/assets/records-fqU36tIP.js","/assets/replay-Dn-vj7_4.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-BZVPGsPt.js","/assets/rooms-CveXJ7YJ.js","/assets/rules-BOX5Cfi2.js","/assets/shared-CDohVKlR.js","/assets/worker-BYgGpUgt.js","/assets/zh-C-tvdKnf.js"];
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
