import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { Cluster } from "../../../components/cluster.js";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import { clusterRows } from "../../support/graph/cluster-rows.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { graph, type Row } from "../../support/graph/graph.js";
import { smallManifest } from "../../support/manifests.js";
import { podNetworkExamples, titleOf } from "../../support/config/pod-networks.js";
import { smallest } from "../../support/config/spec.js";
import { annotationsOf, named, objectsOf, reaches, run, shape } from "../addons/addons-example.js";

describe("graph: pod networks", () => {
  for (const podNetwork of podNetworkExamples) {
    const title = titleOf(podNetwork);
    const prefix = `addons-network-${podNetwork.kind}`;
    const daemonSetIn = (rows: readonly Row[]): Row => {
      const [found] = objectsOf(rows).filter(
        ({ name, type }) => name.startsWith(`${prefix}-`) && type.endsWith(":DaemonSet"),
      );
      assert.ok(found);
      return found;
    };

    it(`${title}: is the only pod network, below the same component`, async () => {
      const { rows } = await run({ podNetwork });
      const network = rows.filter(({ name }) => name.startsWith("addons-network"));
      assert.ok(network.every(({ name }) => name === "addons-network" || name.startsWith(prefix)));
      assert.equal(named(rows, "addons-network").type, "stackadm:addons:NetworkPlugin");
    });

    it(`${title}: registers the same resources in a preview`, async () => {
      const { rows: planned } = await run({ podNetwork }, true);
      const { rows: made } = await run({ podNetwork });
      assert.deepEqual(shape(planned), shape(made));
    });

    it(`${title}: creates its pods after their dependencies`, async () => {
      const { rows } = await run({ podNetwork });
      const own = objectsOf(rows).filter(({ name }) => name.startsWith(`${prefix}-`));
      assert.ok(own.length > 2);
      const others = own.filter(({ type }) => !type.endsWith(":Deployment"));
      for (const { urn, name } of others)
        assert.ok(reaches(rows, daemonSetIn(rows).urn, urn), name);
      const namespaces = own.filter(({ type }) => type.endsWith(":Namespace"));
      for (const inside of own.filter(({ inputs }) => "namespace" in metadataOf(inputs)))
        for (const { urn } of namespaces) assert.ok(reaches(rows, inside.urn, urn), inside.name);
    });

    if (!("manifest" in podNetwork))
      it(`${title}: reaches the API by the cluster's internal name`, async () => {
        const rows = await clusterRows({ ...smallest, podNetwork });
        const env = JSON.stringify(named(rows, `dev-${prefix}-daemon-set`).inputs);
        assert.match(env, /"name":"KUBERNETES_SERVICE_HOST","value":"api\.dev\.internal"/);
      });

    it(`${title}: restarts its pods only after a change of its MTU`, async () => {
      const checksum = async (mtu: number) => {
        const { rows } = await run({ podNetwork, networkMtu: pulumi.output(mtu) });
        return annotationsOf(daemonSetIn(rows))["checksum/config"];
      };
      const first = await checksum(1500);
      assert.match(String(first), /^[0-9a-f]{64}$/);
      assert.equal(await checksum(1500), first);
      // Without a tunnel, flannel uses the MTU of the machine's interface.
      const follows = title !== "flannel host-gw";
      assert.equal((await checksum(1450)) !== first, follows);
    });
  }
});

describe("graph: a cluster without a pod network", () => {
  it("deploys no pod network and does not wait for pods that need one", async () => {
    const { rows } = await run({ podNetwork: { kind: "none" }, samples: false });
    assert.deepEqual(
      rows.filter(({ name }) => name.startsWith("addons-network")),
      [],
    );
    const awaited = (row: Row) =>
      JSON.stringify(metadataOf(row.inputs)).includes("skipAwait") ? "no" : "yes";
    assert.equal(awaited(named(rows, "addons-storage-controller")), "no");
    assert.equal(awaited(named(rows, "addons-cloud-controller-daemon-set")), "yes");
    const { rows: usual } = await run();
    assert.equal(awaited(named(usual, "addons-storage-controller")), "yes");
  });
});

const metadataOf = (inputs: Readonly<Record<string, unknown>>): object =>
  inputs["metadata"] as object;

describe("graph: a manifest with another checksum", () => {
  it("is refused before any registration", async () => {
    const pinned = { ...smallManifest("canal"), sha256: "0".repeat(64) };
    const podNetwork = { kind: "canal", manifest: pinned } as const;
    const rows = await graph(() => {
      assert.throws(
        () => new Cluster("dev", { ...smallest, podNetwork }),
        /cluster\.podNetwork\.manifest: .*canal\.yaml has the SHA-256 [0-9a-f]{64}, not 0{64}; check the changes/,
      );
    }, cloudAnswers);
    assert.deepEqual(
      rows.map(({ type }) => type).filter((type) => type !== "stackadm:index:Cluster"),
      ["pulumi:pulumi:Stack"],
    );
  });
});

describe("graph: a cluster with another pod network", () => {
  const build = (podNetwork: ClusterArgs["podNetwork"]): Promise<readonly Row[]> =>
    clusterRows({ ...smallest, podNetwork });
  let routed: readonly Row[];
  let wrapped: readonly Row[];
  before(async () => {
    routed = await build("kube-router");
    wrapped = await build("flannel");
  });

  it("differs only in objects of the pod network and in firewall rules", () => {
    const names = new Set(routed.map(({ urn }) => urn));
    const others = wrapped.filter(({ urn }) => !names.has(urn)).map(({ name }) => name);
    const flannel = "dev-addons-network-flannel";
    const roles = ["account", "cluster-role", "cluster-role-binding", "configuration"];
    assert.deepEqual(others.sort(), [
      flannel,
      ...[...roles, "daemon-set", "namespace"].map((role) => `${flannel}-${role}`),
      ...["dev-firewall-node-vxlan-from-node-v4", "dev-firewall-node-vxlan-from-node-v6"],
    ]);
  });

  it("allows pod addresses on ports only without encapsulation", () => {
    const pairs = (rows: readonly Row[]) =>
      rows
        .filter(({ type }) => type.includes("networking/port"))
        .map(({ inputs }) => JSON.stringify(inputs["allowedAddressPairs"]));
    assert.deepEqual(
      [...new Set(pairs(routed))],
      ['[{"ipAddress":"10.244.0.0/16"},{"ipAddress":"10.96.0.0/12"}]'],
    );
    assert.deepEqual([...new Set(pairs(wrapped))], ["[]"]);
  });

  it("leaves routes and address pairs to the cloud controller for cloud-routes", async () => {
    const cloud = await build("cloud-routes");
    const of = (rows: readonly Row[], type: string) =>
      rows.filter((row) => row.type.endsWith(`:${type}`));
    for (const { inputs, ignoreChanges } of of(cloud, "Port").filter(
      ({ name }) => !/endpoint/.test(name),
    )) {
      assert.deepEqual(inputs["allowedAddressPairs"], []);
      assert.deepEqual(ignoreChanges, ["allowedAddressPairs"]);
    }
    const [attached] = of(cloud, "RouterInterface");
    assert.equal(attached?.inputs["forceDestroy"], true);
    const conf = JSON.stringify(named(cloud, "dev-addons-cloud-config-secret").inputs);
    assert.match(conf, /\[Route\]\\nrouter-id = /);
    const args = JSON.stringify(named(cloud, "dev-addons-cloud-controller-daemon-set").inputs);
    assert.match(args, /service,route".*"--cluster-cidr=10\.244\.0\.0\/16"/);
  });

  it("configures the same MTU for kube-router and for flannel's backend", () => {
    const text = (rows: readonly Row[], name: string, key: string): unknown => {
      const { data } = named(rows, name).inputs as { data: Readonly<Record<string, string>> };
      return JSON.parse(data[key] ?? "");
    };
    const cni = text(routed, "dev-addons-network-kube-router-cni", "cni.conflist");
    const { plugins } = cni as { plugins: readonly { mtu?: number }[] };
    const net = text(wrapped, "dev-addons-network-flannel-configuration", "net-conf.json");
    // flanneld subtracts the tunnel's overhead itself.
    const { Backend } = net as { Backend: { MTU: number } };
    assert.ok(plugins[0]?.mtu);
    assert.equal(Backend.MTU, plugins[0].mtu);
  });
});
