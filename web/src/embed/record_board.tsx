import { useEffect, useState } from "preact/hooks";
import { records } from "./client";
import { type Refusal, refusal } from "../api/refusal";
import { retry } from "../api/retry";
import { history } from "../game/history";
import type { GameRecord } from "../gen/reversi/v1/record_pb";
import { participantName } from "../room/game_record";
import { headline } from "../room/outcome";
import type { Route } from "../route";
import { refusalText, text } from "../text/text";
import { passText } from "../ui/board/use_pass_note";
import { Message } from "./message";
import { SteppedBoard } from "./stepped_board";

/** A finished game, shown first after `ply` plies. */
export function RecordBoard({ gameId, ply }: { gameId: string; ply: number }) {
  const [{ record, refused }, setAnswer] = useState<{ record?: GameRecord; refused?: Refusal }>({});
  useEffect(() => {
    retry(() => records.getGame({ gameId })).then(
      ({ game }) => game && setAnswer({ record: game }),
      (error: unknown) => setAnswer({ refused: refusal(error) }),
    );
  }, [gameId]);
  const route = (at: number): Route => ({ screen: "game", gameId, ply: at });
  if (refused) return <Message said={refusalText(text.value, refused)} route={route(ply)} />;
  if (!record) return <Message said={text.value.connection.loading} route={route(ply)} />;
  const names = { black: participantName(text.value, record.black), white: participantName(text.value, record.white) };
  return (
    <SteppedBoard
      frames={history(record.plies)}
      names={names}
      first={ply}
      note={(at) => passText(record.plies[at - 1])}
      result={record.outcome ? headline(text.value, record.outcome, names) : ""}
      route={route}
    />
  );
}
