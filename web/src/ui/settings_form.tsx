import type { Duration } from "@bufbuild/protobuf/wkt";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { milliseconds } from "../game/clock";
import { type RoomSettings, type RoomSettingsSchema, Visibility, Watching } from "../gen/reversi/v1/types_pb";
import { server } from "../state/server";
import { text } from "../text/text";
import { Segments } from "./segments";

/** The settings of a room while they are being made; times in the units that the form shows. */
export interface Draft {
  name: string;
  /** Empty leaves a room's password as it is. */
  password: string;
  /** Takes the password away that a room has. */
  noPassword: boolean;
  hidden: boolean;
  membersOnly: boolean;
  moveSeconds: number;
  totalMinutes: number;
  incrementSeconds: number;
  pauseSeconds: number;
  games: number;
  swapSides: boolean;
  autoStart: boolean;
  rated: boolean;
  /** 0 for the standard start. */
  randomPlies: number;
  /** An opening that the form has no field for; kept while the player chooses no other. */
  moves?: string;
}

/** What a new room begins with: time to think, and AIs that can be followed. */
export const FIRST_DRAFT: Draft = {
  name: "",
  password: "",
  noPassword: false,
  hidden: false,
  membersOnly: false,
  moveSeconds: 60,
  totalMinutes: 0,
  incrementSeconds: 0,
  pauseSeconds: 0.8,
  games: 1,
  swapSides: true,
  autoStart: false,
  rated: false,
  randomPlies: 0,
};

export function draftOf(settings: RoomSettings | undefined): Draft {
  if (!settings) return FIRST_DRAFT;
  const { opening } = settings.opening ?? { opening: { case: undefined } };
  return {
    name: settings.name,
    password: "",
    noPassword: false,
    hidden: settings.visibility === Visibility.PRIVATE,
    membersOnly: settings.watching === Watching.MEMBERS,
    moveSeconds: seconds(settings.moveLimit),
    totalMinutes: seconds(settings.totalTime) / 60,
    incrementSeconds: seconds(settings.increment),
    pauseSeconds: seconds(settings.aiPause),
    games: settings.games,
    swapSides: settings.swapSides ?? true,
    autoStart: settings.autoStart,
    rated: settings.rated,
    randomPlies: opening.case === "random" ? opening.value.plies : 0,
    ...(opening.case === "moves" && { moves: opening.value }),
  };
}

export function changesOf(draft: Draft): MessageInitShape<typeof RoomSettingsSchema> {
  return {
    name: draft.name.trim(),
    visibility: draft.hidden ? Visibility.PRIVATE : Visibility.PUBLIC,
    watching: draft.membersOnly ? Watching.MEMBERS : Watching.EVERYONE,
    moveLimit: duration(draft.moveSeconds),
    ...(draft.totalMinutes > 0 && { totalTime: duration(draft.totalMinutes * 60) }),
    ...(draft.totalMinutes > 0 && { increment: duration(draft.incrementSeconds) }),
    aiPause: duration(draft.pauseSeconds),
    games: draft.games,
    swapSides: draft.swapSides,
    autoStart: draft.autoStart,
    rated: draft.rated,
    opening: openingOf(draft),
  };
}

function openingOf({ randomPlies, moves }: Draft): MessageInitShape<typeof RoomSettingsSchema>["opening"] {
  if (randomPlies > 0) {
    const [seed = 0] = crypto.getRandomValues(new Uint32Array(1));
    return { opening: { case: "random", value: { plies: randomPlies, seed: BigInt(seed) } } };
  }
  return moves ? { opening: { case: "moves", value: moves } } : { opening: { case: "standard", value: {} } };
}

interface SettingsFormProps {
  draft: Draft;
  change: (draft: Draft) => void;
  /** Whether the room has one already. */
  hasPassword?: boolean;
}

/** The fields of a room's settings: the common ones, the others folded. */
export function SettingsForm({ draft, change, hasPassword = false }: SettingsFormProps) {
  const { create } = text.value;
  const limits = server.value?.limits;
  const number = (key: NumberKey, label: string, most: number, step = 1, hint = "") => (
    <label class="field">
      <span>
        {label} {hint && <small>({hint})</small>}
      </span>
      <input
        type="number"
        min={key === "games" ? 1 : 0}
        max={most}
        step={step}
        required
        value={draft[key]}
        onInput={(event) => change({ ...draft, [key]: Number(event.currentTarget.value) })}
      />
    </label>
  );
  const check = (key: BooleanKey, label: string) => (
    <label class="check">
      <input
        type="checkbox"
        checked={draft[key]}
        onChange={(event) => change({ ...draft, [key]: event.currentTarget.checked })}
      />
      <span>{label}</span>
    </label>
  );
  return (
    <>
      <label class="field">
        <span>{create.name}</span>
        <input
          value={draft.name}
          maxLength={limits?.roomNameCharacters ?? 40}
          onInput={(event) => change({ ...draft, name: event.currentTarget.value })}
        />
      </label>
      {check("hidden", create.private)}
      <details onInvalidCapture={(event) => (event.currentTarget.open = true)}>
        <summary>{create.advanced}</summary>
        <div class="stack">
          <div class="pair">
            {number("moveSeconds", create.moveLimit, 86_400, 1, create.zero)}
            {number("totalMinutes", create.total, 1440, 0.5, create.zero)}
            {number("incrementSeconds", create.increment, 3600)}
            {number("pauseSeconds", create.pause, 10, 0.1)}
            {number("games", create.games, limits?.gamesPerSeries ?? 1000)}
            <label class="field">
              <span>
                {create.password} <small>({hasPassword ? create.passwordKept : create.passwordWhy})</small>
              </span>
              <input
                type="password"
                autoComplete="new-password"
                disabled={draft.noPassword}
                value={draft.password}
                onInput={(event) => change({ ...draft, password: event.currentTarget.value })}
              />
            </label>
          </div>
          {hasPassword && check("noPassword", create.noPassword)}
          <Segments
            label={create.opening}
            value={draft.randomPlies > 0 ? "random" : "standard"}
            choose={(opening) => change({ ...draft, randomPlies: opening === "random" ? RANDOM_PLIES : 0 })}
            options={[
              ["standard", create.standard],
              ["random", create.random],
            ]}
          />
          {draft.randomPlies > 0 && number("randomPlies", create.plies, MOST_RANDOM_PLIES)}
          {check("swapSides", create.swap)}
          {check("autoStart", create.autoStart)}
          {check("membersOnly", create.membersOnly)}
          {check("rated", create.rated)}
        </div>
      </details>
    </>
  );
}

type KeysOf<T> = { [K in keyof Draft]-?: Draft[K] extends T ? K : never }[keyof Draft];
type NumberKey = KeysOf<number>;
type BooleanKey = KeysOf<boolean>;

const RANDOM_PLIES = 8;
const MOST_RANDOM_PLIES = 20;

function seconds(time: Duration | undefined): number {
  return time ? milliseconds(time) / 1000 : 0;
}

function duration(time: number): { seconds: bigint; nanos: number } {
  const whole = Math.floor(time);
  return { seconds: BigInt(whole), nanos: Math.round((time - whole) * 1e9) };
}
