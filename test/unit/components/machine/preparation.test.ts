import { strict as assert } from "node:assert";
import { createImageTable } from "../../../../base/versions/container-images.js";
import { buildBlockStorageController } from "../../../../components/addons/manifests/block-storage.js";
import { parseClusterSpec } from "../../../../components/config/cluster-spec.js";
import {
  renderContainerdConfig,
  pausePlaceholder,
} from "../../../../components/machine/containerd-documents.js";
import {
  getCgroupDriver,
  getPreparationValues,
  preparationVariables,
} from "../../../../components/machine/preparation.js";
import { podNetworkOf } from "../../../support/config/pod-networks.js";
import { smallest } from "../../../support/config/spec.js";
import { unwrapped } from "../../../support/graph/unwrapped.js";

const spec = (kubernetes: object = {}) => {
  const result = parseClusterSpec({ ...smallest, kubernetes });
  assert.ok("spec" in result);
  return result.spec;
};

describe("preparation", () => {
  it("passes every value that the script reads", () => {
    const late = ["VOLUMES", "ADMIN_ADDRESS", "CLOUD_AUTHORITY", "REGISTRY_AUTH", "PROXY"];
    const given = [...Object.keys(getPreparationValues(spec(), "worker")), ...late];
    assert.deepEqual(given.sort(), [...preparationVariables].sort());
  });

  it("puts the minor version into the repository's address", () => {
    const { PACKAGES_URL } = getPreparationValues(spec({ version: "1.35.4" }), "worker");
    assert.equal(PACKAGES_URL, "https://pkgs.k8s.io/core:/stable:/v1.35/deb/");
  });

  it("passes the newest minor's repository only if it differs", () => {
    const of = (kubernetes: object): string =>
      getPreparationValues(spec(kubernetes), "worker").NEWEST_PACKAGES_URL;
    assert.match(of({ version: "1.35.4" }), /\/v1\.36\/deb\/$/);
    assert.equal(of({}), "");
    assert.equal(of({ version: "1.35.4", packages: { url: "https://mirror.example.org/" } }), "");
  });

  it("passes containerd's repository with the placeholders that the machine replaces", () => {
    const source = "https://mirror.example.org/{distribution} {codename} main";
    const containerd = { source, key: "https://mirror.example.org/{distribution}/key.asc" };
    const values = getPreparationValues(spec({ packages: { containerd } }), "worker");
    assert.deepEqual([values.CONTAINERD_SOURCE, values.CONTAINERD_KEY], Object.values(containerd));
    assert.match(values.CONTAINERD_KEY_FINGERPRINT, /^9DC8/);
  });

  it("selects crictl of the Kubernetes minor or an earlier one", () => {
    const { CRI_TOOLS_SERIES } = getPreparationValues(spec({ version: "1.35.4" }), "worker");
    assert.equal(CRI_TOOLS_SERIES, "1.30..1.35");
  });

  it("passes the ranges to which the machine's own ports are closed", () => {
    const { POD_RANGE, NODE_RANGE } = getPreparationValues(spec(), "worker");
    assert.deepEqual([POD_RANGE, NODE_RANGE], ["10.244.0.0/16", "10.0.0.0/24"]);
  });

  it("takes every image from the site's registry", () => {
    const registry = { prefix: "mirror.example:5000/k8s", plainHttp: true };
    const values = getPreparationValues(spec({ registry }), "worker");
    for (const image of values.EXTRA_IMAGES.split("\n"))
      assert.ok(image.startsWith("mirror.example:5000/k8s/"), image);
    assert.match(values.REGISTRIES, /^mirror\.example:5000\/hosts\.toml \S+$/);
  });

  it("pulls the cloud controller's image on control planes only", () => {
    const has = (role: "worker" | "control-plane"): boolean =>
      getPreparationValues(spec(), role).EXTRA_IMAGES.includes("cloud-controller-manager");
    assert.deepEqual([has("control-plane"), has("worker")], [true, false]);
  });

  it("pulls the storage controller's images on control planes, after those that make nodes Ready", () => {
    const names = getPreparationValues(spec(), "control-plane")
      .EXTRA_IMAGES.split("\n")
      .map((image) => image.replace(/.*\/(.*):.*/, "$1"));
    assert.deepEqual(names.slice(0, 2), ["kube-router", "openstack-cloud-controller-manager"]);
    const settings = { images: createImageTable("1.36.3"), clusterName: "", configChecksum: "" };
    const { spec: workload } = unwrapped(buildBlockStorageController(settings));
    for (const { image = "" } of workload.template.spec?.containers ?? [])
      assert.ok(names.includes(image.replace(/.*\/(.*):.*/, "$1")), image);
  });

  it("pulls images and loads modules of the selected pod network only", () => {
    const needs = (written: unknown) => {
      const podNetwork = podNetworkOf(written);
      const values = getPreparationValues({ ...spec(), podNetwork }, "worker");
      const images = values.EXTRA_IMAGES.split("\n").filter((one) => /router|flannel/.test(one));
      return [...images.map((one) => one.replace(/.*\/(.*):.*/, "$1")), values.KERNEL_MODULES];
    };
    assert.deepEqual(needs("kube-router"), ["kube-router", "ip_set xt_set"]);
    assert.deepEqual(needs("flannel"), ["flannel-cni-plugin", "flannel", "vxlan"]);
    const routes = { kind: "flannel", backend: "host-gw" };
    assert.deepEqual(needs(routes), ["flannel-cni-plugin", "flannel", ""]);
    assert.deepEqual(needs("none"), [""]);
  });

  it("registers a node with the taints of its group and role, or leaves the taints to kubeadm", () => {
    const taints = [{ key: "gpu", value: "", effect: "NoSchedule" }];
    const of = (role: "worker" | "control-plane", more: object) =>
      getPreparationValues(spec(), role, more).REGISTER_TAINTS;
    assert.equal(of("worker", { taints }), "gpu=:NoSchedule");
    assert.equal(
      of("control-plane", { taints }),
      "node-role.kubernetes.io/control-plane=:NoSchedule,gpu=:NoSchedule",
    );
    assert.equal(of("control-plane", {}), "");
  });

  it("sets containerd's cgroup driver to the kubelet's", () => {
    assert.equal(getCgroupDriver(spec().kubernetes), "systemd");
    const other = spec({ kubelet: { cgroupDriver: "cgroupfs" } });
    assert.match(getPreparationValues(other, "worker").CONTAINERD_CONFIG, /SystemdCgroup = false/);
    assert.match(getPreparationValues(spec(), "worker").CONTAINERD_CONFIG, /SystemdCgroup = true/);
  });
});

describe("renderContainerdConfig", () => {
  it("leaves the pause image as a placeholder for kubeadm's", () => {
    assert.ok(
      renderContainerdConfig({ cgroupDriver: "systemd" }).includes(`"${pausePlaceholder}"`),
    );
  });

  it("imports the user's files before the first TOML table", () => {
    const [version, imports, ...others] = renderContainerdConfig({ cgroupDriver: "systemd" }).split(
      "\n",
    );
    assert.equal(version, "version = 3");
    assert.equal(imports, 'imports = ["/etc/containerd/conf.d/*.toml"]');
    assert.ok(others.find((line) => line !== "")?.startsWith("["));
  });
});
