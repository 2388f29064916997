const VERSION = "1fd11aedeb648abc";
const FILES = ["/assets/ai-BWqfZ5-a.js","/assets/ais-DuH2dJuQ.js","/assets/analysis-BUkpacem.js","/assets/appearance-Dr-KH_pG.js","/assets/bots-D-RI2d6J.js","/assets/create_room-Rzoeci-4.js","/assets/explore-x3mw6Rtd.js","/assets/first_paint-DKcy6ZGc.css","/assets/gifenc-BgRG_TFA.js","/assets/home-Bm8Q2HUk.js","/assets/icon_turn-CKn0XoSb.svg","/assets/index-Bb4DJ8IU.js","/assets/index-DA0FZ_Y8.css","/assets/ja-Cr2B_ua3.js","/assets/join_room-6bt5OmLC.js","/assets/live_games--aoHNJG0.js","/assets/news-qmszA6-B.js","/assets/organise-dyYARRkg.js","/assets/own_hub-ByFTjggU.js","/assets/player-CnN4NUCM.js","/assets/players-BTzeJaWS.js","/assets/protocol-DHI4S0v6.js","/assets/records-CEtPVbkN.js","/assets/replay-DX8-rxlh.js","/assets/rolldown-runtime-WkwZ5CU-.js","/assets/room-CslTzFwU.js","/assets/rooms-ziaGDTUH.js","/assets/rules-HlpioRfv.js","/assets/shared-DAoxObjZ.js","/assets/tournament-CiiXJUpl.js","/assets/tournaments-BGEcTbS2.js","/assets/worker-BJ2LDO2J.js","/assets/zh-CglLUzqh.js"];
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
