import { strict as assert } from "node:assert";
import fc from "fast-check";
import type { ClusterArgs } from "../../../../components/config/cluster-spec.js";
import {
  findFrozenValueChanges,
  renderFrozenValues,
  collectFrozenValues,
} from "../../../../components/config/immutable-fields.js";
import { jsonSchema } from "../../../../components/config/json-schema.js";
import { leaves } from "../../../../packages/tools/documentation/config-schema.js";
import { smallest, specOf } from "../../../support/config/spec.js";

/** Compares with a cluster of defaults in both directions; returns the messages by path. */
const compared = (other: Readonly<Record<string, string>>): Record<string, string> => {
  const [there, back] = [
    findFrozenValueChanges(collectFrozenValues(specOf()), other),
    findFrozenValueChanges(other, collectFrozenValues(specOf())),
  ].map((found) => Object.fromEntries(found.map(({ path, message }) => [path, message])));
  assert.deepEqual(Object.keys(there ?? {}), Object.keys(back ?? {}));
  return there ?? {};
};

describe("frozen values of a cluster", () => {
  it("are the documented refused changes, the name and the existence of volumes", () => {
    const refused = leaves(jsonSchema()).filter(
      ({ change, path }) => change === "refused" || path.endsWith("Volume.size"),
    );
    const existing = { network: "office", subnet: "machines", router: "gateway" };
    const admin = { network: "ops", subnet: "ops", allowedCidrs: ["10.9.0.0/24"] };
    const disk = { size: 20, type: "fast", zone: "store" };
    const volumes = { rootVolume: disk, runtimeVolume: disk };
    const all = { ...volumes, etcdVolume: disk };
    const said = specOf({
      network: { existing, admin, portSecurity: false },
      cloudController: { enabled: false },
      loadBalancer: { enabled: false },
      blockStorage: { snapshots: true },
      controlPlane: {
        ...smallest.controlPlane,
        ...all,
        nodes: { "0": { address: "10.0.0.49", ...all } },
      },
      workers: {
        pool: {
          flavor: "medium",
          count: 1,
          ...volumes,
          nodes: { "0": { address: "10.0.0.50", ...volumes } },
        },
      },
      access: "bastion",
      bastion: { flavor: "tiny", rootVolume: disk },
      endpoint: { kind: "floating-ip", floatingIp: "203.0.113.9" },
      etcd: {
        kind: "dedicated",
        flavor: "medium",
        ...all,
        nodes: { "0": { address: "10.0.0.51", ...all } },
      },
      kubernetes: {
        certificates: { authorityValidity: "43800h" },
        images: { etcd: "r.example/etcd:1" },
      },
    });
    const services = specOf({
      network: { ipv6: { nodes: "fd00:10::/64" } },
      podNetwork: "none",
      loadBalancer: { network: { externalNetwork: "services" } },
      kubernetes: { patches: { etcd: [{ patch: {} }] } },
      endpoint: { kind: "load-balancer" },
      ingress: { kind: "workers", pool: "general" },
    });
    assert.deepEqual(
      [
        ...new Set([said, services].flatMap((spec) => Object.keys(collectFrozenValues(spec)))),
      ].sort(),
      // A pod network and its options are one value.
      [
        ...new Set([
          // The default of `mode` with kube-router differs from the assumed value.
          ...["name", "kubernetes.version", "kubernetes.kubeProxy.mode"],
          // Recorded, but not refused.
          "loadBalancer.provider",
          ...refused.map(({ path }) =>
            path
              .replace(/^podNetwork\..*/, "podNetwork")
              .replace("<pool>", "pool")
              .replace("<position>", "0"),
          ),
        ]),
      ].sort(),
    );
  });

  it("contain a pod network's kind and its frozen options", () => {
    const kept = (podNetwork: ClusterArgs["podNetwork"]) =>
      collectFrozenValues(specOf({ podNetwork })).podNetwork;
    assert.equal(kept(undefined), "kube-router");
    assert.equal(kept("flannel"), "flannel");
    assert.equal(kept({ kind: "flannel" }), "flannel");
    assert.equal(kept({ kind: "flannel", backend: "vxlan" }), "flannel");
    assert.equal(
      kept({ kind: "flannel", backend: "host-gw" }),
      '{"backend":"host-gw","kind":"flannel"}',
    );
    // Another version of the manifest does not make it another network.
    const manifest = { source: "a.yaml", sha256: "0".repeat(64) };
    assert.equal(kept({ kind: "calico", manifest }), "calico");
    assert.equal(
      kept({ kind: "calico", encapsulation: "ipip", manifest }),
      '{"encapsulation":"ipip","kind":"calico"}',
    );
  });

  it("omit defaults", () => {
    const written = (enabled: boolean) =>
      collectFrozenValues(specOf({ cloudController: { enabled } }));
    assert.deepEqual(written(true), collectFrozenValues(specOf()));
    assert.deepEqual(Object.keys(compared(written(false))), ["cluster.cloudController.enabled"]);
  });

  it("include every range, because addresses and certificates depend on the ranges", () => {
    const { network } = specOf();
    for (const key of ["nodes", "pods", "services"] as const)
      assert.equal(collectFrozenValues(specOf())[`network.${key}`], network[key]);
  });

  it("include an existing network, which can be neither added nor removed", () => {
    const path = "network.existing.network";
    const [made, existing] = [{ a: "1" }, { a: "1", [path]: "n" }];
    assert.deepEqual(findFrozenValueChanges(made, { ...made, b: "2" }), []);
    assert.deepEqual(findFrozenValueChanges(existing, existing), []);
    const [taken] = findFrozenValueChanges(made, existing);
    assert.match(taken?.message ?? "", /^nothing cannot become n .*; leave it out again, or/);
    const [left] = findFrozenValueChanges(existing, made);
    assert.equal(left?.path, `cluster.${path}`);
    assert.match(left.message, /^n cannot become nothing .*; write n again, or/);
  });

  it("include an existing floating IP of the endpoint, which can be neither added nor removed", () => {
    const of = (floatingIp?: string) =>
      collectFrozenValues(specOf({ endpoint: { kind: "floating-ip", floatingIp } }));
    assert.deepEqual(of(), collectFrozenValues(specOf()));
    for (const [before, now] of [
      [of(), of("203.0.113.9")],
      [of("203.0.113.9"), of()],
      [of("203.0.113.9"), of("203.0.113.10")],
    ] as const)
      assert.equal(findFrozenValueChanges(before, now)[0]?.path, "cluster.endpoint.floatingIp");
  });

  it("include floating IPs of SSH and ingress while in use; the feature may be removed and added", () => {
    const balanced = { endpoint: { kind: "load-balancer" } } as const;
    const edge = { kind: "workers", pool: "general" } as const;
    const ways = {
      ssh: (floatingIp?: string) =>
        collectFrozenValues(specOf({ ...balanced, ssh: { ...smallest.ssh, floatingIp } })),
      ingress: (floatingIp?: string) =>
        collectFrozenValues(specOf({ ingress: { ...edge, floatingIp } })),
    };
    const without = collectFrozenValues(specOf());
    for (const [way, of] of Object.entries(ways)) {
      const [one, other, none] = [of("203.0.113.9"), of("203.0.113.10"), of()];
      for (const [before, now] of [
        [one, other],
        [one, none],
        [none, one],
      ] as const)
        assert.equal(findFrozenValueChanges(before, now)[0]?.path, `cluster.${way}.floatingIp`);
      for (const some of [one, none])
        assert.deepEqual(
          [findFrozenValueChanges(some, without), findFrozenValueChanges(without, some)],
          [[], []],
        );
      assert.equal(
        renderFrozenValues(one),
        renderFrozenValues(without),
        "a machine would remember it",
      );
    }
  });

  it("include features that can be enabled but not disabled", () => {
    const [without, having] = [{ a: "1" }, { a: "1", "blockStorage.snapshots": "true" }];
    assert.deepEqual(findFrozenValueChanges(without, having), []);
    const [lost] = findFrozenValueChanges(having, without);
    assert.match(lost?.message ?? "", /^true cannot become false .*; write true again, or/);
  });

  for (const [path, sentence] of [
    [
      "operator.caCertificate",
      /this run has none: .*as `cacert` in clouds\.yaml or as OS_CACERT; if the cloud now/,
    ],
    [
      "operator.clientCertificate",
      /this run has none: .*as `cert` and `key` in clouds\.yaml or as/,
    ],
  ] as const)
    it(`include ${path}, and a run without the value is refused`, () => {
      const [without, having] = [{ a: "1" }, { a: "1", [path]: "own" }];
      assert.deepEqual(findFrozenValueChanges(without, having), []);
      assert.deepEqual(findFrozenValueChanges(having, having), []);
      const [lost, ...more] = findFrozenValueChanges(having, without);
      assert.deepEqual([lost?.path, more], [`cluster.${path}`, []]);
      assert.match(lost?.message ?? "", sentence);
      assert.equal(renderFrozenValues(having), "a 1");
    });

  it("include the network range of load balancers, which can be added but neither removed nor changed", () => {
    const path = "loadBalancer.network.range";
    const [without, having] = [{ a: "1" }, { a: "1", [path]: "10.1.0.0/24" }];
    assert.deepEqual(findFrozenValueChanges(without, having), []);
    for (const [now, became] of [
      [without, "nothing"],
      [{ ...having, [path]: "10.2.0.0/24" }, "10.2.0.0/24"],
    ] as const) {
      const [lost, ...more] = findFrozenValueChanges(having, now);
      assert.deepEqual([lost?.path, more], [`cluster.${path}`, []]);
      assert.ok(lost?.message.startsWith(`10.1.0.0/24 cannot become ${became} while`));
    }
  });

  it("include the external network, which can be neither added nor removed", () => {
    const [inside, outside] = [{ a: "1" }, { a: "1", externalNetwork: "id" }];
    for (const [before, now] of [
      [inside, outside],
      [outside, inside],
    ] as const)
      assert.equal(findFrozenValueChanges(before, now)[0]?.path, "cluster.externalNetwork");
  });

  it("exclude values with other change effects", () => {
    const more: Partial<ClusterArgs> = {
      image: "other",
      // A flavor must be changeable: the cloud may have deleted the old one.
      controlPlane: { flavor: "other" },
      workers: { other: { flavor: "other", count: 1 } },
      storageClasses: [],
      samples: true,
    };
    assert.deepEqual(collectFrozenValues(specOf(more)), collectFrozenValues(specOf()));
  });

  it("include only those kubelet and kube-proxy fields that running pods depend on", () => {
    const having = (kubernetes: ClusterArgs["kubernetes"]) =>
      collectFrozenValues(specOf({ kubernetes }));
    const loose = having({ kubelet: { maxPods: 50, cgroupDriver: "systemd" }, kubeProxy: {} });
    assert.deepEqual(loose, collectFrozenValues(specOf()));
    const tight = having({
      kubelet: { maxPods: 50, cgroupDriver: "cgroupfs", clusterDNS: ["10.96.0.9"] },
      kubeProxy: { mode: "ipvs" },
    });
    assert.deepEqual(Object.keys(compared(tight)).sort(), [
      ...["cluster.kubernetes.kubeProxy.mode", "cluster.kubernetes.kubelet.cgroupDriver"],
      "cluster.kubernetes.kubelet.clusterDNS",
    ]);
    assert.match(
      compared(tight)["cluster.kubernetes.kubelet.cgroupDriver"] ?? "",
      /^systemd cannot become cgroupfs .* write systemd again/,
    );
  });

  it("treat an unnamed mode of kube-proxy as iptables, and refuse the default of kube-router", () => {
    const kubeProxy = { mode: "iptables" };
    const before = collectFrozenValues(specOf({ kubernetes: { kubeProxy } }));
    assert.ok(!("kubernetes.kubeProxy.mode" in before));
    const [refusal] = findFrozenValueChanges(before, collectFrozenValues(specOf()));
    assert.equal(refusal?.path, "cluster.kubernetes.kubeProxy.mode");
    assert.match(
      refusal.message,
      /^iptables cannot become nftables .*; write iptables, or destroy/,
    );
  });

  it("contain no mode of kube-proxy where kube-router replaces kube-proxy", () => {
    const podNetwork = { kind: "kube-router", serviceProxy: true } as const;
    assert.ok(!("kubernetes.kubeProxy.mode" in collectFrozenValues(specOf({ podNetwork }))));
  });

  it("refuse another pod network once, although it changes the default mode of kube-proxy", () => {
    const [before, now] = [specOf(), specOf({ podNetwork: "flannel" })].map(collectFrozenValues);
    const refused = findFrozenValueChanges(before ?? {}, now ?? {});
    assert.deepEqual(
      refused.map(({ path }) => path),
      ["cluster.podNetwork"],
    );
  });

  it("include the validity of the cluster's authorities, which are created once", () => {
    const certificates = { authorityValidity: "43800h" };
    const path = "cluster.kubernetes.certificates.authorityValidity";
    assert.deepEqual(
      Object.keys(compared(collectFrozenValues(specOf({ kubernetes: { certificates } })))),
      [path],
    );
    const validity = { certificates: { validity: "720h" } };
    assert.deepEqual(compared(collectFrozenValues(specOf({ kubernetes: validity }))), {});
  });

  it("include etcd's image, which an existing etcd cannot change", () => {
    const images = { etcd: "r.example/etcd:1" };
    const path = "cluster.kubernetes.images.etcd";
    const found = compared(collectFrozenValues(specOf({ kubernetes: { images } })));
    assert.deepEqual(Object.keys(found), [path]);
    const others = { coreDns: "r.example/coredns:1", pause: "r.example/pause:1" };
    assert.deepEqual(compared(collectFrozenValues(specOf({ kubernetes: { images: others } }))), {});
  });

  it("include only etcd's patches, because an existing etcd cannot get new ones", () => {
    const having = (patches: object) => collectFrozenValues(specOf({ kubernetes: { patches } }));
    const patch = [{ patch: { metadata: { annotations: { a: "b" } } } }];
    const found = compared(having({ etcd: patch }))["cluster.kubernetes.patches.etcd"];
    assert.match(found ?? "", /^nothing cannot become \[\{"patch":.* leave it out again/);
    assert.deepEqual(having({ "kube-scheduler": patch }), having({}));
    assert.deepEqual(having({}), collectFrozenValues(specOf()));
  });

  it("have the same text for any order of fields", () => {
    const fields = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(fields, (written) => {
        const turned = Object.fromEntries(Object.entries(written).reverse());
        const [one, other] = [written, turned].map((kubelet) =>
          collectFrozenValues({
            ...specOf(),
            kubernetes: { ...specOf().kubernetes, kubelet: { clusterDNS: kubelet } } as never,
          }),
        );
        assert.deepEqual(one, other);
      }),
      { numRuns: 20 },
    );
  });

  it("have one line per value", () => {
    const lines = renderFrozenValues(collectFrozenValues(specOf())).split("\n");
    assert.ok(lines.includes("network.pods 10.244.0.0/16"));
    assert.ok(lines.includes("podNetwork kube-router"));
  });
});
