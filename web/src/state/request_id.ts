/** Makes one call repeatable: the server answers the same id with what it did the first time. */
export function requestId(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join("-");
}
