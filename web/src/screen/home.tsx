import { address } from "../route";
import { serverInfo, useServerInfo } from "../state/server_info";
import { text } from "../text/text";
import { OwnRooms } from "../ui/lobby/own_rooms";
import { AiMatchForm } from "../ui/lobby/ai_match_form";
import { QuickStart } from "../ui/lobby/quick_start";
import { RoomList } from "../ui/lobby/room_list";

/** The start screen: own rooms, quick start, AI matches and the live list. */
export function HomeScreen() {
  const { home, rooms, invitation, tournament } = text.value;
  useServerInfo();
  return (
    <div class="home">
      <h1 class="visually-hidden">{home.title}</h1>
      <div class="column">
        <OwnRooms />
        <QuickStart />
        <section class="panel">
          <h2>{home.friend}</h2>
          <p class="muted">{home.friendWhy}</p>
          <div class="buttons">
            <a class="button" href={address({ screen: "create" })}>
              {home.create}
            </a>
            <a class="button" href={address({ screen: "players" })}>
              {invitation.players}
            </a>
            <a class="button" href={address({ screen: "tournaments" })}>
              {tournament.title}
            </a>
          </div>
        </section>
      </div>
      <div class="column">
        <AiMatchForm />
        <section class="panel">
          <div class="title-row">
            <h2>{home.live}</h2>
            <a href={address({ screen: "rooms" })}>{home.all}</a>
          </div>
          {serverInfo.value && <p class="muted">{home.numbers(serverInfo.value.players, serverInfo.value.games)}</p>}
          <RoomList filter={NONE} most={6} empty={rooms.none} />
        </section>
      </div>
    </div>
  );
}

const NONE = {};
