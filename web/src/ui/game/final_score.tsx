import type { Outcome } from "../../gen/reversi/v1/types_pb";
import { discsOf } from "../../room/outcome";
import { text } from "../../text/text";

/** The discs at the end of a game, and the official score if empty squares count. */
export function FinalScore({ outcome }: { outcome: Outcome }) {
  const { black, white } = discsOf(outcome);
  const { blackScore, whiteScore } = outcome;
  return (
    <>
      <p class="final">
        <span class="chip black" aria-hidden="true" /> {black} – {white} <span class="chip white" aria-hidden="true" />
      </p>
      {blackScore + whiteScore > black + white && (
        <p class="hint">{text.value.result.official(blackScore, whiteScore)}</p>
      )}
    </>
  );
}
