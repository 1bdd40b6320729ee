import assert from "node:assert/strict";
import type { Runs } from "../../../../automation/cluster/earlier-runs.js";
import { cameLater } from "../../../../automation/cluster/old-state.js";
import type { StateExport } from "../../../../automation/cluster/state.js";
import type { CloudObject } from "../../../../cloud/inventory.js";
import { object } from "../../../support/cloud-object.js";
import { creating, resource } from "../../../support/pending.js";

const at = (minute: number): string => new Date(Date.UTC(2026, 0, 2, 10, minute)).toISOString();
const instance = "openstack:compute/instance:Instance";
const mark = "0123456789ab";
const identity = {
  ...resource("command:local:Command", "dev-identity"),
  urn: "urn:pulumi:dev::it::stackadm:index:Cluster$command:local:Command::dev-identity",
  ...{ id: "made", outputs: { stdout: mark } },
};
/** Written at 10:00 by an engine that was killed, while it made a server. */
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
const none: Runs = { history: [] };
const marked = (fields: Partial<CloudObject>): CloudObject =>
  object({
    id: "new",
    metadata: { "stackadm-cluster": "dev", "stackadm-identity": mark },
    ...fields,
  });
const later = (fields: Partial<CloudObject>, now: StateExport = state()): string | undefined =>
  cameLater(now, none, [marked(fields)]);

describe("a state of a run that was killed", () => {
  it("is the newest for all that is known where nothing came after it", () => {
    assert.equal(cameLater(state(), none, []), undefined);
    const begun = Date.parse(at(-5));
    const history = [{ kind: "update", result: "succeeded", startTime: at(-9), endTime: at(-8) }];
    assert.equal(cameLater(state(), { history, begun }, []), undefined);
  });

  it("is an old one where an `up` of ours began after it", () => {
    const begun = Date.parse(at(2));
    assert.match(cameLater(state(), { history: [], begun }, []) ?? "", /^an `up` began after/);
  });

  it("is an old one where an update that began after it ended well; one that failed may have written nothing", () => {
    const run = (result: string, kind = "update") => [
      { kind, result, startTime: at(2), endTime: at(3) },
    ];
    assert.match(
      cameLater(state(), { history: run("succeeded") }, []) ?? "",
      /^an update that began after it was written/,
    );
    assert.equal(cameLater(state(), { history: run("failed") }, []), undefined);
    assert.equal(cameLater(state(), { history: run("succeeded", "refresh") }, []), undefined);
  });

  it("is an old one where something of its cluster is newer that it does not hold", () => {
    const network = { kind: "network", name: "dev" } as const;
    assert.equal(
      later({ ...network, created: at(2) }),
      "the network 'dev' (new) of its cluster came after it",
    );
    assert.equal(later({ ...network, created: at(0) }), undefined);
    assert.equal(later(network), undefined, "a cloud that does not say when");
    const held = { ...resource("openstack:networking/network:Network", "net"), id: "new" };
    assert.equal(later({ ...network, created: at(2) }, state([held])), undefined);
    const metadata = { "stackadm-cluster": "dev", "stackadm-identity": "ba9876543210" };
    assert.equal(later({ ...network, created: at(2), metadata }), undefined);
  });

  it("bears what it says to be in the making for as long as a create may last", () => {
    assert.equal(later({ kind: "server", name: "dev-0", created: at(15) }), undefined);
    assert.match(later({ kind: "server", name: "dev-0", created: at(25) }) ?? "", /^the server/);
    assert.match(later({ kind: "server", name: "dev-1", created: at(15) }) ?? "", /^the server/);
  });

  it("bears a volume: a copy has the mark, too", () => {
    assert.equal(later({ kind: "volume", name: "dev-0-etcd", created: at(99) }), undefined);
  });

  it("is an old one where the cluster has load balancers, and it has nothing in Kubernetes yet", () => {
    const balancer = { kind: "load balancer", name: `kube_service_dev-${mark}_shop_web` } as const;
    const of = (now: StateExport) => cameLater(now, none, [object(balancer)]);
    assert.match(of(state()) ?? "", /^the load balancer/);
    const service = { ...resource("kubernetes:core/v1:Service", "web"), id: "shop/web" };
    assert.equal(of(state([service])), undefined);
  });

  it("is believed where it does not say when it was written", () => {
    assert.equal(later({ kind: "network", created: at(99) }, state([], {})), undefined);
  });
});
