import { playHere } from "../state/turn_stream";
import { text } from "../text/text";

/** Shown while another tab has the player's stream. */
export function SupersededScreen() {
  const { elsewhere, elsewhereWhy, useHere } = text.value.connection;
  return (
    <section class="panel centered">
      <h1>{elsewhere}</h1>
      <p>{elsewhereWhy}</p>
      <button type="button" class="primary" onClick={playHere}>
        {useHere}
      </button>
    </section>
  );
}
