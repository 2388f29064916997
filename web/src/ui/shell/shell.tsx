import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { address, type Route } from "../../route";
import { connection } from "../../state/connection";
import { route } from "../../state/location";
import { announcement } from "../../state/notice";
import { offline } from "../../state/page/offline";
import { askName, expired, session } from "../../state/session";
import { screenName } from "../../state/page/title";
import { tellHere, toldElsewhere } from "../../state/stream/turn_stream";
import { text } from "../../text/text";
import { OwnGameBar } from "./own_game_bar";
import { Menu } from "./menu";
import { NameDialog } from "./name_dialog";
import { Notices } from "./notices";

/** The frame around every screen: navigation, connection banner, notices and announcements. */
export function Shell({ children }: { children: ComponentChildren }) {
  const main = useRef<HTMLElement>(null);
  const { menu } = text.value;
  const place = address(route.value);
  const arrived = useRef(place);
  useEffect(() => {
    scrollTo(0, 0);
    // Moves the focus from the link to the new screen, for keyboards and screen readers.
    if (arrived.current !== place) main.current?.focus({ preventScroll: true });
    arrived.current = place;
  }, [place]);
  useScreenName();
  useEffect(() => {
    // The first screen has the form itself.
    if (expired.value && !session.value && route.peek().screen !== "home") void askName();
  }, [expired.value, session.value]);
  const skip = (event: Event) => {
    event.preventDefault();
    main.current?.focus();
  };
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        {menu.skip}
      </a>
      <header class="top">
        <a class="brand" href={address({ screen: "home" })} aria-label={text.value.brand}>
          <span class="logo" aria-hidden="true" />
          <span class="brand-name">{text.value.brand}</span>
        </a>
        <Navigation />
        {!session.value && <LogInButton />}
        <Menu />
      </header>
      <Banner />
      {session.value && (toldElsewhere.value ? <ElsewhereBar /> : <OwnGameBar key={session.value.token} />)}
      <main ref={main} id="main" tabIndex={-1}>
        {children}
      </main>
      <Notices />
      <NameDialog />
      <div class="visually-hidden" aria-live="polite" role="log">
        {announcement.value}
      </div>
    </>
  );
}

function Navigation() {
  const { menu } = text.value;
  const screen = route.value.screen;
  const link = (to: "home" | "rooms" | "tv", label: string) => (
    <a href={address({ screen: to })} aria-current={screen === to ? "page" : undefined}>
      {label}
    </a>
  );
  return (
    <nav aria-label={menu.main}>
      {link("home", menu.play)}
      {link("rooms", menu.rooms)}
      {link("tv", menu.tv)}
    </nav>
  );
}

/** The first screen has the form itself. */
function LogInButton() {
  if (route.value.screen === "home") return null;
  return (
    <button type="button" class="quiet log-in-button" onClick={() => void askName()}>
      {text.value.visitor.logIn}
    </button>
  );
}

/** Shown while another browser is told of the player's turns and games: only one can be. */
function ElsewhereBar() {
  const { elsewhere, tellHere: label } = text.value.connection;
  return (
    <aside class="own-game">
      <p class="own-game-who">{elsewhere}</p>
      <button type="button" class="small" onClick={tellHere}>
        {label}
      </button>
    </aside>
  );
}

/** The state of the connection. Without a network, and unless a room is shown, also what works without it. */
function Banner() {
  const line = connection.value;
  const { connection: texts, shell } = text.value;
  const coming = line === "open" ? "" : texts[line];
  const missing = coming || (offline.value ? shell.offline : "");
  const inRoom = route.value.screen === "room";
  const explained = offline.value && !inRoom;
  return (
    <div class={`banner${inRoom ? " over" : ""}`} role="status" hidden={!missing}>
      {coming && <span class="spinner" aria-hidden="true" />}
      {missing} {explained && shell.withoutServer}
    </div>
  );
}

/** The screens that name themselves in the tab's title. */
const SELF_NAMED: ReadonlySet<Route["screen"]> = new Set<Route["screen"]>(["room", "game", "tournament"]);

/** Names the screen in the tab's title. */
function useScreenName(): void {
  const { home, rooms, create, liveGames, stats, archive, analysis, rules, invitation, bots, tournament } = text.value;
  const titles: Partial<Record<Route["screen"], string>> = {
    home: home.title,
    rooms: rooms.title,
    create: create.title,
    ais: home.allAis,
    analysis: analysis.title,
    explore: archive.openings,
    rules: rules.title,
    records: archive.finished,
    tv: liveGames.title,
    players: invitation.players,
    player: stats.title,
    bots: bots.title,
    tournaments: tournament.title,
    organise: tournament.organise,
  };
  const { screen } = route.value;
  const name = titles[screen] ?? "";
  useEffect(() => {
    if (!SELF_NAMED.has(screen)) screenName.value = name;
  }, [screen, name]);
}
