import { expect } from "vitest";
import { en } from "../../src/text/en";
import { address, scenario } from "../harness/scenario";
import { board, createRoom, invitation, legal, quickGame, startByOwner } from "../harness/game_page";

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
  await visitor.evaluate(() => {
    const note = () => {
      const dialog = document.querySelector("dialog");
      if (dialog) document.body.dataset["opened"] ??= String(dialog.open);
    };
    new MutationObserver(note).observe(document.body, { childList: true, subtree: true });
  });
  await visitor.getByRole("button", { name: en.create.create, exact: true }).click();
  const dialog = visitor.getByRole("dialog", { name: en.visitor.nameNeeded });
  await dialog.waitFor();
  // Else Escape may come before it is modal.
  expect(await visitor.evaluate(() => document.body.dataset["opened"])).toBe("true");
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
  await createRoom(ada);
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
  await legal(ada).first().waitFor();
  const vera = await open({ at: link });
  await vera.getByText(en.visitor.full).waitFor();
  await vera.getByRole("button", { name: en.visitor.watch, exact: true }).click();
  await vera.getByRole("heading", { name: en.room.members }).waitFor();
});

scenario("a room with a password asks an invited visitor for name and password together", async ({ open, openAs }) => {
  const ada = await openAs("ada");
  await createRoom(ada, async (page) => {
    await startByOwner(page);
    await page.getByLabel(en.create.password).fill("secret");
  });
  const link = address(await invitation(ada));
  const gus = await open({ at: link });
  const form = gus.locator("form").filter({ has: gus.getByRole("heading", { name: en.visitor.invitedBy("ada") }) });
  await form.getByLabel(en.logIn.name).fill("gus");
  await form.getByLabel(en.create.password).fill("guess");
  await form.getByRole("button", { name: en.visitor.play, exact: true }).click();
  await form.getByRole("alert").getByText(en.refusal.BAD_PASSWORD).waitFor();
  await form.getByLabel(en.create.password).fill("secret");
  await form.getByRole("button", { name: en.visitor.play, exact: true }).click();
  await gus.getByRole("button", { name: en.room.unready }).waitFor();
  await ada.locator(".player-bar").getByText("gus").waitFor();

  // Looking needs the password, and no name; sitting down asks for the name and not for the password again.
  await gus.getByRole("button", { name: en.room.stand }).click();
  const vera = await open({ at: address(ada.url()) });
  await vera.getByLabel(en.create.password).fill("guess");
  await vera.getByRole("button", { name: en.room.enter }).click();
  await vera.getByText(en.refusal.BAD_PASSWORD).waitFor();
  await vera.getByLabel(en.create.password).fill("secret");
  await vera.getByRole("button", { name: en.room.enter }).click();
  await vera.getByRole("button", { name: en.room.sit }).click();
  const dialog = vera.getByRole("dialog", { name: en.visitor.nameNeeded });
  await dialog.getByLabel(en.logIn.name).fill("vera");
  await dialog.getByRole("button", { name: en.logIn.enter, exact: true }).click();
  await ada.locator(".player-bar").getByText("vera").waitFor();
});

scenario("a guest for whom a seat is kept is seated and ready by the invitation", async ({ openAs }) => {
  const ada = await openAs("ada");
  await createRoom(ada);
  const link = await invitation(ada);
  const roomUrl = ada.url();
  const bob = await openAs("bob", { at: address(roomUrl) });
  await bob.getByRole("button", { name: en.room.join }).click();
  await ada.getByLabel(`${en.room.manage}: bob`).click();
  await ada.getByRole("button", { name: `${en.side.white}: ${en.room.keepSeat("bob")}` }).click();
  await ada.locator(".player-bar").getByText(en.room.reserved("bob")).waitFor();
  await bob.goto(link);
  await bob.getByText(en.visitor.yourSide(en.side.white)).waitFor();
  await bob.getByRole("button", { name: en.visitor.play, exact: true }).last().click();
  await legal(ada).first().click();
  await legal(bob).first().waitFor();
});

scenario("a finished room stays in the list for a short time, and says so", async ({ open, openAs }) => {
  const ada = await openAs("ada");
  await quickGame(ada, "random");
  const visitor = await open({ at: "rooms" });
  await visitor.clock.install();
  await visitor.reload();
  const row = visitor.locator(".room-list li");
  await row.getByText(en.rooms.state.playing, { exact: true }).waitFor();
  await row.getByText("(0 Elo)").waitFor();
  await ada.getByRole("button", { name: en.game.resign }).click();
  await ada.getByRole("button", { name: en.game.confirm, exact: true }).click();
  await row.getByText(en.rooms.state.finished, { exact: true }).waitFor();
  await visitor.clock.fastForward("01:00");
  await row.waitFor({ state: "detached" });
});

scenario("a refused name is told at its field, with a similar one", async ({ open, openAs }) => {
  await openAs("ada");
  const guest = await open();
  await guest.getByLabel(en.logIn.name).fill("ada");
  await guest.getByRole("button", { name: en.logIn.enter, exact: true }).click();
  const why = guest.locator("form").getByRole("alert");
  await why.getByText(en.refusal.NAME_TAKEN).waitFor();
  await why.getByRole("button", { name: "ada " }).click();
  await guest.getByRole("button", { name: en.logIn.enter, exact: true }).click();
  await guest
    .getByRole("button", { name: en.menu.settings })
    .getByText(/^ada \d+$/)
    .waitFor();
});
