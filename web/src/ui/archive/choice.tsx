import type { ComponentChildren } from "preact";
import { ParticipantKind } from "../../gen/reversi/v1/record_pb";
import { text } from "../../text/text";

interface ChoiceProps {
  label: string;
  value: string | number;
  set: (value: string) => void;
  children: ComponentChildren;
}

export function Choice({ label, value, set, children }: ChoiceProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => set(event.currentTarget.value)}>
        {children}
      </select>
    </label>
  );
}

/** Chooses people, bots or AIs. */
export function KindChoice({ kind, set }: { kind: ParticipantKind; set: (kind: ParticipantKind) => void }) {
  const { archive, stats } = text.value;
  const kinds = [
    [ParticipantKind.UNSPECIFIED, archive.everyone],
    [ParticipantKind.HUMAN, stats.humans],
    [ParticipantKind.BOT, stats.bots],
    [ParticipantKind.AI, stats.ais],
  ] as const;
  return (
    <Choice label={archive.who} value={kind} set={(value) => set(Number(value))}>
      {kinds.map(([value, name]) => (
        <option key={value} value={value}>
          {name}
        </option>
      ))}
    </Choice>
  );
}

const RATINGS = [0, 1400, 1600, 1800, 2000];

/** Chooses the least rating. */
export function RatingChoice({ minRating, set }: { minRating: number; set: (minRating: number) => void }) {
  const { archive } = text.value;
  return (
    <Choice label={archive.minRating} value={minRating} set={(value) => set(Number(value))}>
      {RATINGS.map((rating) => (
        <option key={rating} value={rating}>
          {rating || archive.any}
        </option>
      ))}
    </Choice>
  );
}
