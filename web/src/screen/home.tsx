import { address } from "../route";
import { server, useServer } from "../state/server_info";
import { text } from "../text/text";
import { OwnRooms } from "../ui/lobby/own_rooms";
import { BotMatch } from "../ui/lobby/ai_match_form";
import { QuickStart } from "../ui/lobby/quick_start";
import { RoomList } from "../ui/lobby/room_list";

/** The shortest ways to a game, and what goes on. */
export function HomeScreen() {
  const { home, rooms } = text.value;
  useServer();
  return (
    <div class="home">
      <h1 class="unseen">{home.title}</h1>
      <div class="column">
        <OwnRooms />
        <QuickStart />
        <section class="panel">
          <h2>{home.friend}</h2>
          <p class="muted">{home.friendWhy}</p>
          <a class="button" href={address({ screen: "create" })}>
            {home.create}
          </a>
        </section>
      </div>
      <div class="column">
        <BotMatch />
        <section class="panel">
          <div class="title-row">
            <h2>{home.live}</h2>
            <a href={address({ screen: "rooms" })}>{home.all}</a>
          </div>
          {server.value && <p class="muted">{home.numbers(server.value.players, server.value.games)}</p>}
          <RoomList filter={NONE} most={6} empty={rooms.none} />
        </section>
      </div>
    </div>
  );
}

const NONE = {};
