import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { address } from "../route";
import { connection } from "../state/connection";
import { route } from "../state/location";
import { announcement } from "../state/notice";
import { session } from "../state/session";
import { text } from "../text/text";
import { Menu } from "./menu";
import { Notices } from "./notices";

/** What is around every screen: the way to the others, how the connection is, and what was said. */
export function Shell({ children }: { children: ComponentChildren }) {
  const main = useRef<HTMLElement>(null);
  const { menu } = text.value;
  const place = address(route.value);
  useEffect(() => scrollTo(0, 0), [place]);
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
        {session.value && <Navigation />}
        <Menu />
      </header>
      <Banner />
      <main ref={main} id="main" tabIndex={-1}>
        {children}
      </main>
      <Notices />
      <div class="unseen" aria-live="polite" role="log">
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

function Banner() {
  const line = connection.value;
  const texts = text.value.connection;
  const shown = line === "draining" ? texts.draining : line === "lost" ? texts.lost : "";
  return (
    <div class="banner" role="status" hidden={!shown}>
      <span class="spinner" aria-hidden="true" />
      {shown}
    </div>
  );
}
