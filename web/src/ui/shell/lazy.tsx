import { signal } from "@preact/signals";
import { type ComponentType, createElement, type FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { text } from "../../text/text";

/** A component whose code is loaded when it is first shown. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): FunctionComponent<P> {
  const loaded = signal<{ component?: ComponentType<P>; failed?: boolean }>({});
  const start = () => {
    loaded.value = {};
    load().then(
      (component) => (loaded.value = { component }),
      () => (loaded.value = { failed: true }),
    );
  };
  return (props) => {
    const { component, failed } = loaded.value;
    useEffect(() => {
      if (!component) start();
    }, []);
    if (component) return createElement(component, props);
    return failed ? <LoadFailed /> : <p class="muted">{text.value.connection.loading}</p>;
  };
}

/** A reload is the only retry: browsers remember a failed import, and a new version has other files. */
function LoadFailed() {
  const { shell } = text.value;
  return (
    <section class="panel centered" role="alert">
      <h1>{shell.loadFailed}</h1>
      <p>{shell.loadFailedWhy}</p>
      <button type="button" class="primary" onClick={() => location.reload()}>
        {shell.loadAgain}
      </button>
    </section>
  );
}
