const VERSION = "80995201292e1c97";
const FILES = ["/assets/ai-Ce5oFHZ2.js","/assets/ais-Cz3y3MDK.js","/assets/analysis-CBLpaLMw.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-Dlt2UVlG.js","/assets/explore-DOxF_49g.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-CzABJKKd.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-DCZEmoDf.js","/assets/index-DPxgCcE-.css","/assets/ja-CEb9m829.js","/assets/join_room-DszBPwEJ.js","/assets/live_games-D6NuIf6A.js","/assets/own_hub-CQc2MQrh.js","/assets/player-COco1gVL.js","/assets/players-BLtIuAZQ.js","/assets/protocol-BGIap93g.js","/assets/records-BPSbK7BL.js","/assets/replay-DXE9-PNf.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-RXQpLJTC.js","/assets/rooms-BVPiRcB9.js","/assets/rules-DHA9xA6Y.js","/assets/shared-G57kbUKZ.js","/assets/worker-B_zEHMqj.js","/assets/zh-Bh0iGkhf.js"];
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
