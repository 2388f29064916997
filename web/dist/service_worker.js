const VERSION = "9a394357a7f16190";
const FILES = ["/assets/ai-CwjvHSyv.js","/assets/ais-BLRGPviV.js","/assets/analysis-tSy0KSar.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-C3p4oS3T.js","/assets/explore-7zXHbh3I.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-DcKKzjBY.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-C7m_HtlF.js","/assets/index-DLAe0z__.css","/assets/ja-BFUWx0Dh.js","/assets/join_room-5h0N8S-Q.js","/assets/live_games-CLjMg4h3.js","/assets/own_hub-DYM_ZdOP.js","/assets/player-ttBP5NBg.js","/assets/protocol-jk_Td61v.js","/assets/records-CcsQJWoU.js","/assets/replay-BgB5T7Lx.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-C__d7R0G.js","/assets/rooms-BB_1CxzZ.js","/assets/rules-UeFD3V3F.js","/assets/shared-onuVSms5.js","/assets/worker-DxHFbTWo.js","/assets/zh-D7bRXTko.js"];
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
