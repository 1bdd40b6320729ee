import * as pulumi from "@pulumi/pulumi";
import type { ClusterSpec } from "../spec/cluster-spec.js";
import type { PlannedMachine } from "../plan/cluster-plan.js";
import { replacementProblems, type Existing } from "../plan/replacements.js";
import { isUpgrade, upgradeProblems, type VersionBefore } from "../plan/upgrades.js";
import { livesByMajority, type Role } from "../plan/roles.js";
import type { CloudFacts } from "../support/catalog.js";
import { ConfigError } from "../support/errors.js";
import type { ExistingServers } from "../support/server-marks.js";
import { settled } from "../support/settled.js";

/** Whether a server was made in another generation. One of a release that did not write it is in the first, as far as is known. */
const isOlder = (made: string | undefined, wanted: number): boolean =>
  made !== undefined && (made === "" ? wanted > 0 : made !== String(wanted));

type PlannedTurn = Pick<PlannedMachine, "role" | "name" | "generation">;

interface Waiting {
  readonly role: Role;
  readonly machine: string;
  readonly generation: number;
  /** Known when the machine is in the cluster and Ready. */
  joined?: pulumi.Output<string>;
}

/**
 * One at a time: a machine that exists in another generation than the wanted one is replaced only when all machines before
 * it are done. The order is data, not a lock: its inputs become known when its turn comes.
 */
export class Turns {
  /** In the order in which they are made. */
  readonly #machines: Waiting[] = [];

  /**
   * The turns of a run. Nobody waits in a preview, which shows the same rows.
   *
   * @param before answers which version of Kubernetes the cluster had
   */
  static of(
    spec: ClusterSpec,
    cloud: pulumi.Output<CloudFacts>,
    before: () => Promise<VersionBefore>,
  ): Turns {
    if (pulumi.runtime.isDryRun()) return new Turns(undefined);
    const found = cloud.apply(({ servers }) => (servers ? JSON.stringify(servers) : ""));
    const asked = before();
    const existing = Promise.all([settled(found), asked]).then(([text, version]) =>
      possible(spec, generations(text), version),
    );
    return new Turns(
      existing,
      asked.then(({ reached }) => isUpgrade(spec, reached)),
    );
  }

  /**
   * @param existing nothing when nobody has to wait; `undefined` inside when nobody can tell what exists
   * @param upgrading whether machines get another version of Kubernetes. Default: none does
   */
  constructor(
    private readonly existing: Promise<Existing | undefined> | undefined,
    private readonly upgrading: Promise<boolean> = Promise.resolve(false),
  ) {}

  /**
   * The wanted generation of a role's next machine, known when it is its turn. Where they live by majority, each waits for those
   * of its role before it and for nobody else: that is the order in which their scripts wait for each other, and in another one
   * two would. Nobody replaces machines of two such roles at once. All others have one order, after these.
   */
  next({ role, name, generation }: PlannedTurn): pulumi.Input<number> {
    const me: Waiting = { role, machine: name, generation };
    this.#machines.push(me);
    return this.existing === undefined
      ? me.generation
      : pulumi.output(this.turn(me, this.existing));
  }

  /** Says what makes `machine` done. */
  done(machine: string, joined: pulumi.Output<string>): void {
    for (const one of this.#machines) if (one.machine === machine) one.joined = joined;
  }

  /** A text that is known when no machine of a role is replaced or upgraded any more. */
  afterAll(role: Role, text: pulumi.Output<string>): pulumi.Output<string> {
    if (this.existing === undefined) return text;
    const rolled = Promise.all([this.existing, this.upgrading]).then(([existing, upgrading]) =>
      this.doneWith(upgrading ? this.of(role) : this.rolling(role, existing)),
    );
    return pulumi.all([text, rolled]).apply(([released]) => released);
  }

  /**
   * The version of Kubernetes for a machine that lives by no majority, known when it may have it: a kubelet must not be newer than an API
   * server, so that `first` is known, also where the machine is new; and those that exist have it one after another. Nobody
   * waits while all have it.
   */
  version(machine: string, version: string, first: pulumi.Output<string>): pulumi.Input<string> {
    if (this.existing === undefined) return version;
    return pulumi.output(this.mayHaveVersion(machine, this.existing, first).then(() => version));
  }

  private async mayHaveVersion(
    machine: string,
    asked: Promise<Existing | undefined>,
    first: pulumi.Output<string>,
  ): Promise<void> {
    if (!(await this.upgrading)) return;
    await settled(first);
    await this.after(machine, asked, first);
  }

  /**
   * A text by which machines that exist change, known when it is the machine's turn: `first` is known, and those before it are
   * done. Nobody waits for no text, and no machine that does not exist yet.
   */
  inTurn(
    machine: string,
    text: pulumi.Input<string>,
    first: pulumi.Output<string>,
  ): pulumi.Input<string> {
    if (text === "" || this.existing === undefined) return text;
    return pulumi
      .all([text, this.after(machine, this.existing, first)])
      .apply(([released]) => released);
  }

  private async after(
    machine: string,
    asked: Promise<Existing | undefined>,
    first: pulumi.Output<string>,
  ): Promise<void> {
    const existing = await asked;
    const exists = (name: string): boolean => existing?.has(name) ?? true;
    if (!exists(machine)) return;
    await settled(first);
    await this.doneWith(this.before(machine, existing).filter((one) => exists(one.machine)));
  }

  private async turn(me: Waiting, asked: Promise<Existing | undefined>): Promise<number> {
    const existing = await asked;
    if (!this.waits(me, existing)) return me.generation;
    await this.doneWith([...(await this.upgradedBefore(me)), ...this.earlier(me, existing)]);
    return me.generation;
  }

  /** A machine that is created again comes with the new version. */
  private async upgradedBefore(me: Waiting): Promise<readonly Waiting[]> {
    if (livesByMajority(me.role) || !(await this.upgrading)) return [];
    return this.#machines.filter(({ role }) => livesByMajority(role));
  }

  private async doneWith(machines: readonly Waiting[]): Promise<void> {
    await Promise.all(machines.flatMap(({ joined }) => (joined ? [settled(joined)] : [])));
  }

  private waits({ machine, generation }: Waiting, existing: Existing | undefined): boolean {
    return existing === undefined ? generation > 0 : isOlder(existing.get(machine), generation);
  }

  private earlier(me: Waiting, existing: Existing | undefined): readonly Waiting[] {
    if (livesByMajority(me.role)) {
      const order = this.of(me.role);
      return order.slice(0, order.indexOf(me));
    }
    const first = new Set(this.#machines.map(({ role }) => role).filter(livesByMajority));
    return [
      ...[...first].flatMap((role) => this.rolling(role, existing)),
      ...this.before(me.machine, existing),
    ];
  }

  private of(role: Role): readonly Waiting[] {
    return this.#machines.filter((one) => one.role === role);
  }

  /** All of a role, if one is replaced. */
  private rolling(role: Role, existing: Existing | undefined): readonly Waiting[] {
    const order = this.of(role);
    return order.some((one) => this.waits(one, existing)) ? order : [];
  }

  /**
   * One order for whatever machines wait for, or two would wait for each other. Those that are not replaced are done first: a
   * machine that is missing anyway should not be one more that is down.
   */
  private before(machine: string, existing: Existing | undefined): readonly Waiting[] {
    const order = this.#machines.filter(({ role }) => !livesByMajority(role));
    const position = order.findIndex((one) => one.machine === machine);
    const me = order[position];
    if (!me) return [];
    const last = this.waits(me, existing);
    return order.filter((one, index) =>
      this.waits(one, existing) === last ? index < position : last,
    );
  }
}

function generations(found: string): Existing | undefined {
  if (found === "") return undefined;
  const servers = Object.entries(JSON.parse(found) as ExistingServers);
  return new Map(servers.map(([name, { generation }]) => [name, generation]));
}

/** The servers that exist, unless what is wanted of them must not be done. */
function possible(
  spec: ClusterSpec,
  existing: Existing | undefined,
  version: VersionBefore,
): Existing | undefined {
  const problems = existing
    ? [...replacementProblems(spec, existing), ...upgradeProblems(spec, { ...version, existing })]
    : [];
  if (problems.length > 0)
    throw new ConfigError(`The specification of the living cluster ${spec.name}`, problems);
  return existing;
}
