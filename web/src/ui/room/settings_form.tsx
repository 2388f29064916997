import type { Duration } from "@bufbuild/protobuf/wkt";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { milliseconds } from "../../game/clock";
import { type RoomSettings, type RoomSettingsSchema, Visibility, Watching } from "../../gen/reversi/v1/types_pb";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Refusal } from "../../api/refusal";
import { serverInfo } from "../../state/server_info";
import { refusalText, text } from "../../text/text";
import { SegmentedControl } from "../control/segmented_control";

/** Room settings as the form shows them, with times in the form's units. */
export interface Draft {
  name: string;
  /** Empty keeps the present password. */
  password: string;
  /** Removes the password. */
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
  start: Start;
  randomPlies: number;
  /** That of the present opening: another one would be a change of terms, which clears readiness. */
  seed?: bigint;
  /** A given opening, for which the form has no field; kept unless another opening is chosen. */
  moves?: string;
  /** A sequential test that ends the series; the form has no field for it. */
  sprt?: RoomSettings["sprt"];
}

/** The opening of each game. */
type Start = "standard" | "balanced" | "random";

const RANDOM_PLIES = 8;

/** The settings of a new room: enough time to think, and AI moves slow enough to follow. */
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
  start: "standard",
  randomPlies: RANDOM_PLIES,
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
    start: opening.case === "random" || opening.case === "balanced" ? opening.case : "standard",
    randomPlies: opening.case === "random" ? opening.value.plies : RANDOM_PLIES,
    ...((opening.case === "random" || opening.case === "balanced") && { seed: opening.value.seed }),
    ...(opening.case === "moves" && { moves: opening.value }),
    ...(settings.sprt && { sprt: settings.sprt }),
  };
}

/** The settings that this form has: others stay as they are. */
export const SAVED_FIELDS = [
  "name",
  "visibility",
  "watching",
  "move_limit",
  "total_time",
  "increment",
  "ai_pause",
  "games",
  "swap_sides",
  "auto_start",
  "rated",
  "opening",
  "sprt",
];

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
    ...(draft.sprt && inPairs(draft) && { sprt: draft.sprt }),
  };
}

/** Whether each opening is played twice, with sides swapped. */
function inPairs({ games, swapSides, start }: Draft): boolean {
  return games > 1 && swapSides && start !== "standard";
}

function openingOf(draft: Draft): MessageInitShape<typeof RoomSettingsSchema>["opening"] {
  const { start, randomPlies, moves, rated } = draft;
  const [drawn = 0] = crypto.getRandomValues(new Uint32Array(1));
  const seed = draft.seed ?? BigInt(drawn);
  if (start === "random") return { opening: { case: "random", value: { plies: randomPlies, seed } } };
  if (start === "balanced") return { opening: { case: "balanced", value: { seed } } };
  // Rated games begin at no opening of the owner's choice.
  return moves && !rated ? { opening: { case: "moves", value: moves } } : { opening: { case: "standard", value: {} } };
}

interface SettingsFormProps {
  draft: Draft;
  change: (draft: Draft) => void;
  /** Whether the room has a password. */
  hasPassword?: boolean;
  /** Why the settings were refused; shown at the field that the refusal names. */
  refused?: Refusal | undefined;
}

/** The numbers of the form by the fields that the server names. */
const NUMBER_OF: Readonly<Record<string, NumberKey>> = {
  "settings.move_limit": "moveSeconds",
  "settings.total_time": "totalMinutes",
  "settings.increment": "incrementSeconds",
  "settings.ai_pause": "pauseSeconds",
  "settings.games": "games",
  "settings.opening.random.plies": "randomPlies",
};

/** The refusal of settings that the form shows; `isShown` and `forget` are for the call that sends them. */
export function useRefusedSettings() {
  const [refused, setRefused] = useState<Refusal | undefined>();
  const isShown = (by: Refusal) => {
    if (!(by.field && by.field in NUMBER_OF)) return false;
    setRefused(by);
    return true;
  };
  return { refused, isShown, forget: () => setRefused(undefined) };
}

/** The fields of a room's settings: the common ones, the others folded. */
export function SettingsForm({ draft, change, hasPassword = false, refused }: SettingsFormProps) {
  const { create } = text.value;
  const limits = serverInfo.value?.limits;
  const wrong = refused && NUMBER_OF[refused.field ?? ""];
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (wrong && details.current) details.current.open = true;
    if (wrong) details.current?.querySelector<HTMLElement>("[aria-invalid='true']")?.focus();
  }, [refused]);
  const number = (key: NumberKey, label: string, most: number, step = 1, hint = "") => (
    <label class="field">
      <span>
        {label} {hint && <small>({hint})</small>}
      </span>
      <input
        type="number"
        min={least(key, draft)}
        max={most}
        step={step}
        required
        value={draft[key]}
        aria-invalid={key === wrong}
        onInput={(event) => change({ ...draft, [key]: Number(event.currentTarget.value) })}
      />
      {refused && key === wrong && <span role="alert">{refusalText(text.value, refused)}</span>}
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
      {check("autoStart", create.autoStart)}
      {check("hidden", create.private)}
      <details ref={details} onInvalidCapture={(event) => (event.currentTarget.open = true)}>
        <summary>{create.advanced}</summary>
        <div class="stack">
          <div class="pair">
            {number("moveSeconds", create.moveLimit, 86_400, 1, draft.totalMinutes > 0 ? create.zero : "")}
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
          <SegmentedControl
            label={create.opening}
            value={draft.start}
            choose={(start) => change({ ...draft, start })}
            options={[
              ["standard", create.standard],
              ["balanced", create.balanced],
              ["random", create.random],
            ]}
          />
          {draft.start === "random" && number("randomPlies", create.plies, MOST_RANDOM_PLIES)}
          {check("swapSides", create.swap)}
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

const MOST_RANDOM_PLIES = 20;

/** A game has at least one limit of time. */
function least(key: NumberKey, { totalMinutes }: Draft): number {
  return key === "games" || key === "randomPlies" || (key === "moveSeconds" && totalMinutes === 0) ? 1 : 0;
}

function seconds(time: Duration | undefined): number {
  return time ? milliseconds(time) / 1000 : 0;
}

function duration(time: number): { seconds: bigint; nanos: number } {
  const whole = Math.floor(time);
  return { seconds: BigInt(whole), nanos: Math.round((time - whole) * 1e9) };
}
