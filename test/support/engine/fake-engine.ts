import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { StateAccess } from "../../../automation/pulumi/stack-state.js";

/** Returns the stack resource of a state, with its outputs. Secret outputs are encrypted. */
export const stackWith = (outputs: Readonly<Record<string, EngineOutput>>) => ({
  urn: "urn:pulumi:dev::stackadm::pulumi:pulumi:Stack::stackadm-dev",
  type: "pulumi:pulumi:Stack",
  outputs: Object.fromEntries(
    Object.entries(outputs).map(([name, { value, secret }]) => [
      name,
      secret === true ? encrypted : value,
    ]),
  ),
});

/** Encrypted secret in the form that a state contains. */
export const encrypted = {
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  ciphertext: "v1:AAAA",
};

/** Events and output of the fake engine in one operation. */
export interface EngineRun {
  readonly events?: readonly unknown[];
  readonly stdout?: string;
  readonly stderr?: string;
  readonly code?: number;
  /** State that the engine reads when it has the lock. Only for `hold`. */
  readonly state?: Readonly<Record<string, unknown>>;
  /**
   * End of the operation. `wait`: the engine runs until SIGINT. `hang`: it runs until the second
   * SIGINT. `die`: it is killed.
   */
  readonly then?: "wait" | "hang" | "die";
  /** Path of the lock file that exists while the engine runs. Default: the engine has no lock. */
  readonly lock?: string;
}

export interface EngineOutput {
  readonly value: unknown;
  readonly secret?: boolean;
}

/** Fake `pulumi` and its tools, which follow the instructions of a test (see engine-stub.sh). */
export class Engine {
  readonly directory: string;
  readonly bin: string;

  constructor(directory = mkdtempSync(join(tmpdir(), "stackadm-fake-engine-"))) {
    this.directory = directory;
    this.bin = join(directory, "bin");
    mkdirSync(this.bin, { recursive: true });
    const stub = join(__dirname, "engine-stub.sh");
    this.command("pulumi", `NODE='${process.execPath}' exec /bin/sh '${stub}' "$@"`);
    for (const name of ["openstack", "kubernetes", "command"])
      this.command(`pulumi-resource-${name}`, "exit 1");
    this.command("pulumi-language-nodejs", "exit 1");
    writeFileSync(join(directory, "calls"), "");
    this.outputs({});
    this.history([]);
  }

  /** Adds a command to the engine's PATH. */
  command(name: string, script: string): void {
    writeFileSync(join(this.bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  /**
   * Returns environment variables. Their PATH contains the directory of the fake engine first, and
   * then the tools of this machine.
   */
  environment(): Record<string, string> {
    const path = [this.bin, dirname(process.execPath), process.env["PATH"] ?? ""];
    return { PATH: path.join(delimiter), FAKE_ENGINE: this.directory };
  }

  access(): StateAccess {
    const workspace = { stack: "dev", project: "stackadm", directory: this.directory };
    return { workspace, env: this.environment() };
  }

  /**
   * Sets the stack's state. `null` means the state before the first step. If this method is not
   * called, the stack does not exist.
   */
  state(deployment: Readonly<Record<string, unknown>> | null): void {
    this.write("state.json", { version: 3, deployment });
  }

  /** Sets the history of updates that the engine returns, newest first. */
  history(runs: readonly unknown[]): void {
    this.write("history.json", runs);
  }

  outputs(outputs: Readonly<Record<string, EngineOutput>>): void {
    const shown = (clear: boolean): unknown =>
      Object.fromEntries(
        Object.entries(outputs).map(([name, { value, secret }]) => [
          name,
          secret === true && !clear ? "[secret]" : value,
        ]),
      );
    this.write("outputs.json", shown(false));
    this.write("outputs-clear.json", shown(true));
  }

  /**
   * Sets the behaviour of `up`, `preview`, `refresh`, `destroy` and `hold` (an `up` that only holds
   * the lock). By default, all operations succeed.
   */
  runs(runs: Readonly<Record<string, EngineRun>>): void {
    rmSync(join(this.directory, "runs"), { recursive: true, force: true });
    for (const [name, run] of Object.entries(runs)) this.write(`runs/${name}.json`, run);
  }

  /** Sets the values of encrypted settings that the engine decrypts. */
  decrypts(values: Readonly<Record<string, string>>): void {
    const config = Object.entries(values).map(([key, value]) => [key, { value, secret: true }]);
    this.write("config.json", Object.fromEntries(config));
  }

  /** Makes `pulumi config` and subcommands of `pulumi stack` fail with these error texts. */
  refuses(texts: Readonly<Partial<Record<`stack ${string}` | "config", string>>>): void {
    for (const [command, text] of Object.entries(texts))
      this.put(`refusals/${command}`, text ?? "");
  }

  /** Sets whether `stack ls` reports an update in progress, as Pulumi Cloud does. */
  updating(isUpdating: boolean): void {
    if (isUpdating) this.put("updating", "");
    else rmSync(join(this.directory, "updating"), { force: true });
  }

  /** Sets a tag of the stack. */
  tag(name: string, value: string): void {
    this.put(`tag ${name}`, `${value}\n`);
  }

  /** Returns the value of a tag of the stack. Returns undefined if the stack has no such tag. */
  readTag(name: string): string | undefined {
    const file = join(this.directory, `tag ${name}`);
    return existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
  }

  /** Deletes the stack. */
  forget(): void {
    rmSync(join(this.directory, "state.json"), { force: true });
  }

  /** Returns the current state, or undefined if the stack does not exist. */
  stateNow(): { deployment: Record<string, unknown> } | undefined {
    const file = join(this.directory, "state.json");
    return existsSync(file)
      ? (JSON.parse(readFileSync(file, "utf8")) as { deployment: Record<string, unknown> })
      : undefined;
  }

  /** Returns the command lines of all calls of the engine until now. */
  calls(): string[] {
    return readFileSync(join(this.directory, "calls"), "utf8").split("\n").filter(Boolean);
  }

  /** Returns the environment of the last call of a subcommand, such as `up` or `stack`. */
  environmentOf(subcommand: string): ReadonlyMap<string, string> {
    const lines = readFileSync(join(this.directory, `environment-${subcommand}`), "utf8");
    return new Map(
      lines.split("\n").map((line) => {
        const [name = "", ...value] = line.split("=");
        return [name, value.join("=")];
      }),
    );
  }

  /**
   * Returns the PID of the process that holds the stack's lock during a repair. Returns undefined
   * if no process holds the lock.
   */
  heldBy(): number | undefined {
    const file = join(this.directory, "held");
    return existsSync(file) ? Number(readFileSync(file, "utf8")) : undefined;
  }

  /**
   * Returns the operations among the calls: `up`, `destroy`, ... `hold` is an `up` that only held
   * the lock.
   */
  operations(): string[] {
    return this.calls()
      .map((call) => (call.includes("--skip-preview=false") ? "hold" : (call.split(" ")[0] ?? "")))
      .filter((name) => ["up", "preview", "refresh", "destroy", "hold"].includes(name));
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  private write(name: string, value: unknown): void {
    this.put(name, `${JSON.stringify(value)}\n`);
  }

  private put(name: string, text: string): void {
    const file = join(this.directory, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** Returns the URN of a resource of the stack `dev`. */
export const urnOf = (type: string, name: string): string =>
  `urn:pulumi:dev::stackadm::stackadm:index:Cluster$${type}::${name}`;

/** Returns the engine's event for the start or the end of a step. */
export function stepEvent(
  when: "resourcePreEvent" | "resOutputsEvent" | "resOpFailedEvent",
  {
    type,
    name,
    op = "create",
    inputs = {},
  }: { type: string; name: string; op?: string; inputs?: object },
): unknown {
  const made = { id: `id-of-${name}`, custom: true, inputs };
  return { timestamp: 1, [when]: { metadata: { op, urn: urnOf(type, name), new: made } } };
}

/** Engine's event for unchanged outputs of a program. */
export const sameOutputs: unknown = {
  timestamp: 1,
  resOutputsEvent: {
    metadata: { op: "same", urn: urnOf("pulumi:pulumi:Stack", "stackadm-dev"), old: {}, new: {} },
  },
};

/** Returns the engine's event for a line that a running command printed. */
export const printed = (message: string, urn: string): unknown => ({
  timestamp: 1,
  diagnosticEvent: { message, severity: "info", ephemeral: true, urn },
});

/** Returns the engine's event for a diagnostic message of a resource. */
export const diagnostic = (message: string, severity = "error", urn?: string): unknown => ({
  timestamp: 1,
  diagnosticEvent: { message, severity, ...(urn === undefined ? {} : { urn }) },
});

export const instanceType = "openstack:compute/instance:Instance";
export const commandType = "command:remote:Command";
export const networkType = "openstack:networking/network:Network";
