import { en } from "../../src/text/en";
import { address, scenario } from "../harness/scenario";
import { createRoom, invitation, legal, result } from "../harness/game_page";

scenario("a player out of time loses", async ({ openAs }) => {
  const ada = await openAs("ada");
  await createRoom(ada, (page) => page.getByLabel(en.create.moveLimit).fill("1"));
  const bob = await openAs("bob", { at: address(await invitation(ada)) });
  // Looked for from now on, since notices go after a while.
  const noticed = [ada, bob].map((page) => page.locator(".notice").getByText(en.result.timeout("ada")).waitFor());
  await bob.getByRole("button", { name: en.visitor.play, exact: true }).click();

  await result(ada).getByRole("heading", { name: en.result.lost }).waitFor();
  await result(bob).getByRole("heading", { name: en.result.won }).waitFor();
  await result(ada).getByText(en.result.ownTimeout).waitFor();
  await result(bob).getByText(en.result.timeout("ada")).waitFor();
  await Promise.all(noticed);
  for (const page of [ada, bob]) await legal(page).first().waitFor({ state: "detached" });
});
