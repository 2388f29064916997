import { useEffect, useState } from "preact/hooks";
import { parseEmbedRoute } from "../embed_route";
import { address } from "../route";
import { text } from "../text/text";
import { Message } from "./message";
import { PositionBoard } from "./position_board";
import { RecordBoard } from "./record_board";
import { RoomBoard } from "./room_board";

/** A board in another site's page. It only reads, as a caller without a token. */
export function Embed() {
  const hash = useHash();
  const route = parseEmbedRoute(hash);
  if (!route) return <Message said={text.value.share.noBoard} />;
  const key = address(route);
  switch (route.screen) {
    case "game":
      return <RecordBoard key={key} gameId={route.gameId} ply={route.ply ?? 0} />;
    case "room":
      return <RoomBoard key={key} roomId={route.roomId} />;
    case "analysis":
      return <PositionBoard key={key} start={route.start} moves={route.moves} />;
  }
}

function useHash(): string {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = () => setHash(location.hash);
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return hash;
}
