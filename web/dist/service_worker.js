const VERSION = "8b7d76a26049da16";
const FILES = ["/assets/ai-CKXwmaPM.js","/assets/ais-Dd3EKqeB.js","/assets/analysis-D_Z-r0N9.js","/assets/appearance-Dr-KH_pG.js","/assets/create_room-CmCIKtwk.js","/assets/explore-DnG738zB.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-BQyiC7QV.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-Bw-3I3WT.js","/assets/index-D3NBlHpX.css","/assets/ja-Rx1i-jKg.js","/assets/join_room-BMdif1wg.js","/assets/live_games-BsYVClAd.js","/assets/player-DMdapvko.js","/assets/protocol-BnDYhC2l.js","/assets/records-9PBo00NY.js","/assets/replay-DNzsBj-W.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-CDqvfJQu.js","/assets/rooms-D9cIhmuu.js","/assets/rules-D6XUtSYv.js","/assets/shared-BmPejvrt.js","/assets/zh-CIv4m8_O.js"];
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
async function networkFirst(request) {
	try {
		return await fetch(request);
	} catch {
		return await caches.match("/") ?? Response.error();
	}
}
async function cacheFirst(request) {
	return await caches.match(request) ?? fetch(request);
}
