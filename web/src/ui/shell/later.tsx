import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Shows its children after the next paint, in a task of their own, so that the board is there first on a slow device. */
export function Later({ children }: { children: ComponentChildren }) {
  const [due, setDue] = useState(false);
  // Not at once: parts that become due together would be rendered in one task.
  useEffect(() => {
    const timer = setTimeout(() => setDue(true));
    return () => clearTimeout(timer);
  }, []);
  return due ? <>{children}</> : null;
}
