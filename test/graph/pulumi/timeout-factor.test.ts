import { strict as assert } from "node:assert";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import { clusterRows } from "../../support/graph/cluster-rows.js";
import type { Row } from "../../support/graph/graph.js";
import { smallManifest } from "../../support/manifests.js";
import { renderSentScript } from "../../support/graph/sent.js";
import { smallest, specOf } from "../../support/config/spec.js";

interface Container {
  readonly name: string;
  readonly args?: readonly string[];
  readonly livenessProbe?: { readonly failureThreshold?: number };
  readonly startupProbe?: { readonly failureThreshold?: number };
  readonly readinessProbe?: unknown;
}

/** Returns the containers of DaemonSets and Deployments, by the names of both. */
const containersOf = (rows: readonly Row[]): Map<string, Container> =>
  new Map(
    rows
      .filter(({ type }) => /^kubernetes:apps\/v1:(DaemonSet|Deployment)$/.test(type))
      .flatMap(({ name, inputs }) => {
        const { template } = inputs["spec"] as {
          template: { spec: { containers: readonly Container[] } };
        };
        return template.spec.containers.map((one) => [`${name}: ${one.name}`, one] as const);
      }),
  );

const podNetworks = [
  { kind: "kube-router" },
  { kind: "flannel" },
  { kind: "calico", manifest: smallManifest("calico") },
  { kind: "canal", manifest: smallManifest("canal") },
] as const;
const args: ClusterArgs = { ...smallest, samples: true };
const build = (over: Partial<ClusterArgs> = {}): Promise<readonly Row[]> =>
  clusterRows({ ...args, ...over });

describe("timeoutFactor", () => {
  let usual: readonly Row[];
  let slow: readonly Row[];
  before(async () => {
    usual = await build();
    slow = await build({ timeoutFactor: 3 });
  });

  it("changes only preparation, component flags, probes and the lease of kubelets", () => {
    const inputs = (rows: readonly Row[]): Map<string, string> =>
      new Map(
        rows.map(({ urn, type, inputs: all }) => [
          urn,
          type === "command:remote:Command" ? renderSentScript(all) : JSON.stringify(all),
        ]),
      );
    const [before, after] = [inputs(usual), inputs(slow)];
    assert.deepEqual([...after.keys()].sort(), [...before.keys()].sort());
    const changed = [...after].filter(
      ([urn, text]) => before.get(urn) !== text && !urn.includes("$kubernetes:apps/v1:"),
    );
    assert.deepEqual(changed.map(([urn]) => urn.split("::").at(-1)).sort(), [
      "dev-control-plane-0-init",
      "dev-control-plane-0-prepare",
      "dev-workers-general-0-join",
      "dev-workers-general-0-prepare",
      "dev-workers-general-1-join",
      "dev-workers-general-1-prepare",
    ]);
    const flag =
      /^ +- name: (?:leader-elect-|node-monitor-grace-|etcd-(?:ready|health)check-)\S+\n +value: \S+\n/gm;
    const lease = /^nodeLeaseDurationSeconds: 120\n/gm;
    const kubelet = /^(KUBELET_CONFIGURATION=)'(?:[a-zA-Z]+: .+\n)+'$/gm;
    const directory = /^patches:\n {2}directory: \S+\n/gm;
    const probes = /^PATCHES='(kube-[a-z-]+-slow\+strategic\.json [A-Za-z0-9+/=]+\n?){3}'$/gm;
    for (const [urn, text] of changed)
      assert.equal(
        text
          .replace("TIMEOUT_FACTOR='3'", "TIMEOUT_FACTOR='1'")
          .replaceAll(flag, "")
          .replaceAll(kubelet, "$1''")
          .replaceAll(lease, "")
          .replaceAll("nodeStatusUpdateFrequency: 6s", "nodeStatusUpdateFrequency: 2s")
          .replaceAll(directory, "")
          .replaceAll(probes, "PATCHES=''"),
        before.get(urn),
      );
  });

  it("multiplies timeouts of Kubernetes resources, not of OpenStack resources", () => {
    const times = (rows: readonly Row[], of: RegExp): Map<string, string[]> =>
      new Map(
        rows
          .filter(({ type, timeouts }) => of.test(type) && timeouts.create !== "")
          .map(({ urn, timeouts }) => [urn, Object.values(timeouts)]),
      );
    const longer = (text: string): string =>
      text.replaceAll(/\d+/g, (number) => String(3 * Number(number)));
    const deployed = times(usual, /^kubernetes:/);
    assert.ok(deployed.size >= 8, String(deployed.size));
    assert.deepEqual(
      times(slow, /^kubernetes:/),
      new Map([...deployed].map(([urn, all]) => [urn, all.map(longer)])),
    );
    assert.deepEqual(times(slow, /^openstack:/), times(usual, /^openstack:/));
  });

  it("multiplies the probe thresholds and lease durations of add-ons", async () => {
    for (const podNetwork of podNetworks) {
      const before = containersOf(await build({ podNetwork }));
      const after = containersOf(await build({ timeoutFactor: 3, podNetwork }));
      assert.deepEqual([...after.keys()], [...before.keys()]);
      for (const [name, slow] of after) {
        const own: Partial<Container> = before.get(name) ?? {};
        for (const probe of ["livenessProbe", "startupProbe"] as const)
          assert.equal(
            slow[probe]?.failureThreshold,
            own[probe] && 3 * (own[probe].failureThreshold ?? 3),
            `${podNetwork.kind}: ${probe} of ${name}`,
          );
        assert.deepEqual(slow.readinessProbe, own.readinessProbe);
      }
      assert.ok([...after.values()].filter(({ livenessProbe }) => livenessProbe).length >= 3);
      const leases = [...after]
        .filter(([name]) => name.endsWith(": csi-attacher"))
        .flatMap(([, { args: flags = [] }]) =>
          flags.filter((flag) => /leader-election-/.test(flag)),
        );
      assert.deepEqual(leases, [
        "--leader-election-lease-duration=135s",
        "--leader-election-renew-deadline=90s",
        "--leader-election-retry-period=15s",
      ]);
    }
  });

  it("multiplies the default of ssh.bootMinutes", () => {
    assert.equal(specOf(args).ssh.bootMinutes, 10);
    assert.equal(specOf({ ...args, timeoutFactor: 3 }).ssh.bootMinutes, 30);
    const ssh = { ...args.ssh, bootMinutes: 4 };
    assert.equal(specOf({ ...args, ssh, timeoutFactor: 3 }).ssh.bootMinutes, 4);
  });
});
