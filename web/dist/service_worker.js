const VERSION = "9e7fcc5bf9182c17";
const FILES = ["/assets/ai-D-cQXd9q.js","/assets/ais-DA6AysYD.js","/assets/analysis-C2fmFhNt.js","/assets/appearance-Dr-KH_pG.js","/assets/bots-BiDdBw2c.js","/assets/create_room-ianPUzQL.js","/assets/explore-CWRDh_QH.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-BzHAlmRU.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-BIN-q6cF.css","/assets/index-QYy8atm8.js","/assets/ja-BWYCf77Q.js","/assets/join_room-LPhX1KBA.js","/assets/live_games-_63eFsSN.js","/assets/own_hub-DaU-MdJP.js","/assets/player-kTmXc0_r.js","/assets/players-9rMa5ytU.js","/assets/protocol-DHIFEVyF.js","/assets/records-Baj0Iw9Q.js","/assets/replay-BwqBL5I7.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-CKraH6So.js","/assets/rooms-rK9FQua_.js","/assets/rules-Cb7DNevD.js","/assets/shared-CjZjER8R.js","/assets/worker-Ctpz5PHS.js","/assets/zh-QfvU5U58.js"];
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
