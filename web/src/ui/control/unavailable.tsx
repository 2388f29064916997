import type { Refusal } from "../../api/refusal";
import { address } from "../../route";
import { refusalText, text } from "../../text/text";

/** There is nothing to see here, and why. */
export function Gone({ refused, why }: { refused?: Refusal; why?: string }) {
  return (
    <section class="panel notable">
      <h1>{refused ? refusalText(text.value, refused) : why}</h1>
      <a class="button primary" href={address({ screen: "home" })}>
        {text.value.room.home}
      </a>
    </section>
  );
}
