import { address, type Route } from "../route";
import { text } from "../text/text";

/** Opens a screen of the whole page in a tab of its own: the page refuses to be framed. */
export function PageLink({ route }: { route: Route }) {
  const { brand, share } = text.value;
  return (
    <a class="page-link" href={`/${address(route)}`} target="_blank" rel="noopener" title={share.full}>
      {brand} ↗
    </a>
  );
}
