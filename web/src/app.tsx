import { address } from "./route";
import { LogInScreen } from "./screen/log_in";
import { route } from "./state/location";
import { session } from "./state/session";
import { text } from "./text/text";
import { Unavailable } from "./ui/control/unavailable";
import { lazy } from "./ui/shell/lazy";
import { Shell } from "./ui/shell/shell";

// All screens but the first are loaded when they are shown.
const AiScreen = lazy(async () => (await import("./screen/ai")).AiScreen);
const AisScreen = lazy(async () => (await import("./screen/ais")).AisScreen);
const AnalysisScreen = lazy(async () => (await import("./screen/analysis")).AnalysisScreen);
const BotsScreen = lazy(async () => (await import("./screen/bots")).BotsScreen);
const CreateRoomScreen = lazy(async () => (await import("./screen/create_room")).CreateRoomScreen);
const ExploreScreen = lazy(async () => (await import("./screen/explore")).ExploreScreen);
const HomeScreen = lazy(async () => (await import("./screen/home")).HomeScreen);
const JoinRoomScreen = lazy(async () => (await import("./screen/join_room")).JoinRoomScreen);
const LiveGamesScreen = lazy(async () => (await import("./screen/live_games")).LiveGamesScreen);
const OrganiseScreen = lazy(async () => (await import("./screen/organise")).OrganiseScreen);
const PlayerScreen = lazy(async () => (await import("./screen/player")).PlayerScreen);
const PlayersScreen = lazy(async () => (await import("./screen/players")).PlayersScreen);
const RecordsScreen = lazy(async () => (await import("./screen/records")).RecordsScreen);
const ReplayScreen = lazy(async () => (await import("./screen/replay")).ReplayScreen);
const RoomScreen = lazy(async () => (await import("./screen/room")).RoomScreen);
const RoomsScreen = lazy(async () => (await import("./screen/rooms")).RoomsScreen);
const RulesScreen = lazy(async () => (await import("./screen/rules")).RulesScreen);
const TournamentScreen = lazy(async () => (await import("./screen/tournament")).TournamentScreen);
const TournamentsScreen = lazy(async () => (await import("./screen/tournaments")).TournamentsScreen);

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
  // A visitor may look at everything; what needs a name asks for it.
  const token = player?.token ?? "";
  const to = route.value;
  switch (to.screen) {
    case "rooms":
      return <RoomsScreen key={token} />;
    case "create":
      return <CreateRoomScreen />;
    case "room":
      return <RoomScreen key={`${to.roomId} ${token}`} roomId={to.roomId} />;
    case "join":
      return <JoinRoomScreen key={to.joinCode} joinCode={to.joinCode} />;
    case "game":
      return <ReplayScreen key={`${address(to)} ${token}`} gameId={to.gameId} ply={to.ply ?? 0} />;
    case "player":
      return <PlayerScreen key={`${to.playerId} ${token}`} playerId={to.playerId} />;
    case "players":
      return <PlayersScreen key={token} />;
    case "ai":
      return <AiScreen key={`${to.kind} ${to.level} ${token}`} kind={to.kind} level={to.level} />;
    case "ais":
      return <AisScreen key={token} />;
    case "analysis":
      return <AnalysisScreen start={to.start} moves={to.moves} />;
    case "explore":
      return <ExploreScreen {...to} />;
    case "records":
      return <RecordsScreen key={token} filter={to.filter} />;
    case "tournaments":
      return <TournamentsScreen key={token} />;
    case "tournament":
      return <TournamentScreen key={`${to.tournamentId} ${token}`} tournamentId={to.tournamentId} />;
    case "organise":
      return <OrganiseScreen />;
    case "rules":
      return <RulesScreen />;
    case "tv":
      return <LiveGamesScreen key={token} />;
    case "bots":
      return <BotsScreen />;
    case "unknown":
      return <Unavailable why={text.value.shell.noSuchScreen} />;
    case "home":
      return player ? <HomeScreen key={token} /> : <LogInScreen />;
  }
}
