import type { Route } from "../route";
import { PageLink } from "./page_link";

/** Says why there is no board. */
export function Message({ said, route = { screen: "home" } }: { said: string; route?: Route }) {
  return (
    <div class="embed-message">
      <p role="status">{said}</p>
      <PageLink route={route} />
    </div>
  );
}
