import assert from "node:assert/strict";
import { Failure } from "../../../../base/failures/failure.js";
import type { Listening, ListeningService } from "../../../support/engine/listening-service.js";
import type { OperationEvent } from "../../../../automation/engine/operation-events.js";
import type { UpOptions } from "../../../../automation/engine/operation-options.js";
import {
  findClusterIdentities,
  findOwnedIds,
  type StateExport,
} from "../../../../automation/pulumi/stack-state.js";
import {
  compareInventories,
  listObjects,
  takeInventory,
  type CloudObject,
} from "../../../../openstack/inventory/inventory.js";
import { deleteOrphans } from "../../../../openstack/inventory/marked-objects.js";
import { enginesOf } from "./engine.js";
import { behindProxy } from "./behind-proxy.js";
import type { FaultyProxy } from "./faulty-proxy.js";
import { until } from "../cloud/foreign.js";
import { kubectlOn } from "../kubernetes/kubectl.js";
import { changes, labCluster, type LabCluster } from "../stack/lab-cluster.js";
import { begins, failingCalls, faults, momentOf, type FaultRun } from "./seed.js";
import { machinesAreBack, causeFault } from "./strikes.js";
import { isServicePort, unmarkedSince } from "../cloud/unmarked.js";

const minutes = 60_000;
/**
 * Time limit of an `up` in milliseconds. An `up` that reaches the limit is stopped, and the run
 * fails.
 */
const longest = 20 * minutes;
/** Maximum number of `up`s that may follow the `up` with the fault. */
const mostFurther = 2;

/** Name of the stack, which is the same in all runs. */
export const stackName = "random";

/**
 * Returns kind and name of an object, without parts that differ between clusters: identities,
 * addresses, IDs of claims.
 */
const described = ({ kind, name }: CloudObject): string =>
  `${kind} ${/^kube_service_.*_([^_]+)$/.exec(name)?.[1] ?? /^[a-z]*/.exec(name)?.[0] ?? ""}`.trim();

/** Figures of a run. */
export interface Figures {
  /** Moment of the fault, for example `12 of 90 of the machines`. */
  readonly moment: string;
  /** Target that the fault hit. Undefined if there was no target. */
  readonly hit?: string;
  /** Result of each `up`: `well`, or the failure. The first is the `up` with the fault. */
  readonly ended: readonly string[];
  readonly seconds: number;
}

/**
 * Run that creates one cluster in an empty project and destroys it again. The fault of the draw
 * occurs during the creation.
 */
export class RandomRun {
  readonly #since = Date.now();
  readonly #ended: string[] = [];
  #moment = "";
  #hit: string | undefined;
  /** Names of resources whose operations the engine has started but not finished. */
  readonly #running = new Set<string>();
  /** Identities of the cluster. Empty until the state contains one. */
  #identities: ReadonlySet<string> = new Set();

  private constructor(
    private readonly draw: FaultRun,
    private readonly cluster: LabCluster,
    private readonly initially: readonly CloudObject[],
    private readonly behind: { readonly proxy?: FaultyProxy; readonly service: ListeningService },
  ) {}

  static async open(draw: FaultRun): Promise<RandomRun> {
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

  /** Runs the `up` during which the fault occurs. The `up` may still succeed. */
  async beginWithFault(): Promise<void> {
    const { draw, cluster, behind } = this;
    const { counted } = faults[draw.fault];
    const count = await this.#planned();
    const moment = momentOf(draw, count);
    this.#moment =
      draw.fault === "many" ? "from the beginning" : `${moment} of ${count} ${counted}`;
    const over = new AbortController();
    let [begun, striking] = [0, Promise.resolve<string | undefined>(undefined)];
    const onEvent = (event: OperationEvent): void => {
      if (!begins(event, counted)) return;
      begun += 1;
      if (begun === moment) striking = causeFault({ cluster, draw }, over.signal);
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

  /** Runs `up` again until it succeeds. */
  async converge(): Promise<void> {
    for (let further = 1; further <= mostFurther; further += 1) {
      await this.#enginesEnd();
      if (this.draw.fault === "reboot") await machinesAreBack(this.cluster);
      // Only a refresh notices that a test deleted an object outside of the program.
      if (await this.#up({ refresh: this.draw.fault === "deleted" })) return;
    }
    assert.fail(`it did not converge in ${mostFurther} further ups`);
  }

  /**
   * Requires that there is one cluster, that all its objects have the same identity, that no object
   * is a duplicate, and that another `up` changes nothing.
   */
  async lookAround(): Promise<void> {
    const identities = await this.#identitiesNow();
    assert.equal(identities.size, 1, "one identity");
    if (this.#identities.size > 0) assert.deepEqual(identities, this.#identities);
    this.#identities = identities;
    const { cluster, initially } = this;
    assert.deepEqual(await unmarkedSince(initially, cluster.cloud, identities), []);
    const [added, owned] = [await this.#added(), findOwnedIds(await this.#state())];
    const held = added.filter(({ id }) => owned.has(id));
    const named = held.filter(({ kind }) => ["server", "network", "router"].includes(kind));
    assert.deepEqual(named.map(({ kind, name }) => `${kind} ${name}`).sort(), [
      `network ${stackName}`,
      `router ${stackName}`,
      ...["control-plane-0", "general-0", "general-1"].map((one) => `server ${stackName}-${one}`),
    ]);
    // Objects outside of the state belong to the controllers, or are duplicates.
    const unowned = added.filter((one) => !owned.has(one.id) && !isServicePort(one));
    assert.deepEqual(unowned.map(described).sort(), [
      "floating IP",
      "load balancer web-external",
      "load balancer web-internal",
      "volume pvc",
    ]);
    const events: OperationEvent[] = [];
    assert.ok(await this.#up({ onEvent: (event) => events.push(event) }), "nothing to do");
    assert.deepEqual(changes(events), {});
  }

  async destroy(): Promise<void> {
    await this.behind.service.destroy(stackName, this.#options());
    const now = await takeInventory(this.cluster.cloud);
    assert.deepEqual(compareInventories(this.initially, now), { added: [], removed: [] });
  }

  /** Deletes what a failed run has left, to make room for the next run. */
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

  #options(): Pick<UpOptions & Listening, "settings" | "signal" | "killSignal"> {
    return {
      settings: this.cluster.settings(),
      signal: AbortSignal.timeout(longest),
      killSignal: AbortSignal.timeout(longest + minutes),
    };
  }

  /** Returns how many of the resources that the fault counts an `up` will start. */
  async #planned(): Promise<number> {
    const { counted } = faults[this.draw.fault];
    let count = 0;
    const onEvent = (event: OperationEvent): void => {
      if (begins(event, counted)) count += 1;
    };
    await this.behind.service.preview(stackName, { ...this.#options(), onEvent });
    return count;
  }

  /** Runs `up`. Returns whether it succeeded. */
  async #up(options: UpOptions & Listening): Promise<boolean> {
    this.#running.clear();
    const onEvent = (event: OperationEvent): void => {
      if (event.type === "resource" && event.state === "started") this.#running.add(event.name);
      if (event.type === "resource" && (event.state === "finished" || event.state === "failed"))
        this.#running.delete(event.name);
      options.onEvent?.(event);
    };
    try {
      const all = { ...this.#options(), kubeconfigFile: false, ...options, onEvent };
      const { verification } = await this.behind.service.up(stackName, all);
      this.#ended.push("well");
      return verification?.ok === true;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.#ended.push(`${error.code} (${error.message})`);
      if (error.code === "CANCELLED")
        assert.fail(`up did not end in ${longest / minutes} minutes: ${await this.#unfinished()}`);
      return false;
    }
  }

  /**
   * Returns a text about everything for which `up` waited: resources, servers, and pods that are
   * not ready.
   */
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

  /**
   * Waits until all engines have exited. If the worker process of an engine was killed, the engine
   * still finishes its current steps. The stack is locked during this time.
   */
  #enginesEnd(): Promise<void> {
    return until(() => Promise.resolve(enginesOf(stackName).length === 0), 600);
  }

  #state(): Promise<StateExport | undefined> {
    return this.behind.service.state(stackName);
  }

  async #identitiesNow(): Promise<ReadonlySet<string>> {
    return findClusterIdentities(await this.#state());
  }

  async #added(): Promise<readonly CloudObject[]> {
    return compareInventories(this.initially, await takeInventory(this.cluster.cloud)).added;
  }
}
