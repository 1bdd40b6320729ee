import { strict as assert } from "node:assert";
import { parseClusterSpec } from "../../../../../components/config/cluster-spec.js";
import { smallest } from "../../../../support/config/spec.js";

const messages = (patches: unknown, more: object = {}): string[] => {
  const result = parseClusterSpec({ ...smallest, ...more, kubernetes: { patches } });
  const root = "cluster.kubernetes.patches.";
  return "problems" in result
    ? result.problems.map(({ path, message }) => `${path.replace(root, "")}: ${message}`)
    : [];
};

/** Returns the messages about one patch of kube-scheduler. @default a strategic patch */
const scheduler = (patch: unknown, type?: string, target = "kube-scheduler"): string[] =>
  messages({ [target]: [{ ...(type !== undefined && { type }), patch }] });
const operations = (...patch: object[]): string[] => scheduler(patch, "json");
const container = (fields: object, name = "kube-scheduler"): object => ({
  spec: { containers: [{ name, ...fields }] },
});
const kubeadms = "is kubeadm's; leave it out";
const flags = "comes from another setting; write kubernetes.scheduler.extraArgs instead";

describe("kubernetes.patches", () => {
  it("is empty by default", () => {
    const result = parseClusterSpec(smallest);
    assert.ok("spec" in result);
    assert.deepEqual(result.spec.kubernetes.patches, {});
  });

  it("may set resources, annotations, volumes and additional containers", () => {
    const volume = { name: "profiles", hostPath: { path: "/etc/profiles" } };
    const mount = { name: "profiles", mountPath: "/etc/profiles" };
    const resources = { requests: { memory: "64Mi" } };
    const more = {
      metadata: { annotations: { "example.org/a": "b" }, labels: { team: "a" } },
      spec: {
        volumes: [volume],
        containers: [
          { name: "kube-scheduler", resources, volumeMounts: [mount] },
          { name: "sidecar", image: "r.example/sidecar:1", command: ["/sidecar"] },
        ],
      },
    };
    assert.deepEqual(scheduler(more), []);
    assert.deepEqual(scheduler(more, "strategic"), []);
    const { metadata } = more;
    assert.deepEqual(scheduler({ metadata, spec: { priority: 1 } }, "merge"), []);
    const added = operations(
      { op: "test", path: "/kind", value: "Pod" },
      { op: "add", path: "/metadata/annotations", value: {} },
      { op: "add", path: "/spec/volumes/-", value: volume },
      { op: "add", path: "/spec/containers/0/volumeMounts/-", value: mount },
      { op: "replace", path: "/spec/containers/0/resources/requests/cpu", value: "50m" },
    );
    assert.deepEqual(added, []);
    assert.deepEqual(scheduler(container({ resources }, "etcd"), undefined, "etcd"), []);
  });

  it("refuses patches of command and args, and names the setting to use", () => {
    const at = "kube-scheduler.0.patch.spec.containers";
    assert.deepEqual(scheduler(container({ command: ["kube-scheduler"], args: null })), [
      `${at}.0.command: ${flags}`,
      `${at}.0.args: ${flags}`,
    ]);
    assert.deepEqual(scheduler({ spec: { containers: [] } }, "merge"), [`${at}: ${flags}`]);
    assert.deepEqual(scheduler({ spec: null }), [`kube-scheduler.0.patch.spec: ${kubeadms}`]);
    const path = (where: string): string[] => operations({ op: "add", path: where, value: "-v" });
    for (const where of ["0/command/-", "0/command", "0"])
      assert.match(path(`/spec/containers/${where}`).join(), /kubernetes\.scheduler\.extraArgs/);
    const moved = { op: "move", from: "/spec/containers/0/args", path: "/metadata/annotations/a" };
    assert.deepEqual(operations(moved), [`kube-scheduler.0.patch.0.from: ${flags}`]);
  });

  it("refuses indirect paths to a container's command: other indexes, directives or the whole pod", () => {
    // A strategic patch inserts new containers before the existing ones.
    const behind = operations({ op: "remove", path: "/spec/containers/1/command" });
    assert.deepEqual(behind, [`kube-scheduler.0.patch.0.path: ${flags}`]);
    for (const path of ["/spec/containers/-1/command", "/spec/containers/00/command", "", "spec"])
      assert.match(
        operations({ op: "remove", path }).join(),
        /^kube-scheduler\.0\.patch\.0\.path: .* is not the place of a field; write one like/,
        path,
      );
    assert.match(
      scheduler({ spec: { $patch: "replace" } }).join(),
      /patch\.spec\.\$patch: is a directive of a patch, which could delete any field; leave it out/,
    );
  });

  it("refuses patches of the pod's name, labels, network, image and mounts", () => {
    assert.deepEqual(scheduler({ apiVersion: "v1", metadata: { labels: { tier: null } } }), [
      `kube-scheduler.0.patch.apiVersion: ${kubeadms}`,
      `kube-scheduler.0.patch.metadata.labels.tier: ${kubeadms}`,
    ]);
    assert.match(scheduler({ spec: { hostNetwork: false } }).join(), /hostNetwork: is kubeadm's/);
    assert.match(
      scheduler(container({ image: "x" })).join(),
      /image: comes from another setting; write kubernetes\.registry or kubernetes\.images instead/,
    );
    const mounted = /is a mount of kubeadm/;
    for (const mountPath of ["/etc/kubernetes/scheduler.conf", "/etc/kubernetes/pki/x"])
      assert.match(
        scheduler(container({ volumeMounts: [{ mountPath, name: "x" }] })).join(),
        mounted,
      );
    assert.match(
      operations({ op: "remove", path: "/spec/containers/0/volumeMounts/3" }).join(),
      mounted,
    );
    const there = /is a volume of kubeadm, or the whole list/;
    const volumes = [{ name: "kubeconfig", emptyDir: {} }];
    assert.match(scheduler({ spec: { volumes } }).join(), there);
    assert.match(operations({ op: "add", path: "/spec/volumes", value: [] }).join(), there);
    assert.match(
      scheduler({ metadata: { annotations: null } }, "merge", "kube-apiserver").join(),
      /annotations: is kubeadm's/,
    );
    const annotated = { "kubeadm.kubernetes.io/etcd.advertise-client-urls": "x" };
    assert.match(
      scheduler({ metadata: { annotations: annotated } }, "merge", "etcd").join(),
      /advertise-client-urls: is kubeadm's/,
    );
  });

  it("refuses list entries without a name and incomplete operations", () => {
    assert.deepEqual(scheduler({ spec: { containers: [{ resources: {} }] } }), [
      "kube-scheduler.0.patch.spec.containers.0: has no name, by which it is found; write it",
    ]);
    assert.deepEqual(
      operations({ op: "add", path: "/metadata/annotations/a" }, { op: "copy", path: "/spec/a" }),
      [
        "kube-scheduler.0.patch.0.value: is missing; add needs it",
        "kube-scheduler.0.patch.1.from: is missing; copy needs it",
      ],
    );
  });

  it("requires a known target and type, and limits the size", () => {
    assert.match(
      messages({ kubeletconfiguration: [], corednsdeployment: [] }).join(),
      /kubeletconfiguration comes from another setting; write kubernetes\.kubelet instead; corednsdeployment is not patched/,
    );
    assert.match(
      messages({ scheduler: [] }).join(),
      /does not know \["scheduler"\]; it has kube-a/,
    );
    assert.deepEqual(scheduler({}, "yaml"), [
      'kube-scheduler.0.type: "yaml" is not a type of patch; write strategic, merge or json',
    ]);
    assert.match(messages({ etcd: ["x"] }).join(), /^etcd\.0: "x" is not a patch; write its type/);
    assert.match(messages({ etcd: [] }).join(), /^etcd: is empty; write a list of patches$/);
    assert.match(scheduler([], "merge").join(), /is not an object; write fields of a Pod/);
    assert.match(scheduler({}, "json").join(), /is not operations of a JSON patch/);
    assert.match(
      scheduler({ metadata: { annotations: { a: "x".repeat(70_000) } } }).join(),
      /^kube-scheduler: is more than 64 KiB; write less/,
    );
  });

  it("refuses patches of etcd if etcd has its own machines", () => {
    const etcd = [{ patch: { metadata: { annotations: { a: "b" } } } }];
    assert.deepEqual(messages({ etcd }), []);
    assert.deepEqual(messages({ etcd }, { etcd: { kind: "dedicated", flavor: "medium" } }), [
      "etcd: etcd has dedicated machines, whose pod this program writes itself; leave the patches or `etcd` out",
    ]);
  });
});
