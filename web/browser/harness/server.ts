import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** The server under test, with its embedded page. */
const PROGRAM = process.env["REVERSI_BIN"] ?? "../target/debug/reversi";

/** Printed when ready, followed by the address. */
const READY = "reversi is listening on ";

/** A running server. */
export class Server {
  private constructor(
    private readonly child: ChildProcess,
    /** Host and port. */
    readonly address: string,
  ) {}

  /** Starts a server on a free port, or on a given address; ephemeral without a data folder. */
  static async start({ data, address = "127.0.0.1:0" }: { data?: string; address?: string } = {}): Promise<Server> {
    const keeping = data ? ["--data", data] : ["--ephemeral"];
    const child = spawn(PROGRAM, ["serve", "--listen", address, ...keeping], {
      env: environment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let log = "";
    child.stderr.on("data", (part) => (log += part));
    for await (const line of createInterface(child.stdout)) {
      if (line.startsWith(READY)) return new Server(child, line.slice(READY.length).split(" ")[0] ?? "");
    }
    throw new Error(`${PROGRAM} did not start: ${log}`);
  }

  /** Starts public games of programs at this server. Returns what ends them. */
  demo(rooms: number): () => void {
    const args = ["demo", "--rooms", String(rooms), "--server", this.url];
    const demo = spawn(PROGRAM, args, { env: environment(), stdio: "ignore" });
    return () => void demo.kill();
  }

  get url(): string {
    return `http://${this.address}/`;
  }

  /** Asks the server to drain. */
  stop(): void {
    this.child.kill("SIGTERM");
  }

  /** Stops the process in its place: connections stay open, without answers. */
  freeze(): void {
    this.child.kill("SIGSTOP");
  }

  /** Lets a frozen process go on. */
  thaw(): void {
    this.child.kill("SIGCONT");
  }

  /** Kills the process. */
  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.ended();
  }

  async ended(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, "exit");
  }
}

/** The environment without `REVERSI_*`, which would configure the server. */
function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("REVERSI_")));
}
