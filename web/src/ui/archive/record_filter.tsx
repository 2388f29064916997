import { useState } from "preact/hooks";
import { OPENING_NAMES } from "../../game/opening/opening_names";
import { GameResult } from "../../gen/reversi/v1/types_pb";
import { query, type RecordFilter } from "../../record_filter";
import { text } from "../../text/text";
import { Choice, KindChoice, RatingChoice } from "./choice";
import { PlayerField } from "./player_field";

interface RecordFilterFormProps {
  filter: RecordFilter;
  change: (changed: Partial<RecordFilter>) => void;
}

/** The filter, folded at first in a narrow window that shows all games. */
export function RecordFilterForm(props: RecordFilterFormProps) {
  const [open] = useState(() => matchMedia("(min-width: 40rem)").matches || query(props.filter) !== "");
  return (
    <details open={open}>
      <summary>{text.value.archive.filter}</summary>
      <Fields {...props} />
    </details>
  );
}

function Fields({ filter, change }: RecordFilterFormProps) {
  const { archive, create, stats } = text.value;
  const results = [
    [GameResult.UNSPECIFIED, archive.any],
    [GameResult.BLACK_WINS, archive.blackWins],
    [GameResult.WHITE_WINS, archive.whiteWins],
    [GameResult.DRAW, archive.draw],
    [GameResult.ABORTED, stats.aborted],
  ] as const;
  return (
    <div class="record-filter">
      <PlayerField
        name={filter.playerName}
        choose={(player) => change({ playerId: player?.playerId ?? "", playerName: player?.displayName ?? "" })}
      />
      <KindChoice kind={filter.kind} set={(kind) => change({ kind })} />
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
      <RatingChoice minRating={filter.minRating} set={(minRating) => change({ minRating })} />
      <Day label={archive.from} value={filter.from} set={(from) => change({ from })} />
      <Day label={archive.until} value={filter.until} set={(until) => change({ until })} />
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

function Day({ label, value, set }: { label: string; value: string; set: (day: string) => void }) {
  return (
    <label class="field">
      <span>{label}</span>
      <input type="date" value={value} onChange={(event) => set(event.currentTarget.value)} />
    </label>
  );
}
