import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { stringify } from "yaml";
import { publishedManifests } from "../../../../base/versions/pod-network-manifests.js";
import {
  calicoRequiredParts,
  getCalicoRequiredParts,
  buildCalicoObjects,
  type CalicoSettings,
} from "../../../../components/pod-network/calico/manifests.js";
import {
  canalRequiredParts,
  buildCanalObjects,
} from "../../../../components/pod-network/canal/manifests.js";
import { renderFlannelConfiguration } from "../../../../components/pod-network/flannel/manifests.js";
import {
  readManifest,
  type RequiredManifestParts,
  type ManifestContainer,
  type ManifestObject,
} from "../../../../components/pod-network/manifest-objects.js";
import { golden } from "../../../support/golden.js";
import { smallManifest } from "../../../support/manifests.js";

const published = (
  kind: "calico" | "canal",
  anchors: RequiredManifestParts,
): readonly ManifestObject[] => {
  const manifest = readManifest(readFileSync(smallManifest(kind).source, "utf8"), anchors);
  assert.ok("objects" in manifest, JSON.stringify(manifest));
  return manifest.objects;
};
const calico = published("calico", calicoRequiredParts);
const canal = published("canal", canalRequiredParts);

const forCalico = (over: Partial<CalicoSettings> = {}): readonly ManifestObject[] =>
  buildCalicoObjects(calico, {
    encapsulation: "vxlan",
    podCidr: "10.60.0.0/16",
    podMtu: "1300",
    registry: { prefix: "registry.example/mirror" },
    configChecksum: "0".repeat(64),
    ...over,
  });
const forCanal = buildCanalObjects(canal, {
  podMtu: "1300",
  networkConfig: renderFlannelConfiguration("10.60.0.0/16", "vxlan", 1300),
  registry: undefined,
  configChecksum: "0".repeat(64),
});

const find = (objects: readonly ManifestObject[], kind: string): ManifestObject => {
  const found = objects.find((object) => object.kind === kind);
  assert.ok(found, kind);
  return found;
};
const containersOf = (object: ManifestObject): readonly ManifestContainer[] => {
  const { spec } = object as unknown as {
    spec: { template: { spec: Record<string, ManifestContainer[] | undefined> } };
  };
  const { initContainers = [], containers = [] } = spec.template.spec;
  return [...initContainers, ...containers];
};
const images = (objects: readonly ManifestObject[]) =>
  ["DaemonSet", "Deployment"].flatMap((kind) =>
    containersOf(find(objects, kind)).map(({ image }) => image),
  );
const variablesOf = (objects: readonly ManifestObject[], container: string) => {
  const found = containersOf(find(objects, "DaemonSet")).find(({ name }) => name === container);
  return Object.fromEntries((found?.env ?? []).map(({ name, value }) => [name, value]));
};
const commandsOf = (objects: readonly ManifestObject[]): string =>
  JSON.stringify(
    containersOf(find(objects, "DaemonSet")).map((one) => [
      one["livenessProbe"],
      one["readinessProbe"],
    ]),
  );

describe("pod networks from a manifest", () => {
  it("match the reviewed objects of an example cluster", () => {
    for (const [name, objects] of [
      ["calico", forCalico()],
      ["canal", forCanal],
    ] as const)
      golden(`manifests/${name}.yaml`, objects.map((one) => `---\n${stringify(one)}`).join(""));
  });

  it("keep every object under its name, and unchanged parts as published", () => {
    for (const [before, after] of [
      [calico, forCalico()],
      [canal, forCanal],
    ] as const) {
      const names = (objects: readonly ManifestObject[]) =>
        objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      assert.deepEqual(names(after), names(before));
      const touched = ["ConfigMap", "DaemonSet", "Deployment"];
      const rest = (objects: readonly ManifestObject[]) =>
        objects.filter(({ kind }) => !touched.includes(kind));
      assert.deepEqual(rest(after), rest(before));
    }
    assert.match(JSON.stringify(find(forCalico(), "ConfigMap")), /__CNI_MTU__/);
    assert.equal(variablesOf(forCalico(), "calico-node")["WAIT_FOR_DATASTORE"], "true");
    assert.match(JSON.stringify(find(forCanal, "DaemonSet")), /"example.org\/kept":"yes"/);
  });

  it("give pods addresses of both IP families with Calico in a dual-stack cluster", () => {
    const dual = forCalico({ ipv6Pods: "fd00:10:244::/56" });
    const [before, now] = [forCalico(), dual].map((objects) => variablesOf(objects, "calico-node"));
    assert.deepEqual(
      Object.fromEntries(Object.entries(now ?? {}).filter(([name]) => !(name in (before ?? {})))),
      {
        FELIX_IPV6SUPPORT: "true",
        IP6: "autodetect",
        IP6_AUTODETECTION_METHOD: "kubernetes-internal-ip",
        CALICO_IPV6POOL_CIDR: "fd00:10:244::/56",
        CALICO_IPV6POOL_VXLAN: "Always",
        CALICO_IPV6POOL_NAT_OUTGOING: "true",
      },
    );
    const { data } = find(dual, "ConfigMap") as unknown as { data: Record<string, string> };
    const text = data["cni_network_config"]?.replace("__CNI_MTU__", "1300") ?? "";
    const { plugins } = JSON.parse(text) as { plugins: { ipam: object }[] };
    assert.deepEqual(plugins[0]?.ipam, {
      type: "calico-ipam",
      assign_ipv4: "true",
      assign_ipv6: "true",
    });
  });

  it("report what a Calico manifest lacks for IPv6", () => {
    const text = calico
      .map((one) => stringify(one))
      .join("---\n")
      .replace("calico-ipam", "host-local");
    assert.ok("objects" in readManifest(text, getCalicoRequiredParts({})));
    assert.deepEqual(readManifest(text, getCalicoRequiredParts({ ipv6: {} })), {
      problem: "it has no calico-ipam in cni_network_config of calico-config",
    });
  });

  it("do not change the objects that were read", () => {
    const before = JSON.stringify(calico);
    forCalico({ encapsulation: "none" });
    assert.equal(JSON.stringify(calico), before);
  });

  it("take their images of any release from the site's registry", () => {
    assert.deepEqual(images(forCalico()), [
      "registry.example/mirror/calico/cni:v0.0.1",
      "registry.example/mirror/calico/node:v0.0.1",
      "registry.example/mirror/calico/kube-controllers:v0.0.1",
    ]);
    assert.deepEqual(images(forCalico({ registry: undefined })), images(calico));
  });

  it("prefer the user's images to those of the registry", () => {
    const registry = { prefix: "registry.example/mirror" };
    const ownImages = { calicoNode: "own.example/n:1", flannel: "own.example/f:1" };
    assert.deepEqual(images(forCalico({ registry, ownImages })), [
      "registry.example/mirror/calico/cni:v0.0.1",
      "own.example/n:1",
      "registry.example/mirror/calico/kube-controllers:v0.0.1",
    ]);
    const settings = { podMtu: "1300", networkConfig: "{}", configChecksum: "0" };
    const made = buildCanalObjects(canal, { ...settings, registry, ownImages });
    assert.deepEqual(
      containersOf(find(made, "DaemonSet")).map(({ image }) => image),
      ["registry.example/mirror/calico/cni:v0.0.1", "own.example/n:1", "own.example/f:1"],
    );
  });

  it("give pods the cluster's MTU and addresses", () => {
    assert.deepEqual(
      [forCalico(), forCanal].map(
        (objects) => (find(objects, "ConfigMap")["data"] as { veth_mtu: string }).veth_mtu,
      ),
      ["1300", "1300"],
    );
    assert.equal(variablesOf(forCalico(), "calico-node")["CALICO_IPV4POOL_CIDR"], "10.60.0.0/16");
    const { data } = find(forCanal, "ConfigMap") as unknown as { data: Record<string, string> };
    const { Network, Backend } = JSON.parse(data["net-conf.json"] ?? "") as {
      Network: string;
      Backend: { MTU: number };
    };
    // flanneld subtracts the tunnel's overhead itself.
    assert.deepEqual([Network, Backend.MTU - 50], ["10.60.0.0/16", 1300]);
  });

  it("use the node's own address if other addresses exist", () => {
    const { IP, IP_AUTODETECTION_METHOD } = variablesOf(forCalico(), "calico-node");
    assert.deepEqual([IP, IP_AUTODETECTION_METHOD], ["autodetect", "kubernetes-internal-ip"]);
    const flanneld = containersOf(find(forCanal, "DaemonSet")).find(
      ({ name }) => name === "kube-flannel",
    );
    const source = flanneld?.env?.find(({ name }) => name === "FLANNELD_IFACE")?.["valueFrom"];
    assert.deepEqual(source, { fieldRef: { fieldPath: "status.hostIP" } });
  });

  for (const [encapsulation, backend, vxlan, ipip] of [
    ["vxlan", "vxlan", "Always", "Never"],
    ["vxlan-cross-subnet", "vxlan", "CrossSubnet", "Never"],
    ["ipip", "bird", "Never", "Always"],
    ["none", "bird", "Never", "Never"],
  ] as const)
    it(`configure ${encapsulation} in Calico, and probe BIRD only if it runs`, () => {
      const objects = forCalico({ encapsulation });
      const { data } = find(objects, "ConfigMap") as unknown as { data: Record<string, string> };
      const node = variablesOf(objects, "calico-node");
      assert.deepEqual(
        [data["calico_backend"], node["CALICO_IPV4POOL_VXLAN"], node["CALICO_IPV4POOL_IPIP"]],
        [backend, vxlan, ipip],
      );
      assert.equal(/-bird-/.test(commandsOf(objects)), backend === "bird");
      assert.match(commandsOf(objects), /-felix-live.*-felix-ready/);
    });

  it("set each variable once", () => {
    const modes = fc.constantFrom("vxlan", "vxlan-cross-subnet", "ipip", "none");
    fc.assert(
      fc.property(modes, (encapsulation) => {
        for (const { env = [] } of containersOf(find(forCalico({ encapsulation }), "DaemonSet")))
          assert.equal(new Set(env.map(({ name }) => name)).size, env.length);
      }),
      { numRuns: 8 },
    );
  });

  for (const [what, text, sentence] of [
    [
      "of another pod network",
      readFileSync(smallManifest("canal").source, "utf8"),
      /has no ConfigMap calico-config/,
    ],
    ["an HTML page", "<!DOCTYPE html>\n<html></html>\n", /other than Kubernetes objects/],
    ["broken YAML", "a: [", /^Flow sequence/],
    ["empty", "", /has no ConfigMap/],
    [
      "of unknown objects",
      "{apiVersion: example.org/v1, kind: Pool, metadata: {name: a}}",
      /holds a example.org\/v1 Pool/,
    ],
    [
      "without a required container",
      readFileSync(smallManifest("calico").source, "utf8").replaceAll("install-cni", "other"),
      /no container install-cni in calico-node/,
    ],
  ] as const)
    it(`report in one sentence that a manifest is ${what}`, () => {
      const found = readManifest(text, calicoRequiredParts);
      assert.ok("problem" in found);
      assert.match(found.problem, sentence);
      assert.doesNotMatch(found.problem, /\n/);
    });

  it("are pinned by digest, each at an address of its release", () => {
    const pins = Object.values(publishedManifests);
    for (const { source, sha256 } of pins) {
      assert.match(source, /^https:\/\/[^ ]+\/v\d+\.\d+\.\d+\/[^ ]+\.yaml$/);
      assert.match(sha256, /^[0-9a-f]{64}$/);
    }
    assert.equal(new Set(pins.map(({ sha256 }) => sha256)).size, pins.length);
  });
});
