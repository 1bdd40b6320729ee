import * as pulumi from "@pulumi/pulumi";
import type { ClusterSpec } from "../config/cluster-spec.js";
import type { PlannedMachine } from "../plan/cluster-plan.js";
import { findReplacementProblems, type ExistingGenerations } from "../plan/replacements.js";
import { isUpgrade, findUpgradeProblems, type VersionBeforeUpgrade } from "../plan/upgrades.js";
import { needsMajority, type MachineRole } from "../config/roles.js";
import type { CloudFacts } from "../lookup/cloud-lookup.js";
import { createConfigError } from "../pulumi/errors.js";
import type { ExistingServers } from "../lookup/server-metadata.js";
import { awaitOutput } from "../pulumi/await-output.js";

/**
 * Returns whether a server's generation differs from the wanted generation. A server without a
 * generation in its metadata counts as generation 0.
 */
const isOlder = (present: string | undefined, wanted: number): boolean =>
  present !== undefined && (present === "" ? wanted > 0 : present !== String(wanted));

/** Function that returns a text whose value becomes known only at the machine's turn. */
type DelayUntilTurn = (text: pulumi.Input<string>) => pulumi.Input<string>;

/** Functions that delay values of one machine until its turn. */
export interface MachineTurn {
  readonly delay: DelayUntilTurn;
  /**
   * Delays the text only in a run that changes containerd's configuration. In other runs, the
   * machines are prepared in parallel.
   */
  readonly delayContainerdChange: DelayUntilTurn;
}

type PlannedTurn = Pick<PlannedMachine, "role" | "name" | "generation">;

/** Machine in the order. */
interface Waiting {
  readonly role: MachineRole;
  readonly machine: string;
  /** Wanted generation. */
  readonly generation: number;
  /** Output that becomes known when the machine is in the cluster and Ready. */
  joined?: pulumi.Output<string>;
}

/**
 * Makes a run replace, upgrade or change machines one at a time. For each machine, returns an input
 * (generation, version or text) that becomes known only when all machines before it are done. The
 * engine waits for the input before it changes the machine.
 */
export class Rollout {
  /** Machines in the order in which the program creates their resources. */
  readonly #machines: Waiting[] = [];

  /**
   * Returns the order of a run. In a preview, all inputs are known at once, because the preview
   * must show all changes.
   *
   * @param whole specification with all worker pools
   * @param before returns the versions of the cluster before the run
   * @param containerdChecksum checksum of containerd's settings in this run
   */
  static forRun(
    whole: Promise<ClusterSpec>,
    cloud: pulumi.Output<CloudFacts>,
    before: () => Promise<VersionBeforeUpgrade>,
    containerdChecksum: string,
  ): Rollout {
    if (pulumi.runtime.isDryRun()) return new Rollout(undefined);
    const found = cloud.apply(({ servers }) => (servers ? JSON.stringify(servers) : ""));
    const asked = before();
    const existing = Promise.all([whole, awaitOutput(found), asked]).then(([spec, text, version]) =>
      requirePossibleChanges(spec, parseGenerations(text), version),
    );
    return new Rollout(
      existing,
      Promise.all([whole, asked]).then(([spec, { reached }]) => isUpgrade(spec, reached)),
      asked.then(({ containerd }) => containerd !== undefined && containerd !== containerdChecksum),
    );
  }

  /**
   * Creates an order without machines.
   *
   * @param existing generations of the existing servers. Undefined: no machine waits. A promise of
   * undefined: the servers are unknown
   * @param upgrading whether machines get another Kubernetes version. Default: false
   * @param changesContainerd whether machines get another configuration of containerd. Default:
   * false
   */
  constructor(
    private readonly existing: Promise<ExistingGenerations | undefined> | undefined,
    private readonly upgrading: Promise<boolean> = Promise.resolve(false),
    private readonly changesContainerd: Promise<boolean> = Promise.resolve(false),
  ) {}

  /**
   * Adds the next machine to the order. Returns the machine's wanted generation, which becomes
   * known when the machine may be replaced. A machine whose role needs a majority waits only for
   * earlier machines of its role. The scripts of these machines already run one after another in
   * this order, so another order would cause a deadlock. A run replaces machines of only one such
   * role. All other machines follow one after another.
   */
  addMachine({ role, name, generation }: PlannedTurn): pulumi.Input<number> {
    const me: Waiting = { role, machine: name, generation };
    this.#machines.push(me);
    return this.existing === undefined
      ? me.generation
      : pulumi.output(this.turn(me, this.existing));
  }

  /** Sets the output that becomes known when `machine` is done. Later machines wait for it. */
  setDoneOutput(machine: string, joined: pulumi.Output<string>): void {
    for (const one of this.#machines) if (one.machine === machine) one.joined = joined;
  }

  /**
   * Returns `text` as an output that becomes known after the run has replaced and upgraded all
   * machines of the role.
   */
  delayUntilAllDone(role: MachineRole, text: pulumi.Output<string>): pulumi.Output<string> {
    if (this.existing === undefined) return text;
    const rolled = Promise.all([this.existing, this.upgrading]).then(([existing, upgrading]) =>
      this.awaitDone(upgrading ? this.listMachinesWithRole(role) : this.rolling(role, existing)),
    );
    return pulumi.all([text, rolled]).apply(([released]) => released);
  }

  /**
   * Returns `version`, the Kubernetes version for a machine whose role needs no majority. In an
   * upgrade, the version becomes known when the machine may be upgraded. All machines wait for
   * `first`, because a kubelet must not be newer than an API server. Existing machines also wait
   * for the machines before them.
   *
   * @param first output that becomes known after the upgrade of the control planes
   */
  delayVersion(
    machine: string,
    version: string,
    first: pulumi.Output<string>,
  ): pulumi.Input<string> {
    if (this.existing === undefined) return version;
    return pulumi.output(this.mayHaveVersion(machine, this.existing, first).then(() => version));
  }

  private async mayHaveVersion(
    machine: string,
    asked: Promise<ExistingGenerations | undefined>,
    first: pulumi.Output<string>,
  ): Promise<void> {
    if (!(await this.upgrading)) return;
    await awaitOutput(first);
    await this.after(machine, asked, first);
  }

  /**
   * Returns `text`, an input that changes an existing machine. The text becomes known after `first`
   * and after the machines before this machine are done. An empty text, and a text for a new
   * machine, are known at once.
   */
  delayUntilTurn(
    machine: string,
    text: pulumi.Input<string>,
    first: pulumi.Output<string>,
  ): pulumi.Input<string> {
    if (text === "" || this.existing === undefined) return text;
    return pulumi
      .all([text, this.after(machine, this.existing, first)])
      .apply(([released]) => released);
  }

  /**
   * Returns the functions that delay values of an existing machine until its turn.
   *
   * @param first output that becomes known when the first machine may have its turn
   */
  getTurn(machine: string, first: pulumi.Output<string>): MachineTurn {
    return {
      delay: (text) => this.delayUntilTurn(machine, text, first),
      delayContainerdChange: (text) =>
        this.existing === undefined
          ? text
          : pulumi
              .all([text, this.mayChangeContainerd(machine, this.existing, first)])
              .apply(([released]) => released),
    };
  }

  private async mayChangeContainerd(
    machine: string,
    asked: Promise<ExistingGenerations | undefined>,
    first: pulumi.Output<string>,
  ): Promise<void> {
    if (await this.changesContainerd) await this.after(machine, asked, first);
  }

  private async after(
    machine: string,
    asked: Promise<ExistingGenerations | undefined>,
    first: pulumi.Output<string>,
  ): Promise<void> {
    const existing = await asked;
    const exists = (name: string): boolean => existing?.has(name) ?? true;
    if (!exists(machine)) return;
    await awaitOutput(first);
    await this.awaitDone(this.before(machine, existing).filter((one) => exists(one.machine)));
  }

  private async turn(
    me: Waiting,
    asked: Promise<ExistingGenerations | undefined>,
  ): Promise<number> {
    const existing = await asked;
    if (!this.isReplaced(me, existing)) return me.generation;
    await this.awaitDone([...(await this.upgradedBefore(me)), ...this.earlier(me, existing)]);
    return me.generation;
  }

  /**
   * Returns the machines that must be upgraded before this machine is replaced. The replaced
   * machine gets the new Kubernetes version, which must not be newer than the version of the API
   * servers.
   */
  private async upgradedBefore(me: Waiting): Promise<readonly Waiting[]> {
    if (needsMajority(me.role) || !(await this.upgrading)) return [];
    return this.#machines.filter(({ role }) => needsMajority(role));
  }

  private async awaitDone(machines: readonly Waiting[]): Promise<void> {
    await Promise.all(machines.flatMap(({ joined }) => (joined ? [awaitOutput(joined)] : [])));
  }

  private isReplaced(
    { machine, generation }: Waiting,
    existing: ExistingGenerations | undefined,
  ): boolean {
    return existing === undefined ? generation > 0 : isOlder(existing.get(machine), generation);
  }

  private earlier(me: Waiting, existing: ExistingGenerations | undefined): readonly Waiting[] {
    if (needsMajority(me.role)) {
      const order = this.listMachinesWithRole(me.role);
      return order.slice(0, order.indexOf(me));
    }
    const first = new Set(this.#machines.map(({ role }) => role).filter(needsMajority));
    return [
      ...[...first].flatMap((role) => this.rolling(role, existing)),
      ...this.before(me.machine, existing),
    ];
  }

  private listMachinesWithRole(role: MachineRole): readonly Waiting[] {
    return this.#machines.filter((one) => one.role === role);
  }

  /**
   * Returns all machines of a role if the run replaces at least one of these machines. Otherwise
   * returns no machines.
   */
  private rolling(
    role: MachineRole,
    existing: ExistingGenerations | undefined,
  ): readonly Waiting[] {
    const order = this.listMachinesWithRole(role);
    return order.some((one) => this.isReplaced(one, existing)) ? order : [];
  }

  /**
   * Returns the machines that come before this machine, among the roles that need no majority.
   * Machines that the run does not replace come first. If the server of such a machine is missing,
   * the run creates it before another machine is drained. The order is the same for replacements,
   * upgrades and other changes, because otherwise two machines could wait for each other.
   */
  private before(machine: string, existing: ExistingGenerations | undefined): readonly Waiting[] {
    const order = this.#machines.filter(({ role }) => !needsMajority(role));
    const position = order.findIndex((one) => one.machine === machine);
    const me = order[position];
    if (!me) return [];
    const last = this.isReplaced(me, existing);
    return order.filter((one, index) =>
      this.isReplaced(one, existing) === last ? index < position : last,
    );
  }
}

function parseGenerations(found: string): ExistingGenerations | undefined {
  if (found === "") return undefined;
  const servers = Object.entries(JSON.parse(found) as ExistingServers);
  return new Map(servers.map(([name, { generation }]) => [name, generation]));
}

/**
 * Returns `existing`. Throws if the specification contains a replacement or an upgrade that is not
 * possible.
 */
function requirePossibleChanges(
  spec: ClusterSpec,
  existing: ExistingGenerations | undefined,
  version: VersionBeforeUpgrade,
): ExistingGenerations | undefined {
  const problems = existing
    ? [
        ...findReplacementProblems(spec, existing),
        ...findUpgradeProblems(spec, { ...version, existing }),
      ]
    : [];
  if (problems.length > 0)
    throw createConfigError(`The specification of the existing cluster ${spec.name}`, problems);
  return existing;
}
