import type { Refusal } from "../../api/refusal";
import { address } from "../../route";
import { refusalText, text } from "../../text/text";

/** Says why a screen has nothing to show. */
export function Unavailable({ refused, why }: { refused?: Refusal; why?: string }) {
  return (
    <section class="panel centered">
      <h1>{refused ? refusalText(text.value, refused) : why}</h1>
      <a class="button primary" href={address({ screen: "home" })}>
        {text.value.room.home}
      </a>
    </section>
  );
}
