import assert from "node:assert/strict";
import type { AddonsArgs } from "../../../components/addons/addons.js";
import { loadBalancerTimeouts } from "../../../components/endpoint/load-balancer-options.js";
import { podNetworkOf } from "../../support/config/pod-networks.js";
import { smallest } from "../../support/config/spec.js";
import { clusterRows } from "../../support/graph/cluster-rows.js";
import { value } from "../../support/graph/output-value.js";
import {
  annotationsOf,
  canary,
  knownCloud,
  named,
  objectsOf,
  reaches,
  run,
  sampleNames,
  shape,
  systemNames,
} from "./addons-example.js";
import type { Fields } from "../../support/graph/graph.js";
import { isSecret } from "../../support/graph/secrets.js";

describe("graph: add-ons", () => {
  it("registers each expected object once", async () => {
    const { rows } = await run();
    const names = objectsOf(rows).map(({ name }) => name);
    assert.deepEqual(names.sort(), [...systemNames, ...sampleNames].sort());
  });

  it("registers the same objects in a preview without a cloud and a cluster", async () => {
    const { rows: planned } = await run({}, true);
    const { rows: made } = await run();
    assert.deepEqual(shape(planned), shape(made));
  });

  it("creates no samples if samples are disabled", async () => {
    const { rows, addons } = await run({ samples: false });
    assert.equal(addons.samples, undefined);
    assert.deepEqual(
      objectsOf(rows).filter(({ name }) => name.includes("samples")),
      [],
    );
  });

  it("creates the storage driver without the cloud controller if that is disabled", async () => {
    const { rows } = await run({ cloudController: false, samples: false });
    const names = objectsOf(rows).map(({ name }) => name);
    assert.deepEqual(
      names.sort(),
      systemNames.filter((name) => !name.includes("cloud-controller")).sort(),
    );
  });

  it("uses one provider with a secret kubeconfig and a constant cluster identifier", async () => {
    const { rows } = await run();
    const provider = named(rows, "addons-provider");
    assert.equal(provider.inputs["clusterIdentifier"], "dev");
    assert.ok(isSecret(provider.inputs["kubeconfig"]));
    for (const row of objectsOf(rows)) {
      assert.ok(row.provider.startsWith(provider.urn), `${row.name}: ${row.provider}`);
    }
  });

  it("lets the provider adopt existing objects and update Secrets in place", async () => {
    const { rows } = await run();
    const { inputs } = named(rows, "addons-provider");
    for (const setting of [
      ...["enableServerSideApply", "enablePatchForce", "upsertExistingObjects"],
      ...["enableSecretMutable", "enableConfigMapMutable"],
    ]) {
      assert.equal(inputs[setting], "true", setting);
    }
  });

  it("keeps objects of an unreachable cluster in the state, even if the environment says otherwise", async () => {
    const names = ["PULUMI_K8S_DELETE_UNREACHABLE", "PULUMI_K8S_SKIP_UPDATE_UNREACHABLE"];
    for (const name of names) process.env[name] = "true";
    try {
      const { rows } = await run();
      const { deleteUnreachable, skipUpdateUnreachable } = named(rows, "addons-provider").inputs;
      assert.deepEqual([deleteUnreachable, skipUpdateUnreachable], ["false", "false"]);
    } finally {
      for (const name of names) Reflect.deleteProperty(process.env, name);
    }
  });

  it("takes all images from the configured registry", async () => {
    const { rows } = await run();
    const references = JSON.stringify(rows.map(({ inputs }) => inputs)).match(/"image":"[^"]+"/g);
    assert.equal(references?.length, 13);
    for (const reference of references) {
      assert.match(reference, /^"image":"registry\.example\//);
    }
  });

  it("lets all pods on control planes tolerate the control planes' taints", async () => {
    const rows = await clusterRows({
      ...smallest,
      controlPlane: {
        flavor: "medium",
        taints: [{ key: "example.org/cp", effect: "NoExecute" }],
      },
      blockStorage: { snapshots: true },
      metricsServer: true,
      kubernetes: { keystone: {} },
    });
    const onControlPlanes = objectsOf(rows).flatMap(({ name, inputs }) => {
      const { template } = (inputs["spec"] ?? {}) as { template?: { spec: Fields } };
      const { nodeSelector = {}, tolerations } = (template?.spec ?? {}) as {
        nodeSelector?: object;
        tolerations?: readonly { key: string }[];
      };
      return "node-role.kubernetes.io/control-plane" in nodeSelector
        ? [[name, tolerations?.filter(({ key }) => key === "example.org/cp")]]
        : [];
    });
    const taint = { key: "example.org/cp", operator: "Equal", value: "", effect: "NoExecute" };
    assert.deepEqual(
      onControlPlanes.sort(),
      [
        ...["cloud-controller-daemon-set", "keystone-auth-daemon-set"],
        ...["metrics-server-deployment", "storage-controller", "storage-snapshots-controller"],
      ].map((name) => [`dev-addons-${name}`, [taint]]),
    );
  });

  it("passes the network's MTU and the service range to the pod network", async () => {
    const { rows } = await run();
    const configuration = JSON.stringify(named(rows, "addons-network-kube-router-cni").inputs);
    assert.match(configuration, /\\"mtu\\": 1350/);
    const router = JSON.stringify(named(rows, "addons-network-kube-router-daemon-set").inputs);
    assert.match(router, /--service-cluster-ip-range=10\.112\.0\.0\/12/);
  });

  it("publishes the addresses of the samples' load balancers", async () => {
    const { addons } = await run();
    assert.ok(addons.samples);
    assert.ok(addons.samples.externalAddress);
    assert.equal(await value(addons.samples.externalAddress), "203.0.113.9");
    assert.equal(await value(addons.samples.internalAddress), "10.0.0.9");
    assert.equal(addons.samples.namespace, "stackadm-samples");
    assert.equal(addons.samples.claim, "data");
    assert.equal(addons.samples.writerPod, "writer-0");
  });

  it("gives Services the timeouts of the program's own load balancers", async () => {
    const { rows } = await run();
    for (const reach of ["external", "internal"])
      assert.deepEqual(named(rows, `addons-samples-web-${reach}`).timeouts, loadBalancerTimeouts);
  });

  it("gives DaemonSets timeouts that grow by one minute per node", async () => {
    const timeoutsIn = async (change: Partial<AddonsArgs>): Promise<string[]> => {
      const { rows } = await run(change);
      const found = rows.filter(({ type }) => type.endsWith(":DaemonSet"));
      return found.flatMap(({ timeouts }) => [timeouts.create, timeouts.update]);
    };
    assert.deepEqual(
      await timeoutsIn({ nodes: 40 }),
      Array.from({ length: 6 }, () => "45m"),
    );
    const all = await timeoutsIn({ nodes: 1, podNetwork: podNetworkOf("flannel") });
    assert.deepEqual(
      all,
      Array.from({ length: 6 }, () => "6m"),
    );
  });

  it("disables concurrent Service syncs for a provider with serial API calls", async () => {
    const providerRequiresSerialApiCalls = true;
    const settings = { loadBalancer: { providerRequiresSerialApiCalls } };
    const ofController = async (change?: Partial<AddonsArgs>): Promise<string> => {
      const { rows } = await run(change);
      return JSON.stringify(named(rows, "addons-cloud-controller-daemon-set").inputs);
    };
    assert.match(await ofController(), /--concurrent-service-syncs=5/);
    const cloud = { ...knownCloud, settings };
    assert.doesNotMatch(await ofController({ cloud }), /--concurrent/);
  });

  it("refuses a Kubernetes version without images", async () => {
    await assert.rejects(run({ kubernetesVersion: "1.20.0" }), /no add-ons for 1\.20\.0/);
  });
});

describe("graph: the settings of the storage driver", () => {
  const settings = { blockStorage: { nodeVolumeAttachLimit: 20 } };

  it("are mounted into the node pods, which restart after a change", async () => {
    const limited = async (nodeVolumeAttachLimit: number) => {
      const cloud = { ...knownCloud, settings: { blockStorage: { nodeVolumeAttachLimit } } };
      return (await run({ cloud })).rows;
    };
    const rows = await limited(20);
    const { data } = named(rows, "addons-storage-node-config").inputs as { data: Fields };
    assert.match(String(data["cloud.conf"]), /node-volume-attach-limit = "20"/);
    const driver = named(rows, "addons-storage-node");
    assert.ok(reaches(rows, driver.urn, named(rows, "addons-storage-node-config").urn));
    assert.match(JSON.stringify(driver.inputs), /--cloud-config=\/etc\/config\/cloud\.conf/);
    const [one, other] = [rows, await limited(21)].map(
      (all) => annotationsOf(named(all, "addons-storage-node"))["checksum/config"],
    );
    assert.notEqual(one, other);
  });

  it("contain the default volume limit if the user sets none", async () => {
    const { rows } = await run({ blockStorage: { attachable: 23 } });
    const { data } = named(rows, "addons-storage-node-config").inputs as { data: Fields };
    assert.match(String(data["cloud.conf"]), /node-volume-attach-limit = "23"/);
    const secret = JSON.stringify(named(rows, "addons-cloud-config-secret").inputs);
    assert.doesNotMatch(secret, /attach-limit/, "the controllers do not restart for it");
  });

  it("disable the topology in both the controller and the node pods", async () => {
    const { rows } = await run({ blockStorage: { topology: false } });
    for (const name of ["addons-storage-controller", "addons-storage-node"])
      assert.match(JSON.stringify(named(rows, name).inputs), /--with-topology=false/);
  });

  it("contain no credential for the node pods", async () => {
    const { rows } = await run({ cloud: { ...knownCloud, settings } });
    const text = JSON.stringify(named(rows, "addons-storage-node-config").inputs);
    assert.doesNotMatch(text, /credential|auth-url/);
  });
});

describe("graph: secrets of the add-ons", () => {
  it("include the cloud's credential in one Secret only", async () => {
    const { rows } = await run();
    const holders = rows.filter(
      ({ type, inputs }) => !type.startsWith("test:") && JSON.stringify(inputs).includes(canary),
    );
    assert.deepEqual(
      holders.map(({ name }) => name),
      ["addons-cloud-config-secret"],
    );
    const data = (holders[0]?.inputs["stringData"] ?? {}) as Fields;
    assert.ok(isSecret(holders[0]?.inputs["stringData"]) || isSecret(data["cloud.conf"]));
  });

  it("restart both readers of cloud.conf after a change, by a public digest", async () => {
    const digests = async (region: string) => {
      const { rows } = await run({ cloud: { ...knownCloud, region } });
      return ["addons-cloud-controller-daemon-set", "addons-storage-controller"].map((name) => {
        const annotations = annotationsOf(named(rows, name));
        return annotations["checksum/config"];
      });
    };
    const [first, second] = await digests("one");
    assert.match(String(first), /^[0-9a-f]{64}$/);
    assert.equal(first, second);
    assert.deepEqual(await digests("one"), [first, second]);
    assert.notEqual((await digests("two"))[0], first);
  });

  it("include the CA certificate of the cloud next to cloud.conf", async () => {
    const { rows } = await run({
      cloud: { ...knownCloud, caCertificate: "-----BEGIN CERTIFICATE-----" },
    });
    const text = JSON.stringify(named(rows, "addons-cloud-config-secret").inputs);
    assert.match(text, /"ca\.crt":"-----BEGIN CERTIFICATE-----"/);
    assert.match(text, /ca-file = /);
  });
});
