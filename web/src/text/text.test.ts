import { Code } from "@connectrpc/connect";
import { expect, it, vi } from "vitest";
import { en } from "./en";

vi.stubGlobal("navigator", { languages: [] });
vi.stubGlobal("document", { documentElement: {} });
vi.stubGlobal("localStorage", { getItem: () => null });

it("tells the banned why and until when", async () => {
  const { refusalText } = await import("./text");
  const refused = { code: Code.PermissionDenied, reason: "BANNED", message: "" };
  expect(refusalText(en, refused)).toBe(en.refusal.BANNED);
  const ban = { scope: "name", reason: "spam", until: "2026-01-02T10:00:00Z" };
  expect(refusalText(en, { ...refused, ban })).toMatch(/^Your name is banned .* until .*2026.*\. Reason: spam$/);
  expect(refusalText(en, { ...refused, ban: { scope: "network" } })).toBe("Your network is banned from this server.");
});
