import { strict as assert } from "node:assert";
import fc from "fast-check";
import {
  createImageTable,
  splitKubeadmImageReference,
} from "../../../../../base/versions/container-images.js";
import { parseClusterSpec } from "../../../../../components/config/cluster-spec.js";
import { buildClusterConfigurationBlocks } from "../../../../../components/kubeadm/component-configuration.js";
import { getPreparationValues } from "../../../../../components/machine/preparation.js";
import { smallest } from "../../../../support/config/spec.js";

const parsed = (images: object, more: object = {}) =>
  parseClusterSpec({ ...smallest, ...more, kubernetes: { images } });
const specOf = (images: object, more: object = {}) => {
  const result = parsed(images, more);
  assert.ok("spec" in result, JSON.stringify(result));
  return result.spec;
};
const problem = (images: object): string => {
  const result = parsed(images);
  assert.ok("problems" in result, JSON.stringify(images));
  return result.problems.map(({ path, message }) => `${path}: ${message}`).join("\n");
};

describe("kubernetes.images", () => {
  it("accepts every image of the add-ons, the manifests and kubeadm", () => {
    const names = [
      ...Object.keys(createImageTable("1.36.3")),
      ...["calicoNode", "calicoCni", "calicoKubeControllers", "pause"],
    ];
    const images = Object.fromEntries(
      names.map((name) => [name, `r.example/a/${name.toLowerCase()}:1`]),
    );
    const all = { ...images, etcd: "r.example/etcd:1", coreDns: "r.example/coredns:1" };
    assert.deepEqual(specOf(all).kubernetes.images, all);
  });

  it("refuses an unknown name and lists the known ones", () => {
    const said = problem({ kubeProxy: "r.example/kube-proxy:1" });
    assert.match(said, /^cluster\.kubernetes\.images: does not know \["kubeProxy"\]; it has /);
    assert.match(said, /cloudControllerManager, .*kubeRouter, .*pause, etcd$/);
  });

  it("refuses an incomplete image reference", () => {
    for (const wrong of [
      "traefik",
      "traefik:v3",
      "r.example/traefik",
      "r.example/tr aefik:1",
      "https://r.example/t:1",
      "r.example:5000/t",
      "",
      7,
    ])
      assert.match(problem({ traefik: wrong }), /images\.traefik: .*write one like/);
    for (const wrong of [
      "r.example/etcd",
      "r.example/my-etcd:1",
      `r.example/etcd@sha256:${"0".repeat(64)}`,
    ])
      assert.match(problem({ etcd: wrong }), /images\.etcd: .*the name etcd and a tag/);
  });

  it("replaces only the named image, with any registry", () => {
    const name = fc.constantFrom(
      ...(Object.keys(createImageTable("1.36.3")) as (keyof ReturnType<typeof createImageTable>)[]),
    );
    const prefix = fc.constantFrom("registry.k8s.io", "mirror.example:5000/k8s");
    fc.assert(
      fc.property(name, prefix, (one, registry) => {
        const own = "own.example/x/y:1";
        const before = createImageTable("1.36.3", { prefix: registry });
        const after = createImageTable("1.36.3", { prefix: registry }, { [one]: own });
        assert.deepEqual(after, { ...before, [one]: own });
      }),
    );
  });

  it("splits into the parts from which kubeadm builds the same reference", () => {
    const part = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/);
    const repository = fc.array(part, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(part, fc.nat(65535), repository, part, (host, port, path, tag) => {
        const before = [`${host}:${String(port)}`, ...path].join("/");
        assert.deepEqual(splitKubeadmImageReference(`${before}/etcd:${tag}`), {
          imageRepository: before,
          imageTag: tag,
        });
      }),
    );
  });

  it("sets CoreDNS in kubeadm's configuration, and nothing by default", () => {
    const { kubernetes } = specOf({ coreDns: "r.example/k8s/coredns:v1.14.2" });
    assert.deepEqual(buildClusterConfigurationBlocks(kubernetes)["dns"], {
      imageRepository: "r.example/k8s",
      imageTag: "v1.14.2",
    });
    assert.equal(buildClusterConfigurationBlocks(specOf({}).kubernetes)["dns"], undefined);
  });
});

describe("replaced images on machines", () => {
  const own = {
    etcd: "r.example/etcd:1",
    coreDns: "r.example/coredns:1",
    pause: "r.example/pause:1",
  };
  const of = (role: "worker" | "control-plane" | "etcd", images: object, more: object = {}) => {
    const { KUBEADM_IMAGES, EXTRA_IMAGES, CONTAINERD_CONFIG } = getPreparationValues(
      specOf(images, more),
      role,
    );
    const extra = EXTRA_IMAGES.split("\n").filter((one) => one.startsWith("r.example/"));
    return { early: new RegExp(KUBEADM_IMAGES), extra, config: CONTAINERD_CONFIG };
  };
  const listed = ["kube-apiserver", "kube-proxy", "coredns/coredns", "pause", "etcd"].map(
    (name) => `registry.k8s.io/${name}:v1`,
  );
  const pulled = (early: RegExp): string[] => listed.filter((one) => early.test(one));

  it("are pulled instead of kubeadm's before pods need them", () => {
    const { early, extra } = of("control-plane", own);
    assert.deepEqual(pulled(early), [
      "registry.k8s.io/kube-apiserver:v1",
      "registry.k8s.io/kube-proxy:v1",
    ]);
    assert.deepEqual(extra, Object.values(own));
    const worker = of("worker", own);
    assert.deepEqual(pulled(worker.early), ["registry.k8s.io/kube-proxy:v1"]);
    assert.deepEqual(worker.extra, [own.pause]);
    const apart = { topology: "ha", etcd: { kind: "dedicated", flavor: "m" } };
    assert.deepEqual(pulled(of("etcd", own, apart).early), []);
    assert.deepEqual(of("etcd", own, apart).extra, [own.etcd, own.pause]);
    assert.deepEqual(of("control-plane", own, apart).extra, [own.coreDns, own.pause]);
  });

  it("set containerd's pause image; by default kubeadm's stays", () => {
    assert.match(of("worker", own).config, /sandbox = "r\.example\/pause:1"/);
    assert.match(of("worker", {}).config, /sandbox = "@PAUSE@"/);
    assert.equal(of("control-plane", {}).early.source, ".");
  });

  it("are pulled early if they belong to an add-on", () => {
    const { extra } = of("worker", { kubeRouter: "r.example/kr:1", traefik: "r.example/t:1" });
    assert.deepEqual(extra, ["r.example/kr:1"]);
  });
});
