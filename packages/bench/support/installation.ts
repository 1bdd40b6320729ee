import { spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../../base/run-command.js";
import { toYaml } from "../../../base/yaml.js";
import { recordedState } from "../../../test/support/engine/record-state.js";
import type { FakeCloud } from "../../../test/support/cloud/fake-openstack.js";
import type { BenchFakeCluster } from "./fake-cluster.js";
import { watchProcesses, type WatchedProcess } from "./process-watch.js";

const parts = [
  ...["dist", "package.json", "Pulumi.yaml"],
  ...["automation/cli/stackadm.mjs", "automation/cli/run-on-supported-node.mjs"],
];

/** Returns the environment of this process without the variables that name a cloud or a backend. */
const environmentWithoutCloud = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(OS|PULUMI|STACKADM)_/.test(name)),
  );

export interface CommandRun {
  /** Milliseconds from start to end. */
  readonly wall: number;
  readonly output: string;
  readonly processes: readonly WatchedProcess[];
}

/** Cloud that an installation uses, and settings of its stack. */
export interface InstallationSettings {
  readonly cloud: Pick<FakeCloud, "environment" | "authUrl">;
  readonly args: BenchFakeCluster["args"];
}

/**
 * Checkout that is installed like the published package. It has a separate home directory and
 * state.
 */
export class Installation {
  private readonly home = mkdtempSync(join(tmpdir(), "stackadm-bench-"));
  private readonly place = join(this.home, "package");
  private readonly env: NodeJS.ProcessEnv;

  private constructor(
    readonly checkout: string,
    place: InstallationSettings,
    /** Interval between two reads of the process list, in milliseconds. */
    private readonly interval?: number,
  ) {
    mkdirSync(this.place);
    for (const part of parts)
      cpSync(join(checkout, part), join(this.place, part), { recursive: true });
    symlinkSync(join(checkout, "node_modules"), join(this.place, "node_modules"));
    this.configure(place.args);
    this.env = {
      ...environmentWithoutCloud(),
      ...place.cloud.environment(),
      OS_AUTH_URL: `${place.cloud.authUrl}/v3`,
      HOME: this.home,
      XDG_STATE_HOME: join(this.home, "state"),
      // Uses the toolchain that was built before, because a new build takes minutes.
      XDG_CACHE_HOME: process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"),
      PULUMI_HOME: join(this.home, "pulumi"),
      STACKADM_STAND_INS: "1",
      SSH_AUTH_SOCK: "",
    };
  }

  /** Returns an installation without a cluster. */
  static async empty(
    checkout: string,
    place: InstallationSettings,
    interval?: number,
  ): Promise<Installation> {
    // Compiles the checkout if needed.
    await run(process.execPath, [join(checkout, "automation/cli/stackadm.mjs"), "--version"]);
    return new Installation(checkout, place, interval);
  }

  /** Returns an installation whose state contains the cluster. */
  static async of(checkout: string, living: BenchFakeCluster): Promise<Installation> {
    const made = await Installation.empty(checkout, living);
    try {
      await made.hold(living);
      // Writes the outputs to the state and reads every file once, before any measurement.
      await made.stackadm("up");
    } catch (error) {
      made.remove();
      throw error;
    }
    return made;
  }

  /** Writes the settings of the stack. */
  configure(args: InstallationSettings["args"]): void {
    const config = { "stackadm:cluster": args };
    writeFileSync(join(this.place, "Pulumi.dev.yaml"), toYaml({ config }));
  }

  /** Runs a command until it exits. */
  async stackadm(...args: readonly string[]): Promise<CommandRun> {
    const mark = `STACKADM_BENCH=${Date.now()}`;
    const [name = "", value = ""] = mark.split("=");
    const since = performance.now();
    const script = join(this.place, "automation/cli/stackadm.mjs");
    const child = spawn(process.execPath, [script, ...args], {
      cwd: this.place,
      env: { ...this.env, [name]: value },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (part: string) => (output += part));
    const ended = new Promise<number | null>((done, failed) => {
      child.once("error", failed).once("close", done);
    });
    const processes = await watchProcesses(mark, ended, this.interval);
    const wall = Math.round(performance.now() - since);
    if ((await ended) !== 0) throw new Error(`stackadm ${args.join(" ")} failed:\n${output}`);
    return { wall, output, processes };
  }

  /** Returns the size of the stack's state in bytes. */
  stateSize(): number {
    const stacks = join(this.home, "state", "stackadm", "pulumi", ".pulumi", "stacks");
    const files = readdirSync(stacks, { recursive: true, encoding: "utf8" });
    const [file = ""] = files.filter((name) => name.endsWith("dev.json"));
    return statSync(join(stacks, file)).size;
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true });
    this.forgetTools();
  }

  /**
   * Deletes the commands of this installation from the toolchain's cache. The cache has a separate
   * `bin-` directory for each directory in which the package is installed.
   */
  private forgetTools(): void {
    const toolchain = join(this.env["XDG_CACHE_HOME"] ?? "", "stackadm", "toolchain");
    if (!existsSync(toolchain)) return;
    for (const directory of readdirSync(toolchain).filter((name) => name.startsWith("bin-"))) {
      const command = join(toolchain, directory, "pulumi-language-nodejs");
      if (existsSync(command) && readFileSync(command, "utf8").includes(this.place))
        rmSync(join(toolchain, directory), { recursive: true });
    }
  }

  /** Imports a state that contains the cluster, as if this installation had created the cluster. */
  private async hold(living: BenchFakeCluster): Promise<void> {
    // Creates the stack, the SSH key and the salt of the secrets.
    await this.stackadm("preview");
    const kept = join(this.home, "state", "stackadm");
    const publicKey = readFileSync(join(kept, "ssh", "id_ed25519.pub"), "utf8").trim();
    const { facts: cloud, answers, args } = living;
    const cluster = { args: { ...args, ssh: { publicKey } }, cloud };
    const state = await recordedState(cluster, { answers, scripts: true });
    // Replaces the region and the project of the tests' cloud by those of this fake cloud.
    const { region, projectId } = cloud.scope;
    const here = state
      .replaceAll('"region-one"', `"${region}"`)
      .replaceAll('"project-id"', `"${projectId}"`);
    const recorded = JSON.parse(here) as { deployment: object };
    const work = join(kept, "work");
    const directory = join(work, readdirSync(work)[0] ?? "");
    const settings = readFileSync(join(directory, "Pulumi.dev.yaml"), "utf8");
    const salt = /^encryptionsalt: (\S+)$/m.exec(settings)?.[1];
    const keeper = { secrets_providers: { type: "passphrase", state: { salt } } };
    const input = JSON.stringify({
      ...recorded,
      deployment: { ...recorded.deployment, ...keeper },
    });
    const env = { ...this.env, ...(await this.variables()) };
    await run("pulumi", ["stack", "import", "--stack", "dev"], { cwd: directory, env, input });
  }

  /** Returns the additional environment variables of an operation. */
  private async variables(): Promise<Record<string, string>> {
    const { output } = await this.stackadm("env");
    const found = output.matchAll(/^export (\w+)=(.*)$/gm);
    return Object.fromEntries([...found].map(([, name = "", value = ""]) => [name, value]));
  }
}
