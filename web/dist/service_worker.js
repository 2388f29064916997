const VERSION = "65da97bb0a192e3e";
const FILES = ["/assets/ai-C9YT1wD4.js","/assets/ais-DEy31LFC.js","/assets/analysis-CDmIeeVk.js","/assets/appearance-Dr-KH_pG.js","/assets/bots-C_GUCbxz.js","/assets/create_room-D6w5_uSy.js","/assets/explore-XBoZyHXb.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-DwvULQID.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BIN-q6cF.css","/assets/index-DRk10NJI.js","/assets/ja-B42haME6.js","/assets/join_room-CrdX58qT.js","/assets/live_games-Hdh-jIAz.js","/assets/own_hub-3NsBscWS.js","/assets/player-Basq86_p.js","/assets/players-DYhlZAcw.js","/assets/protocol-26WznRaj.js","/assets/records-Dn5wGweA.js","/assets/replay-DSVhRL4h.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-D8frOEgZ.js","/assets/rooms-BTm-QJUE.js","/assets/rules-scGVP99F.js","/assets/shared-vAi44Nmg.js","/assets/worker-BaRT-v1x.js","/assets/zh-IyLO6FnS.js"];
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
