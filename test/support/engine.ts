import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { StateAccess } from "../../automation/cluster/state.js";

/** What the engine says and does during one operation. */
export interface EngineRun {
  readonly events?: readonly unknown[];
  readonly stdout?: string;
  readonly stderr?: string;
  readonly code?: number;
  /** `wait`: runs until SIGINT. `hang`: until the second one. `die`: is killed. */
  readonly then?: "wait" | "hang" | "die";
}

export interface EngineOutput {
  readonly value: unknown;
  readonly secret?: boolean;
}

/** A `pulumi` with the tools beside it, that does what a test tells it: see engine-stub.mjs. */
export class Engine {
  readonly directory: string;
  readonly bin: string;

  constructor(directory = mkdtempSync(join(tmpdir(), "stackadm-fake-engine-"))) {
    this.directory = directory;
    this.bin = join(directory, "bin");
    mkdirSync(this.bin, { recursive: true });
    const stub = join(__dirname, "engine-stub.mjs");
    this.command("pulumi", `exec '${process.execPath}' '${stub}' "$@"`);
    for (const name of ["openstack", "kubernetes", "command"])
      this.command(`pulumi-resource-${name}`, "exit 1");
    this.command("pulumi-language-nodejs", "exit 1");
    writeFileSync(join(directory, "calls"), "");
  }

  /** A command on the engine's PATH. */
  command(name: string, script: string): void {
    writeFileSync(join(this.bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  /** The engine first, then this machine's own tools. */
  environment(): Record<string, string> {
    const path = [this.bin, dirname(process.execPath), process.env["PATH"] ?? ""];
    return { PATH: path.join(delimiter), FAKE_ENGINE: this.directory };
  }

  access(): StateAccess {
    const workspace = { stack: "dev", project: "stackadm", directory: this.directory };
    return { workspace, env: this.environment() };
  }

  /** The stack's state; without a call there is no stack. */
  state(deployment: Readonly<Record<string, unknown>>): void {
    this.write("state.json", { version: 3, deployment });
  }

  outputs(outputs: Readonly<Record<string, EngineOutput>>): void {
    this.write("outputs.json", outputs);
  }

  /** What `up`, `preview`, `refresh` and `destroy` do; all end well by default. */
  runs(runs: Readonly<Record<string, EngineRun>>): void {
    this.write("runs.json", runs);
  }

  /** Error texts of commands that fail, by their first two words. */
  refuses(texts: Readonly<Record<string, string>>): void {
    this.write("refusals.json", texts);
  }

  /** The state as it is now; undefined when there is no stack. */
  stateNow(): { deployment: Record<string, unknown> } | undefined {
    const file = join(this.directory, "state.json");
    return existsSync(file)
      ? (JSON.parse(readFileSync(file, "utf8")) as { deployment: Record<string, unknown> })
      : undefined;
  }

  /** Command lines of the engine so far. */
  calls(): string[] {
    return readFileSync(join(this.directory, "calls"), "utf8").split("\n").filter(Boolean);
  }

  /** The operations among them: `up`, `destroy`, ... */
  operations(): string[] {
    return this.calls()
      .map((call) => call.split(" ")[0] ?? "")
      .filter((name) => ["up", "preview", "refresh", "destroy"].includes(name));
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  private write(name: string, value: unknown): void {
    writeFileSync(join(this.directory, name), JSON.stringify(value));
  }
}

/** URN of a resource of the stack `dev`. */
export const urnOf = (type: string, name: string): string =>
  `urn:pulumi:dev::stackadm::stackadm:index:Cluster$${type}::${name}`;

/** The engine's event for a step that begins or ends. */
export function stepEvent(
  when: "resourcePreEvent" | "resOutputsEvent" | "resOpFailedEvent",
  { type, name, op = "create" }: { type: string; name: string; op?: string },
): unknown {
  const made = { id: `id-of-${name}`, custom: true };
  return { timestamp: 1, [when]: { metadata: { op, urn: urnOf(type, name), new: made } } };
}

/** The engine's event for a line that a running command printed. */
export const printed = (message: string, urn: string): unknown => ({
  timestamp: 1,
  diagnosticEvent: { message, severity: "info", ephemeral: true, urn },
});

/** The engine's event for a message of a resource. */
export const diagnostic = (message: string, severity = "error", urn?: string): unknown => ({
  timestamp: 1,
  diagnosticEvent: { message, severity, ...(urn === undefined ? {} : { urn }) },
});

export const instanceType = "openstack:compute/instance:Instance";
export const commandType = "command:remote:Command";
export const networkType = "openstack:networking/network:Network";
