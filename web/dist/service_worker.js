const VERSION = "da67ee7866123fcd";
const FILES = ["/assets/ai-BtOxkOc5.js","/assets/ais-L_WwujhB.js","/assets/analysis-DcdeRV-R.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-DG9SkzV-.js","/assets/explore-DN8HcYLz.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-ClMK_b5E.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BRYVFTud.js","/assets/index-DPxgCcE-.css","/assets/ja-CEb9m829.js","/assets/join_room-CVoHQcCm.js","/assets/live_games-CVJvHsnY.js","/assets/own_hub-ri1OqWwx.js","/assets/player-Dp3tiYoR.js","/assets/players-5Q0m9TtB.js","/assets/protocol-BGIap93g.js","/assets/records-B2tlnw7d.js","/assets/replay-Da417JAR.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-DL6I5gms.js","/assets/rooms-B_VtLB8j.js","/assets/rules-B1mLGv6B.js","/assets/shared-CTMzJpuI.js","/assets/worker-B_zEHMqj.js","/assets/zh-NAQxHWMn.js"];
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
