import { embedCode, type EmbedRoute } from "../../embed_route";
import { address } from "../../route";
import { text } from "../../text/text";
import { CopyField } from "../control/copy_field";
import { PictureButtons, type PictureButtonsProps } from "./picture_buttons";

interface SharePanelProps extends PictureButtonsProps {
  /** Where others see the same; absent if they may not. */
  route?: EmbedRoute | undefined;
  title: string;
  /** Whether it is open at first. */
  open?: boolean;
}

/** The link, pictures and an embedded board of what the screen shows. */
export function SharePanel({ route, title, open = false, ...pictures }: SharePanelProps) {
  const { share } = text.value;
  return (
    <section class="panel">
      <details open={open}>
        <summary>{share.title}</summary>
        <div class="stack">
          {route && (
            <CopyField
              label={share.link}
              value={`${location.origin}${location.pathname}${address(route)}`}
              title={title}
            />
          )}
          <PictureButtons {...pictures} />
          {route && <CopyField label={share.embed} value={embedCode(location.origin, route, title)} />}
        </div>
      </details>
    </section>
  );
}
