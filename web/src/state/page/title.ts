import { effect, signal } from "@preact/signals";
import { text } from "../../text/text";
import { turns } from "../stream/turn_stream";

/** The name of the screen; empty if it has none. */
export const screenName = signal("");

const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
const ICON = icon?.href ?? "";
const TURN_ICON = new URL("../../icon_turn.svg", import.meta.url).href;

// Title and icon of the tab: the player's turn, or else the screen.
effect(() => {
  const { brand, game } = text.value;
  const mine = turns.value.size > 0;
  const name = mine ? `● ${game.yourTurn}` : screenName.value;
  document.title = name ? `${name} – ${brand}` : brand;
  if (icon) icon.href = mine ? TURN_ICON : ICON;
});
