import type { Participant } from "../../gen/reversi/v1/record_pb";
import { participantName } from "../../room/game_record";
import { address } from "../../route";
import { text } from "../../text/text";

/** A participant's name, linked to their page. */
export function ParticipantLink({ of }: { of: Participant | undefined }) {
  return <a href={participantAddress(of)}>{participantName(text.value, of)}</a>;
}

function participantAddress(one: Participant | undefined): string | undefined {
  const who = one?.participant;
  switch (who?.case) {
    case "player":
      return address({ screen: "player", playerId: who.value.playerId });
    case "ai":
      return address({ screen: "ai", kind: who.value.kind, level: who.value.level });
    default:
      return undefined;
  }
}
