import { playHere } from "../state/turn_stream";
import { text } from "../text/text";

/** The player goes on in another tab. */
export function DisplacedScreen() {
  const { elsewhere, elsewhereWhy, useHere } = text.value.connection;
  return (
    <section class="panel notable">
      <h1>{elsewhere}</h1>
      <p>{elsewhereWhy}</p>
      <button type="button" class="primary" onClick={playHere}>
        {useHere}
      </button>
    </section>
  );
}
