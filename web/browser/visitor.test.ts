import { expect } from "vitest";
import { en } from "../src/text/en";
import { address, scenario } from "./harness/scenario";
import { board, createRoom, invitation, legal, quickGame } from "./harness/game_page";

scenario("a visitor looks at rooms, games and players, and needs a name only to play", async ({ open, openAs }) => {
  const ada = await openAs("ada");
  await quickGame(ada, "random");
  const visitor = await open({ at: "rooms" });
  await visitor.getByRole("link", { name: en.rooms.watch }).click();
  await visitor.getByRole("heading", { name: en.room.members }).waitFor();
  expect(await board(visitor)).toBe(await board(ada));
  await visitor.getByRole("link", { name: en.menu.tv }).click();
  await visitor.getByRole("heading", { name: en.liveGames.title }).waitFor();
  await ada.getByRole("button", { name: en.game.resign }).click();
  await ada.getByRole("button", { name: en.game.confirm, exact: true }).click();
  await ada.getByRole("link", { name: en.game.replay }).click();
  await visitor.goto(ada.url());
  await visitor.getByRole("heading", { name: en.game.graph }).waitFor();

  await visitor.goto(new URL("#/create", ada.url()).href);
  await visitor.getByRole("button", { name: en.create.create, exact: true }).click();
  const dialog = visitor.getByRole("dialog", { name: en.visitor.nameNeeded });
  await dialog.waitFor();
  await visitor.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await visitor.getByRole("button", { name: en.create.create, exact: true }).click();
  await dialog.getByLabel(en.logIn.name).fill("vera");
  await dialog.getByRole("button", { name: en.logIn.enter, exact: true }).click();
  // What needed the name goes on.
  await visitor.getByRole("heading", { name: en.visitor.against("vera", en.visitor.anyone), level: 2 }).waitFor();
});

scenario("an invitation needs one action of each player", async ({ open, openAs }) => {
  const ada = await openAs("ada");
  await createRoom(ada, (page) => page.getByLabel(en.create.autoStart).check());
  const guest = await open({ at: address(await invitation(ada)) });
  await guest.getByRole("heading", { name: en.visitor.invitedBy("ada") }).waitFor();
  await guest.getByText(en.visitor.startsAtOnce).waitFor();
  await guest.getByLabel(en.logIn.name).fill("gus");
  await guest.getByRole("button", { name: en.visitor.play, exact: true }).click();
  await legal(ada).first().click();
  await legal(guest).first().waitFor();
  await ada.locator(".player-bar").getByText("gus").waitFor();
});

scenario("an invitation to a full room lets a guest watch", async ({ open, openAs }) => {
  const ada = await openAs("ada");
  await createRoom(ada);
  const link = address(await invitation(ada));
  const gus = await open({ at: link });
  await gus.getByRole("button", { name: en.visitor.play, exact: true }).click();
  await gus.getByRole("button", { name: en.room.unready }).waitFor();
  const vera = await open({ at: link });
  await vera.getByText(en.visitor.full).waitFor();
  await vera.getByRole("button", { name: en.visitor.watch, exact: true }).click();
  await vera.getByRole("heading", { name: en.room.members }).waitFor();
});
