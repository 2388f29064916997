import type { Route } from "../route";
import { PageLink } from "./page_link";

/** Says why there is no board. */
export function Message({ said, route = { screen: "home" } }: { said: string; route?: Route }) {
  return (
    <div class="embed-message">
      <h1>{said}</h1>
      <PageLink route={route} />
    </div>
  );
}
