import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** The program under test, with the page that was built into it. */
const PROGRAM = process.env["REVERSI_BIN"] ?? "../target/debug/reversi";

/** What it says when it is ready, before its address. */
const READY = "reversi is listening on ";

/** A running server. */
export class Server {
  private constructor(
    private readonly child: ChildProcess,
    /** Host and port. */
    readonly address: string,
  ) {}

  /** Starts one on a free port, or on the address of another that has ended; without a folder it keeps nothing. */
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

  get url(): string {
    return `http://${this.address}/`;
  }

  /** Asks it to stop: it tells its clients, and gives them time. */
  stop(): void {
    this.child.kill("SIGTERM");
  }

  /** Ends it in the middle of whatever it does. */
  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.ended();
  }

  async ended(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, "exit");
  }
}

/** What the environment of the tests sets for the program must not count. */
function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("REVERSI_")));
}
