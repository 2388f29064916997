import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A relay to a server, which can stop to forward on the present connections without closing them. */
export class Relay {
  private readonly pairs: (readonly [Socket, Socket])[] = [];
  /** How many of them are silent. */
  private silent = 0;

  private constructor(private readonly server: ReturnType<typeof createServer>) {}

  static async start(to: string): Promise<Relay> {
    const [host = "", port = ""] = to.split(":");
    const server = createServer();
    const relay = new Relay(server);
    server.on("connection", (client) => relay.forward(client, connect(Number(port), host)));
    await once(server.listen(0, "127.0.0.1"), "listening");
    return relay;
  }

  private forward(client: Socket, server: Socket): void {
    this.pairs.push([client, server]);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
    }
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  /** As a lost NAT entry: what is sent on the present connections goes nowhere, in both directions. */
  silence(): void {
    for (const socket of this.pairs.flat()) socket.unpipe().resume();
    this.silent = this.pairs.length;
  }

  /** The number of connections since the last silence. */
  get newConnections(): number {
    return this.pairs.length - this.silent;
  }

  stop(): void {
    for (const socket of this.pairs.flat()) socket.destroy();
    this.server.close();
  }
}
