import assert from "node:assert/strict";
import type { StackHistory, StackRuns } from "../../../../automation/pulumi/run-history.js";
import { findNewerStateEvidence } from "../../../../automation/repair/refuse-outdated-state.js";
import type { StateExport } from "../../../../automation/pulumi/stack-state.js";
import type { CloudObject } from "../../../../openstack/inventory/inventory.js";
import { object } from "../../../support/cloud/cloud-object.js";
import { creating, resource } from "../../../support/engine/pending-operations.js";

const at = (minute: number): string => new Date(Date.UTC(2026, 0, 2, 10, minute)).toISOString();
const instance = "openstack:compute/instance:Instance";
const mark = "0123456789ab";
const identity = {
  ...resource("command:local:Command", "dev-identity"),
  urn: "urn:pulumi:dev::it::stackadm:index:Cluster$command:local:Command::dev-identity",
  id: "made",
  outputs: { stdout: mark },
};
/** Returns a state that a killed engine wrote at 10:00, while it created a server. */
const state = (
  more: readonly object[] = [],
  written: object = { time: "2026-01-02T10:00:00.096265156Z" },
): StateExport => ({
  version: 3,
  deployment: {
    manifest: written,
    resources: [identity, ...more] as never,
    pending_operations: [creating(instance, "dev-0-server", { name: "dev-0" })],
  },
});
const none: StackRuns = { history: [] };
const marked = (fields: Partial<CloudObject>): CloudObject =>
  object({
    id: "new",
    metadata: { "stackadm-cluster": "dev", "stackadm-identity": mark },
    ...fields,
  });
const later = (fields: Partial<CloudObject>, now: StateExport = state()): string | undefined =>
  findNewerStateEvidence(now, none, [marked(fields)]);

/** Returns an update in the history that ran between these minutes. */
const update = (from: number, to: number, more: Partial<StackHistory[number]> = {}) => ({
  kind: "update",
  result: "succeeded",
  startTime: at(from),
  endTime: at(to),
  ...more,
});

describe("findNewerStateEvidence", () => {
  const minute = (one: number): number => Date.parse(at(one));
  const by = (runs: Partial<StackRuns>, now: StateExport = state()): string | undefined =>
    findNewerStateEvidence(now, { ...none, ...runs }, []);

  it("returns nothing if no later run is known", () => {
    assert.equal(by({}), undefined);
    assert.equal(by({ history: [update(-9, -8)], begun: { from: minute(-5) } }), undefined);
    assert.equal(by({ begun: { from: minute(-9), to: minute(-6) } }), undefined);
  });

  it("returns an `up` that started or ended after the state was written", () => {
    const said = "an `up` on this machine ran at 2026-01-02T10:02:00.000Z";
    assert.equal(by({ begun: { from: minute(2) } }), said);
    assert.equal(by({ begun: { from: minute(-5), to: minute(2) } }), said);
  });

  it("returns any update that ended after the state was written, but no refresh", () => {
    const said = "an update ended at 2026-01-02T10:03:00.000Z";
    assert.equal(by({ history: [update(2, 3)] }), said);
    assert.equal(by({ history: [update(-5, 3)] }), said, "it was copied meanwhile");
    assert.equal(by({ history: [update(-5, 3, { result: "failed" })] }), said);
    assert.equal(by({ history: [update(2, 3, { kind: "refresh" })] }), undefined);
  });

  it("ignores a run that changed nothing", () => {
    const idle = { resourceChanges: { same: 40, read: 1 } };
    const busy = { resourceChanges: { same: 40, create: 1 } };
    assert.equal(by({ history: [update(5, 6, idle), update(-5, -4, busy)] }), undefined);
    assert.match(by({ history: [update(5, 6, idle), update(-5, 3, busy)] }) ?? "", /10:03:00/);
  });

  it("takes the newest time in the state as the state's age, because the writer's clock may be slow", () => {
    const made = { ...resource("some:index:Thing", "last"), id: "1" };
    for (const times of [
      { created: at(11), modified: at(11) },
      { created: at(-99), modified: at(11) },
    ]) {
      const now = state([{ ...made, ...times }]);
      const runs = { history: [update(8, 11.5)], begun: { from: minute(8), to: minute(11.5) } };
      assert.equal(by(runs, now), undefined);
      assert.match(by({ history: [update(8, 13)] }, now) ?? "", /^an update ended/);
    }
  });

  it("returns an object of the cluster that is newer than the state and missing in it", () => {
    const network = { kind: "network", name: "dev" } as const;
    assert.equal(
      later({ ...network, created: at(2) }),
      "the network 'dev' (new) of its cluster was created at 2026-01-02T10:02:00.000Z",
    );
    assert.equal(later({ ...network, created: at(0) }), undefined);
    assert.equal(later(network), undefined, "a cloud that does not say when");
    const held = { ...resource("openstack:networking/network:Network", "net"), id: "new" };
    assert.equal(later({ ...network, created: at(2) }, state([held])), undefined);
    const metadata = { "stackadm-cluster": "dev", "stackadm-identity": "ba9876543210" };
    assert.equal(later({ ...network, created: at(2), metadata }), undefined);
  });

  it("tolerates the object of a pending create as long as a create may last", () => {
    assert.equal(later({ kind: "server", name: "dev-0", created: at(15) }), undefined);
    assert.match(later({ kind: "server", name: "dev-0", created: at(35) }) ?? "", /^the server/);
    assert.match(later({ kind: "server", name: "dev-1", created: at(15) }) ?? "", /^the server/);
  });

  it("tolerates a volume, because a copy carries the same mark", () => {
    assert.equal(later({ kind: "volume", name: "dev-0-etcd", created: at(99) }), undefined);
  });

  describe("for a state without Kubernetes objects", () => {
    const balancer = { kind: "load balancer", name: `kube_service_dev-${mark}_shop_web` } as const;
    const cinder = { "cinder.csi.openstack.org/cluster": `dev-${mark}` };
    const stack = {
      urn: "urn:pulumi:dev::it::pulumi:pulumi:Stack::it-dev",
      type: "pulumi:pulumi:Stack",
      created: at(-30),
    };
    const of = (fields: Partial<CloudObject>, history: StackHistory = [], more: object[] = []) =>
      findNewerStateEvidence(state([stack, ...more]), { history }, [
        object({ id: "new", ...fields }),
      ]);

    it("returns an object of the cluster's controllers", () => {
      assert.match(of({ ...balancer, created: at(-1) }) ?? "", /^the load balancer/);
      const volume = { kind: "volume", name: "pvc-1", metadata: cinder } as const;
      assert.match(of({ ...volume, created: at(-1) }) ?? "", /^the volume/);
      const service = { ...resource("kubernetes:core/v1:Service", "web"), id: "shop/web" };
      assert.equal(of({ ...balancer, created: at(-1) }, [], [service]), undefined);
    });

    it("tolerates objects that an earlier failed destroy kept", () => {
      const kept = { kind: "volume", name: "pvc-1", metadata: cinder, created: at(-20) } as const;
      const destroy = update(-12, -10, { kind: "destroy", result: "failed" });
      const refresh = update(-40, -39, { kind: "refresh" });
      assert.equal(of(kept, [destroy]), undefined);
      assert.equal(of({ ...kept, created: at(-31) }, [refresh]), undefined, "before the stack");
      assert.match(of(kept) ?? "", /^the volume/);
    });
  });

  it("returns nothing if the state has no time of writing", () => {
    assert.equal(later({ kind: "network", created: at(99) }, state([], {})), undefined);
  });
});
