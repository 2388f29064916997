import { Hub, PLACES } from "./hub";
import { sourceOf } from "./source";
import { HUBS } from "./watched";

/** The hub of one tab, where the browser has no shared workers. Nothing tells how many boards there are: they get no place. */
export function connectOwnHub(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  new Hub(sourceOf, { ...PLACES, board: 0 }, new BroadcastChannel(HUBS)).connect(port1);
  return port2;
}
