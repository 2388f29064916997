/** An idempotency key: the server answers a repeated id with the first result. */
export function requestId(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join("-");
}
