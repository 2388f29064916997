import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

const FULL = "5f".repeat(32);
const OTHER = "0a".repeat(32);
const PLAY = `play_${"77".repeat(32)}`;

const getMe = vi.fn();
vi.mock("../../api/client", () => ({ sessions: { getMe } }));

beforeEach(() => {
  vi.resetModules();
  vi.useFakeTimers();
  vi.stubGlobal("document", { hidden: false });
  vi.stubGlobal("localStorage", { getItem: () => null, setItem: () => {}, removeItem: () => {} });
  getMe.mockReset();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const asked = () => getMe.mock.calls.map(([, { headers }]) => headers.authorization);

it("asks for a bot with its own token, at most every ten seconds, while the page is seen", async () => {
  getMe.mockResolvedValue({ playToken: "" });
  const { addBot, watchBots } = await import("./bots");
  addBot(FULL);
  const stop = watchBots();
  await vi.advanceTimersByTimeAsync(9_000);
  expect(asked()).toEqual([`Bearer ${FULL}`]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(getMe).toHaveBeenCalledTimes(2);
  vi.stubGlobal("document", { hidden: true });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(getMe).toHaveBeenCalledTimes(2);
  vi.stubGlobal("document", { hidden: false });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(getMe).toHaveBeenCalledTimes(3);
  stop();
  watchBots()();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(getMe).toHaveBeenCalledTimes(3);
});

it("keeps the play token in place of the token that it is made of, once", async () => {
  getMe.mockImplementation(async (_, { headers }) => ({ playToken: headers.authorization.includes(FULL) ? PLAY : "" }));
  const { addBot, botStates, botTokens } = await import("./bots");
  addBot(PLAY);
  addBot(OTHER);
  addBot(FULL);
  await vi.advanceTimersByTimeAsync(0);
  expect(botTokens.value).toEqual([OTHER, PLAY]);
  expect([...botStates.value.keys()].sort()).toEqual([OTHER, PLAY]);
});

it("asks no more with a refused token, and again after another failure", async () => {
  const { addBot, botStates, isTokenRefused, watchBots } = await import("./bots");
  getMe.mockResolvedValueOnce({ playToken: "", seatLimit: 3 });
  getMe.mockRejectedValueOnce(new ConnectError("offline", Code.Unavailable));
  getMe.mockRejectedValueOnce(new ConnectError("revoked", Code.Unauthenticated));
  addBot(PLAY);
  const stop = watchBots();
  await vi.advanceTimersByTimeAsync(11_000);
  expect(botStates.value.get(PLAY)).toMatchObject({ me: { seatLimit: 3 }, refused: { code: Code.Unavailable } });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(getMe).toHaveBeenCalledTimes(3);
  const state = botStates.value.get(PLAY);
  expect(state && isTokenRefused(state)).toBe(true);
  stop();
});
