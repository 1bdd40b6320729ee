import assert from "node:assert/strict";
import { ClusterError } from "../../../automation/cluster/cluster-error.js";
import type { ClusterService } from "../../../automation/cluster/cluster-service.js";
import type { ClusterEvent } from "../../../automation/cluster/events.js";
import type { UpOptions } from "../../../automation/cluster/options.js";
import { identitiesOf, ownedIds, type StateExport } from "../../../automation/cluster/state.js";
import {
  compareInventories,
  listObjects,
  takeInventory,
  type CloudObject,
} from "../../../cloud/inventory.js";
import { deleteOrphans } from "../../../cloud/orphans.js";
import { enginesOf } from "./engine.js";
import { behindProxy } from "./behind-proxy.js";
import type { FaultyProxy } from "./faulty-proxy.js";
import { until } from "./foreign.js";
import { kubectlOn } from "./kubectl.js";
import { changes, labCluster, type LabCluster } from "./lab-cluster.js";
import { begins, failingCalls, faults, momentOf, type Draw } from "./seed.js";
import { machinesAreBack, strike } from "./strikes.js";
import { isServicePort, unmarkedSince } from "./unmarked.js";

const minutes = 60_000;
/** An `up` that is not over by then is stopped, and the run has failed. */
const longest = 20 * minutes;
/** How many `up`s may follow the one that was hit. */
const mostFurther = 2;

/** The stack of every run. */
export const stackName = "random";

/** Without what is another for each cluster: identities, addresses, the numbers of claims. */
const described = ({ kind, name }: CloudObject): string =>
  `${kind} ${/^kube_service_.*_([^_]+)$/.exec(name)?.[1] ?? /^[a-z]*/.exec(name)?.[0] ?? ""}`.trim();

/** How a run went, for the figures. */
export interface Figures {
  /** `resource 12 of 90`. */
  readonly moment: string;
  /** Absent: nothing was there to be hit. */
  readonly hit?: string;
  /** How each `up` ended, the one that was hit first: `well`, or the failure. */
  readonly ended: readonly string[];
  readonly seconds: number;
}

/** One cluster that meets the fault of a draw, from nothing to nothing. */
export class RandomRun {
  readonly #since = Date.now();
  readonly #ended: string[] = [];
  #moment = "";
  #hit: string | undefined;
  /** Names of the resources that the engine has begun with and not ended. */
  readonly #running = new Set<string>();
  /** Of the cluster, as soon as the state has one. */
  #identities: ReadonlySet<string> = new Set();

  private constructor(
    private readonly draw: Draw,
    private readonly cluster: LabCluster,
    private readonly initially: readonly CloudObject[],
    private readonly behind: { readonly proxy?: FaultyProxy; readonly service: ClusterService },
  ) {}

  static async open(draw: Draw): Promise<RandomRun> {
    const cluster = await labCluster(stackName);
    const initially = await takeInventory(cluster.cloud);
    const proxied = faults[draw.fault].counted === "of the cloud";
    const behind = proxied ? await behindProxy(cluster) : { service: cluster.service };
    return new RandomRun(draw, cluster, initially, behind);
  }

  get figures(): Figures {
    const seconds = Math.round((Date.now() - this.#since) / 1000);
    const hit = this.#hit === undefined ? {} : { hit: this.#hit };
    return { moment: this.#moment, ...hit, ended: this.#ended, seconds };
  }

  /** The `up` that is hit. It may end well all the same. */
  async beginWithFault(): Promise<void> {
    const { draw, cluster, behind } = this;
    const { counted } = faults[draw.fault];
    const count = await this.#planned();
    const moment = momentOf(draw, count);
    this.#moment =
      draw.fault === "many" ? "from the beginning" : `${moment} of ${count} ${counted}`;
    const over = new AbortController();
    let [begun, striking] = [0, Promise.resolve<string | undefined>(undefined)];
    const onEvent = (event: ClusterEvent): void => {
      if (!begins(event, counted)) return;
      begun += 1;
      if (begun === moment) striking = strike({ cluster, draw }, over.signal);
    };
    behind.proxy?.fail(failingCalls(draw, count));
    await this.#up({ onEvent }).finally(async () => {
      over.abort();
      behind.proxy?.calm();
      const failed = behind.proxy?.failed ?? [];
      this.#hit = failed.length > 0 ? failed.join(", ") : await striking;
    });
    this.#identities = await this.#identitiesNow();
  }

  /** Further `up`s, until one ends well. */
  async converge(): Promise<void> {
    for (let further = 1; further <= mostFurther; further += 1) {
      await this.#enginesEnd();
      if (this.draw.fault === "reboot") await machinesAreBack(this.cluster);
      // What was deleted behind its back, `up` sees only when it looks.
      if (await this.#up({ refresh: this.draw.fault === "deleted" })) return;
    }
    assert.fail(`it did not converge in ${mostFurther} further ups`);
  }

  /** One cluster, of one identity, which everything of it carries; nothing is there twice or left to do. */
  async lookAround(): Promise<void> {
    const identities = await this.#identitiesNow();
    assert.equal(identities.size, 1, "one identity");
    if (this.#identities.size > 0) assert.deepEqual(identities, this.#identities);
    this.#identities = identities;
    const { cluster, initially } = this;
    assert.deepEqual(await unmarkedSince(initially, cluster.cloud, identities), []);
    const [added, owned] = [await this.#added(), ownedIds(await this.#state())];
    const held = added.filter(({ id }) => owned.has(id));
    const named = held.filter(({ kind }) => ["server", "network", "router"].includes(kind));
    assert.deepEqual(named.map(({ kind, name }) => `${kind} ${name}`).sort(), [
      `network ${stackName}`,
      `router ${stackName}`,
      ...["control-plane-0", "general-0", "general-1"].map((one) => `server ${stackName}-${one}`),
    ]);
    // What the state does not hold is the controllers', or there twice.
    const besides = added.filter((one) => !owned.has(one.id) && !isServicePort(one));
    assert.deepEqual(besides.map(described).sort(), [
      "floating IP",
      "load balancer web-external",
      "load balancer web-internal",
      "volume pvc",
    ]);
    const events: ClusterEvent[] = [];
    assert.ok(await this.#up({ onEvent: (event) => events.push(event) }), "nothing to do");
    assert.deepEqual(changes(events), {});
  }

  async destroy(): Promise<void> {
    await this.behind.service.destroy(stackName, this.#options());
    const now = await takeInventory(this.cluster.cloud);
    assert.deepEqual(compareInventories(this.initially, now), { added: [], removed: [] });
  }

  /** What a run that failed leaves goes, or the next one would not fit. */
  async close(): Promise<void> {
    try {
      await this.#enginesEnd();
      const left = (await this.#added()).filter((one) => !isServicePort(one));
      await deleteOrphans(this.cluster.cloud, left);
    } finally {
      await this.behind.proxy?.close();
      await this.cluster.close();
    }
  }

  #options(): Pick<UpOptions, "settings" | "signal" | "killSignal"> {
    return {
      settings: this.cluster.settings(),
      signal: AbortSignal.timeout(longest),
      killSignal: AbortSignal.timeout(longest + minutes),
    };
  }

  /** How many resources there will be of those that are counted. */
  async #planned(): Promise<number> {
    const { counted } = faults[this.draw.fault];
    let count = 0;
    const onEvent = (event: ClusterEvent): void => {
      if (begins(event, counted)) count += 1;
    };
    await this.behind.service.preview(stackName, { ...this.#options(), onEvent });
    return count;
  }

  /** Whether it ended well, with a cluster that works. */
  async #up(options: UpOptions): Promise<boolean> {
    this.#running.clear();
    const onEvent = (event: ClusterEvent): void => {
      if (event.type === "started") this.#running.add(event.change.name);
      if (event.type === "finished" || event.type === "failed")
        this.#running.delete(event.change.name);
      options.onEvent?.(event);
    };
    try {
      const all = { ...this.#options(), kubeconfigFile: false, ...options, onEvent };
      const { verification } = await this.behind.service.up(stackName, all);
      this.#ended.push("well");
      return verification?.ok === true;
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
      this.#ended.push(`${error.code} (${error.message})`);
      if (error.code === "CANCELLED")
        assert.fail(`up did not end in ${longest / minutes} minutes: ${await this.#unfinished()}`);
      return false;
    }
  }

  /** Returns what `up` waited for, for people: resources, servers, pods that are not ready. */
  async #unfinished(): Promise<string> {
    const servers = await listObjects(this.cluster.cloud, "server");
    const own = servers.filter(({ name }) => name.startsWith(`${stackName}-`));
    const first = own.find(({ name }) => name.endsWith("control-plane-0"));
    const ask = (line: string): Promise<string> | string =>
      first ? kubectlOn(first.id, line).catch(String) : "no control plane";
    return [
      `running: ${[...this.#running].join(", ")}`,
      ...own.map(({ name, status }) => `${name}: ${status}`),
      await ask("get nodes,pods -A -o wide"),
      await ask("get events -A --sort-by=.lastTimestamp | tail -40"),
    ].join("\n");
  }

  /** An engine whose worker process was killed goes on until its running steps end, and holds the stack meanwhile. */
  #enginesEnd(): Promise<void> {
    return until(() => Promise.resolve(enginesOf(stackName).length === 0), 600);
  }

  #state(): Promise<StateExport | undefined> {
    return this.behind.service.state(stackName);
  }

  async #identitiesNow(): Promise<ReadonlySet<string>> {
    return identitiesOf(await this.#state());
  }

  async #added(): Promise<readonly CloudObject[]> {
    return compareInventories(this.initially, await takeInventory(this.cluster.cloud)).added;
  }
}
