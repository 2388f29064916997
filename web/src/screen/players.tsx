import { useState } from "preact/hooks";
import { lobby } from "../api/client";
import type { OnlinePlayer } from "../gen/reversi/v1/lobby_pb";
import { PlayerKind } from "../gen/reversi/v1/types_pb";
import { acceptsPeople, availabilityText } from "../room/availability";
import { address } from "../route";
import { session } from "../state/session";
import { usePages } from "../state/use_pages";
import { text } from "../text/text";
import { SegmentedControl } from "../ui/control/segmented_control";
import { InviteButton } from "../ui/lobby/invite_button";
import { TermsChoice } from "../ui/lobby/terms_choice";

type Kind = "all" | "people" | "bots";

const KINDS: Record<Kind, PlayerKind> = {
  all: PlayerKind.UNSPECIFIED,
  people: PlayerKind.HUMAN,
  bots: PlayerKind.BOT,
};

/** Players a page. */
const PAGE = 50;

/** The players who are online, each with a button to invite; and the terms of an invitation. */
export function PlayersScreen() {
  const { invitation, rooms, stats } = text.value;
  const [kind, setKind] = useState<Kind>("all");
  const [loaded, setLoaded] = useState(0);
  return (
    <div class="rooms">
      <div class="title-row">
        <h1>{invitation.players}</h1>
        <button type="button" onClick={() => setLoaded(loaded + 1)}>
          {invitation.reload}
        </button>
      </div>
      <section class="panel">
        <p class="muted">{invitation.why}</p>
        <TermsChoice />
      </section>
      <section class="panel">
        <SegmentedControl
          label={rooms.filter}
          value={kind}
          choose={setKind}
          options={[
            ["all", rooms.all],
            ["people", stats.humans],
            ["bots", stats.bots],
          ]}
        />
        <Players key={`${kind} ${loaded}`} kind={KINDS[kind]} />
      </section>
    </div>
  );
}

function Players({ kind }: { kind: PlayerKind }) {
  const { invitation, archive, connection } = text.value;
  const { entries, busy, more } = usePages(async (pageToken) => {
    const page = await lobby.listPlayers({ filter: { kind }, pageSize: PAGE, pageToken });
    return { entries: page.players, next: page.nextPageToken };
  });
  return (
    <>
      {!entries && !more && <p class="muted">{connection.loading}</p>}
      {entries?.length === 0 && !more && <p class="muted">{invitation.noPlayers}</p>}
      <ul class="room-list">
        {entries?.map((one) => (
          <Row key={one.player?.playerId} of={one} />
        ))}
      </ul>
      {more && (
        <button type="button" disabled={busy} onClick={more}>
          {archive.more}
        </button>
      )}
    </>
  );
}

function Row({ of: { player, rating, seats, seatLimit, availability } }: { of: OnlinePlayer }) {
  const { invitation, room } = text.value;
  if (!player) return null;
  const { playerId, displayName, kind, engineVersion } = player;
  const isOwn = playerId === session.value?.playerId;
  return (
    <li>
      <div class="row-main">
        <a class="row-name" href={address({ screen: "player", playerId })}>
          {displayName}
        </a>
        {rating > 0 && <span class="muted"> ({rating})</span>} {isOwn && <span class="tag">{room.you}</span>}
        <p class="row-players muted">{invitation.accepts(availabilityText(text.value, availability))}</p>
      </div>
      <p class="row-state muted">
        <span class="tag">{kind === PlayerKind.BOT ? room.kind.bot : room.kind.human}</span>
        {engineVersion && <span>{engineVersion}</span>}
        <span class={`tag${seats === 0 ? " good" : ""}`}>{seats === 0 ? invitation.free : invitation.busy}</span>
        {seatLimit > 1 && <span>{invitation.seats(seats, seatLimit)}</span>}
      </p>
      {!isOwn && acceptsPeople(availability) && <InviteButton guest={player} />}
    </li>
  );
}
