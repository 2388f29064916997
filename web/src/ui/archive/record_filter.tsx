import type { ComponentChildren } from "preact";
import { OPENING_NAMES } from "../../game/opening/opening_names";
import { ParticipantKind } from "../../gen/reversi/v1/record_pb";
import { GameResult, type Player } from "../../gen/reversi/v1/types_pb";
import { text } from "../../text/text";
import { PlayerField } from "./player_field";

/** Which finished games are listed. */
export interface RecordFilter {
  player: Player | undefined;
  kind: ParticipantKind;
  result: GameResult;
  /** The name of an opening; empty for any. */
  opening: string;
  rated: boolean;
  minRating: number;
  /** A day, as YYYY-MM-DD; empty for none. */
  until: string;
}

export const ALL_GAMES: RecordFilter = {
  player: undefined,
  kind: ParticipantKind.UNSPECIFIED,
  result: GameResult.UNSPECIFIED,
  opening: "",
  rated: false,
  minRating: 0,
  until: "",
};

const RATINGS = [0, 1400, 1600, 1800, 2000];

interface RecordFilterFormProps {
  filter: RecordFilter;
  change: (changed: Partial<RecordFilter>) => void;
}

export function RecordFilterForm({ filter, change }: RecordFilterFormProps) {
  const { archive, create, stats } = text.value;
  const kinds = [
    [ParticipantKind.UNSPECIFIED, archive.everyone],
    [ParticipantKind.HUMAN, stats.humans],
    [ParticipantKind.BOT, stats.bots],
    [ParticipantKind.AI, stats.ais],
  ] as const;
  const results = [
    [GameResult.UNSPECIFIED, archive.any],
    [GameResult.BLACK_WINS, archive.blackWins],
    [GameResult.WHITE_WINS, archive.whiteWins],
    [GameResult.DRAW, archive.draw],
    [GameResult.ABORTED, stats.aborted],
  ] as const;
  return (
    <div class="record-filter">
      <PlayerField choose={(player) => change({ player })} />
      <Choice label={archive.who} value={filter.kind} set={(kind) => change({ kind: Number(kind) })}>
        {kinds.map(([kind, name]) => (
          <option value={kind}>{name}</option>
        ))}
      </Choice>
      <Choice label={archive.result} value={filter.result} set={(result) => change({ result: Number(result) })}>
        {results.map(([result, name]) => (
          <option value={result}>{name}</option>
        ))}
      </Choice>
      <Choice label={create.opening} value={filter.opening} set={(opening) => change({ opening })}>
        <option value="">{archive.any}</option>
        {OPENING_NAMES.map((name) => (
          <option>{name}</option>
        ))}
      </Choice>
      <Choice
        label={archive.minRating}
        value={filter.minRating}
        set={(rating) => change({ minRating: Number(rating) })}
      >
        {RATINGS.map((rating) => (
          <option value={rating}>{rating || archive.any}</option>
        ))}
      </Choice>
      <label class="field">
        <span>{archive.until}</span>
        <input type="date" value={filter.until} onChange={(event) => change({ until: event.currentTarget.value })} />
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={filter.rated}
          onChange={(event) => change({ rated: event.currentTarget.checked })}
        />
        <span>{archive.ratedOnly}</span>
      </label>
    </div>
  );
}

interface ChoiceProps {
  label: string;
  value: string | number;
  set: (value: string) => void;
  children: ComponentChildren;
}

function Choice({ label, value, set, children }: ChoiceProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => set(event.currentTarget.value)}>
        {children}
      </select>
    </label>
  );
}
