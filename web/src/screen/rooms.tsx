import { useState } from "preact/hooks";
import { RoomPhase } from "../gen/reversi/v1/types_pb";
import { address } from "../route";
import type { RoomFilter } from "../stream/watched";
import { text } from "../text/text";
import { RoomList } from "../ui/lobby/room_list";
import { SegmentedControl } from "../ui/control/segmented_control";

type Phase = "all" | "waiting" | "playing";

const PHASES: Record<Phase, RoomPhase> = {
  all: RoomPhase.UNSPECIFIED,
  waiting: RoomPhase.LOBBY,
  playing: RoomPhase.PLAYING,
};

/** The live list of all public rooms, with a filter. */
export function RoomsScreen() {
  const { rooms, home } = text.value;
  const [phase, setPhase] = useState<Phase>("all");
  const [openSeat, setOpenSeat] = useState(false);
  const [words, setWords] = useState("");
  const filter: RoomFilter = { phase: PHASES[phase], openSeat, text: words.trim() };
  return (
    <div class="rooms">
      <div class="title-row">
        <h1>{rooms.title}</h1>
        <a class="button primary" href={address({ screen: "create" })}>
          {home.create}
        </a>
      </div>
      <section class="panel filters" aria-label={rooms.filter}>
        <SegmentedControl
          label={rooms.filter}
          value={phase}
          choose={setPhase}
          options={[
            ["all", rooms.all],
            ["waiting", rooms.waiting],
            ["playing", rooms.playing],
          ]}
        />
        <label class="field">
          <span>{rooms.search}</span>
          <input type="search" value={words} onInput={(event) => setWords(event.currentTarget.value)} />
        </label>
        <label class="check">
          <input type="checkbox" checked={openSeat} onChange={(event) => setOpenSeat(event.currentTarget.checked)} />
          <span>{rooms.openSeat}</span>
        </label>
      </section>
      <section class="panel">
        <RoomList filter={filter} empty={`${rooms.none} ${rooms.noneWhy}`} count />
      </section>
    </div>
  );
}
