import { create } from "@bufbuild/protobuf";
import { RoomSettingsSchema } from "../../gen/reversi/v1/types_pb";
import { timeControlText } from "../../room/time_control";
import { chosenClock, type Clock, CLOCKS, isRated } from "../../state/room/quick_search";
import { text } from "../../text/text";
import { SegmentedControl } from "../control/segmented_control";

/** The clock of a game against a player, and whether it is rated. Both are remembered. */
export function TermsChoice() {
  const { home, create: form } = text.value;
  return (
    <>
      <SegmentedControl
        label={home.clock}
        value={chosenClock.value}
        choose={(clock) => (chosenClock.value = clock)}
        options={(Object.keys(CLOCKS) as Clock[]).map((clock) => [
          clock,
          timeControlText(text.value, create(RoomSettingsSchema, CLOCKS[clock])),
        ])}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={isRated.value}
          onChange={(event) => (isRated.value = event.currentTarget.checked)}
        />
        <span>{form.rated}</span>
      </label>
    </>
  );
}
