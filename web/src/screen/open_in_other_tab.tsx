import { playHere } from "../state/stream/turn_stream";
import { text } from "../text/text";

/** Shown while the page is open in another tab: only one tab may receive the player's turns. */
export function OpenInOtherTabScreen() {
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
