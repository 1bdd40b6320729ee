import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Project, type Run } from "./project.js";
import { SshServer, keyPair } from "./ssh-server.js";

const rolloutModule = resolve(__dirname, "../../../components/lifecycle/rollout.ts");

/**
 * First part of a Pulumi program that replaces machines. Local commands represent servers. Commands
 * over SSH represent scripts. Each command appends a line to the file LOG, and fails if the file
 * `FAILS-<name of the step>` exists. `wanted` is the argument of `up`. `order` delays replacements;
 * `wanted.existing` contains the generations of the servers that Nova would report.
 */
const beginning = `
import * as pulumi from "@pulumi/pulumi";
import * as command from "@pulumi/command";
import { Rollout } from ${JSON.stringify(rolloutModule)};

const { PORT, KEY, HOST_KEY, LOG, FAILS } = process.env;
const wanted = JSON.parse(process.env.WANTED ?? "{}");
const connection = {
  host: "127.0.0.1", port: Number(PORT), privateKey: KEY, hostKey: HOST_KEY, dialErrorLimit: 1,
};
const note = (what: string): string => "echo " + what + " $(cat) >>" + LOG + "; [ ! -e " + FAILS + "-" + what + " ]";
const server = (name: string, options: pulumi.CustomResourceOptions = {}): command.local.Command =>
  new command.local.Command(name + "-server", {
    create: note("made-" + name), delete: note("gone-" + name), addPreviousOutputInEnv: false,
  }, { deleteBeforeReplace: true, ...options });
const script = (
  name: string, args: Partial<command.remote.CommandArgs>, options?: pulumi.CustomResourceOptions,
): command.remote.Command =>
  new command.remote.Command(name, { connection, addPreviousOutputInEnv: false, ...args }, options);
const both = (name: string): object => ({ create: note("begun-" + name), update: note("joined-" + name) });
const order = new Rollout(
  wanted.existing && !pulumi.runtime.isDryRun() ? Promise.resolve(new Map(Object.entries(wanted.existing))) : undefined,
);
`;

/** Pulumi project that replaces machines in order. One SSH server represents all machines. */
export class Roll<Wanted extends object> {
  readonly #log: string;
  readonly #fails: string;

  private constructor(
    readonly project: Project,
    private readonly ssh: SshServer,
  ) {
    this.#log = join(project.directory, "log");
    this.#fails = join(project.directory, "fails");
    Object.assign(project.environment, { LOG: this.#log, FAILS: this.#fails });
  }

  /** Creates a project. Its program is `beginning` followed by `program`. */
  static async create<Wanted extends object>(program: string): Promise<Roll<Wanted>> {
    const key = keyPair();
    const ssh = await SshServer.start({ authorizedKeys: [key.public] });
    const project = await Project.create({
      program: beginning + program,
      file: "index.ts",
      environment: { PORT: String(ssh.port), KEY: key.private, HOST_KEY: ssh.hostKey },
    });
    return new Roll(project, ssh);
  }

  /** Sets the argument of the program for the following operations. */
  want(wanted: Wanted): void {
    this.project.environment["WANTED"] = JSON.stringify(wanted);
  }

  up(wanted: Wanted, ...more: string[]): Promise<Run> {
    this.want(wanted);
    return this.project.up(...more);
  }

  /** Returns the names of the steps that ran since the last call. */
  happened(): string[] {
    const lines = existsSync(this.#log) ? readFileSync(this.#log, "utf8").trim().split("\n") : [];
    rmSync(this.#log, { force: true });
    return lines.map((line) => line.split(" ")[0] ?? "");
  }

  /** Makes a step fail. Returns a function that makes the step succeed again. */
  makeStepFail(what: string): () => void {
    const file = `${this.#fails}-${what}`;
    writeFileSync(file, "");
    return () => {
      rmSync(file);
    };
  }

  async remove(): Promise<void> {
    this.project.remove();
    await this.ssh.stop();
  }
}
