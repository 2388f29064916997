// Keeps one version of the page, so that it opens without a connection. With a connection the server's page is shown:
// only files whose names contain a hash of their content come from the cache. Calls and /embed are left alone.

/** Changes with each build. */
declare const VERSION: string;

/** The paths of the files with a hash in their names. */
declare const FILES: readonly string[];

/** The longest wait for the server's page, in milliseconds, where an earlier one is kept. */
const PATIENCE = 4_000;

const worker = self as unknown as ServiceWorkerGlobalScope;
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

async function install(): Promise<void> {
  const cache = await caches.open(CACHE);
  await cache.addAll(["/", ...FILES]);
  await worker.skipWaiting();
}

async function removeOldVersions(): Promise<void> {
  const old = (await caches.keys()).filter((name) => name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
}

/** The server's answer, or the kept one where there is none, it takes too long, or a proxy says that there is no server. */
async function networkFirst(request: Request): Promise<Response> {
  const answer = fetch(request).then(
    (response) => (response.status < 500 ? response : undefined),
    () => undefined,
  );
  const tooLong = new Promise<undefined>((resolve) => setTimeout(resolve, PATIENCE));
  return (await Promise.race([answer, tooLong])) ?? (await caches.match("/")) ?? (await answer) ?? Response.error();
}

async function cacheFirst(request: Request): Promise<Response> {
  return (await caches.match(request)) ?? fetch(request);
}
