import { AiScreen } from "./screen/ai";
import { AisScreen } from "./screen/ais";
import { CreateRoomScreen } from "./screen/create_room";
import { HomeScreen } from "./screen/home";
import { JoinRoomScreen } from "./screen/join_room";
import { LogInScreen } from "./screen/log_in";
import { OpenInOtherTabScreen } from "./screen/open_in_other_tab";
import { PlayerScreen } from "./screen/player";
import { ReplayScreen } from "./screen/replay";
import { RoomScreen } from "./screen/room";
import { RoomsScreen } from "./screen/rooms";
import { LiveGamesScreen } from "./screen/live_games";
import { route } from "./state/location";
import { session } from "./state/session";
import { openInOtherTab } from "./state/stream/turn_stream";
import { Shell } from "./ui/shell/shell";

export function App() {
  return (
    <Shell>
      <Screen />
    </Shell>
  );
}

/** The key of each screen resets its state when its subject or the player changes. */
function Screen() {
  const player = session.value;
  if (!player) return <LogInScreen />;
  if (openInOtherTab.value) return <OpenInOtherTabScreen />;
  const to = route.value;
  switch (to.screen) {
    case "rooms":
      return <RoomsScreen key={player.token} />;
    case "create":
      return <CreateRoomScreen key={player.token} />;
    case "room":
      return <RoomScreen key={`${to.roomId} ${player.token}`} roomId={to.roomId} />;
    case "join":
      return <JoinRoomScreen key={`${to.joinCode} ${player.token}`} joinCode={to.joinCode} />;
    case "game":
      return <ReplayScreen key={`${to.gameId} ${player.token}`} gameId={to.gameId} />;
    case "player":
      return <PlayerScreen key={`${to.playerId} ${player.token}`} playerId={to.playerId} />;
    case "ai":
      return <AiScreen key={`${to.kind} ${to.level} ${player.token}`} kind={to.kind} level={to.level} />;
    case "ais":
      return <AisScreen key={player.token} />;
    case "tv":
      return <LiveGamesScreen key={player.token} />;
    case "home":
      return <HomeScreen key={player.token} />;
  }
}
