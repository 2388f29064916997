import { Hub, PLACES } from "./hub";
import { sourceOf } from "./source";
import { HUBS } from "./watched";

// A worker that all tabs of the browser share, and the embedded boards of each site on their own.
const hub = new Hub(sourceOf, PLACES, new BroadcastChannel(HUBS));
const scope = self as unknown as { onconnect: (event: MessageEvent) => void };
scope.onconnect = ({ ports: [port] }) => port && hub.connect(port);
