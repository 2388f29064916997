import { useEffect, useRef, useState } from "preact/hooks";
import { records } from "../../api/records";
import { refusal } from "../../api/refusal";
import type { Player } from "../../gen/reversi/v1/types_pb";
import { retry } from "../../api/retry";
import { attempt } from "../../state/call";
import { text } from "../../text/text";

interface PlayerFieldProps {
  /** The chosen player; empty for any. */
  name: string;
  choose: (player: Player | undefined) => void;
}

/** Chooses a player by name, present or departed; empty for any. */
export function PlayerField({ name: chosen, choose }: PlayerFieldProps) {
  const { archive } = text.value;
  const [unknown, setUnknown] = useState("");
  const asked = useRef("");
  const field = useRef<HTMLInputElement>(null);
  const find = async (name: string) => {
    asked.current = name;
    setUnknown("");
    const player = name ? await attempt(() => retry(() => playerOf(name))) : undefined;
    // Another name may have been asked for meanwhile.
    if (asked.current !== name) return;
    if (player === "nobody") setUnknown(name);
    choose(player === "nobody" ? undefined : player);
  };
  // The choice may come from the address; a name that nobody has stays in the field.
  useEffect(() => {
    if (field.current && !unknown) field.current.value = chosen;
  }, [chosen]);
  return (
    <label class="field">
      <span>{archive.player}</span>
      <input
        ref={field}
        type="search"
        maxLength={24}
        autoComplete="off"
        placeholder={archive.playerName}
        onChange={(event) => void find(event.currentTarget.value.trim())}
      />
      {unknown && <span role="alert">{archive.nobody(unknown)}</span>}
    </label>
  );
}

async function playerOf(displayName: string): Promise<Player | "nobody" | undefined> {
  try {
    return (await records.getPlayerStats({ displayName })).player;
  } catch (error) {
    if (UNKNOWN.has(refusal(error).reason)) return "nobody";
    throw error;
  }
}

/** Reasons to refuse a name that no player can have, or that none has had. */
const UNKNOWN: ReadonlySet<string> = new Set(["PLAYER_NOT_FOUND", "BAD_NAME", "BAD_ARGUMENT"]);
