import assert from "node:assert/strict";
import { silentProgress } from "../../../../base/progress.js";
import {
  defaultKubernetesVersion,
  kubernetesMinors,
  getMinorVersion,
  supportedMinors,
} from "../../../../base/versions/pinned-versions.js";
import { labUp } from "../../../../packages/lab/lab.js";
import { useApi } from "../../support/kubernetes/api-client.js";
import { watchService } from "../../support/network/availability.js";
import { applied, kubectlOn } from "../../support/kubernetes/kubectl.js";
import { inServer } from "../../support/machines/machines.js";
import { Stack } from "../../support/stack/stack.js";

const minutes = 60_000;

/** Newest minor version, and the one before it. */
const [newest, former] = supportedMinors.map((minor) => kubernetesMinors[minor]);
assert.ok(newest && former && newest.version === defaultKubernetesVersion);

/** Component of Docker's repository with an earlier build of containerd.io. */
const earlierContainerd = {
  source: "https://download.docker.com/linux/debian bookworm test",
  key: "https://download.docker.com/linux/debian/gpg",
};

/** PodDisruptionBudget that always keeps one of the two web servers running. */
const budget = `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: stackadm-samples}
spec: {minAvailable: 1, selector: {matchLabels: {app.kubernetes.io/name: web}}}
`;

describe(`a cluster that upgrades from Kubernetes ${former.version} to ${newest.version}, on the lab`, function () {
  this.timeout(60 * minutes);
  const stack = new Stack("upgrade");
  const of = (version: string): Record<string, unknown> => ({
    controlPlane: { flavor: "k8s-control-plane", count: 3 },
    workers: { general: { flavor: "k8s-worker", count: 2 } },
    endpoint: { kind: "load-balancer" },
    samples: true,
    kubernetes: {
      version,
      ...(version === former.version && { packages: { containerd: earlierContainerd } }),
      apiServer: { extraArgs: { "event-ttl": "3h" } },
      kubelet: { maxPods: 60 },
      patches: {
        "kube-scheduler": [
          {
            patch: {
              spec: {
                containers: [
                  { name: "kube-scheduler", resources: { requests: { memory: "72Mi" } } },
                ],
              },
            },
          },
        ],
      },
    },
  });
  let earlier: string[] = [];
  const controlPlanes = ["control-plane-0", "control-plane-1", "control-plane-2"];
  const machines = [...controlPlanes, "general-0", "general-1"];
  const ask = (line: string): Promise<string> =>
    kubectlOn(stack.serverOf("control-plane-0"), line).then((text) => text.trim());
  const words = async (line: string): Promise<string[]> =>
    [...new Set((await ask(line)).split(/\s+/))].sort();
  const kubelets = (): Promise<string[]> =>
    words("get nodes -o jsonpath='{.items[*].status.nodeInfo.kubeletVersion}'");
  /** Returns the versions of containerd's package on the machines. */
  const containerds = (): Promise<string[]> =>
    Promise.all(
      machines.map((name) =>
        inServer(stack.serverOf(name), "dpkg-query -W -f '${Version}' containerd.io"),
      ),
    );
  /** Returns the image tags of the containers with this name. */
  const tags = async (container: string): Promise<string[]> => {
    const images = await words(
      `-n kube-system get pods -o jsonpath='{.items[*].spec.containers[?(@.name=="${container}")].image}'`,
    );
    return images.map((image) => image.replace(/^.*:/, ""));
  };

  before(async () => {
    // Starts the lab with a package repository that contains both versions.
    await labUp({ kubernetes: former.version, progress: silentProgress });
    await stack.open();
  });
  after(async () => {
    await stack.cluster.close();
  });

  it("starts with the former minor version", async () => {
    await stack.up(of(former.version));
    await stack.prove(3);
    assert.deepEqual(await kubelets(), [`v${former.version}`]);
    earlier = await containerds();
    assert.equal(new Set(earlier).size, 1, earlier.join(" "));
    await ask(applied(budget));
  });

  it("refuses an upgrade that would also replace its control planes", async () => {
    const raised = { controlPlane: { flavor: "k8s-control-plane", count: 3, generation: 1 } };
    await assert.rejects(
      stack.up({ ...of(newest.version), ...raised }),
      /kubernetes\.version: cannot be installed while upgrade-control-plane-0, .* would be replaced/,
    );
    await stack.again(of(former.version));
  });

  it("upgrades one machine at a time, while the API and a Service keep answering", async () => {
    const servers = machines.map((name) => stack.serverOf(name));
    const service = watchService(`http://${stack.outputs.samples?.external ?? ""}/`);
    const use = useApi(stack.outputs.kubeconfig);
    await stack.up(of(newest.version));
    const [web, api] = [await service.end(), await use.end()];
    assert.deepEqual(
      machines.map((name) => stack.serverOf(name)),
      servers,
      "a machine was replaced",
    );
    const ended = stack.cluster.seen.events.flatMap((event) =>
      event.type === "resource" && event.state === "finished" && /-\d-(init|join)$/.test(event.name)
        ? [event.name.replace(/^.*?((control-plane|general)-\d)-\w+$/, "$1")]
        : [],
    );
    assert.deepEqual(ended, machines);
    assert.ok(web.answered > 100 && web.longestGap < 20_000, JSON.stringify(web));
    assert.ok(api.answered > 500 && api.longestGap < 60_000, api.said);
  });

  it("runs the new version everywhere, with matching etcd, CoreDNS, pause and cloud controller", async () => {
    const { version, etcd, coredns, pause, cloudProvider } = newest;
    assert.deepEqual(await kubelets(), [`v${version}`]);
    for (const name of ["apiserver", "controller-manager", "scheduler", "proxy"])
      assert.deepEqual(await tags(`kube-${name}`), [`v${version}`], name);
    assert.deepEqual(await tags("etcd"), [`${etcd.slice(1)}-0`]);
    assert.deepEqual(await tags("coredns"), [coredns]);
    assert.deepEqual(await tags("openstack-cloud-controller-manager"), [cloudProvider]);
    for (const name of machines) {
      const config = await inServer(stack.serverOf(name), "cat /etc/containerd/config.toml");
      assert.match(
        config,
        new RegExp(`sandbox = ".*/pause:${pause.replaceAll(".", "\\.")}"`),
        name,
      );
      const held = await inServer(stack.serverOf(name), "apt-mark showhold");
      assert.deepEqual(
        ["cri-tools", "kubeadm", "kubectl", "kubelet", "kubernetes-cni"].filter(
          (one) => !held.split("\n").includes(one),
        ),
        [],
        name,
      );
    }
    await stack.prove(3);
  });

  it("has a newer build of containerd on every machine, which containerd runs", async () => {
    const builds = await containerds();
    assert.equal(new Set(builds).size, 1, builds.join(" "));
    for (const [index, name] of machines.entries()) {
      const server = stack.serverOf(name);
      const newer = `dpkg --compare-versions ${builds[index] ?? ""} gt ${earlier[index] ?? ""}`;
      assert.equal((await inServer(server, `${newer} && echo yes`)).trim(), "yes", name);
      assert.match(await inServer(server, "apt-mark showhold"), /^containerd\.io$/m, name);
      const started = await inServer(
        server,
        'stat -c %Z /usr/bin/containerd; date -d "$(systemctl show -P ActiveEnterTimestamp containerd)" +%s',
      );
      const [installed = 0, active = 0] = started.trim().split("\n").map(Number);
      assert.ok(active >= installed, `${name}: ${started}`);
    }
  });

  it("keeps its flags, patches, fields and files, and all nodes stay schedulable", async () => {
    for (const name of controlPlanes) {
      const read = (file: string): Promise<string> => inServer(stack.serverOf(name), `cat ${file}`);
      const server = await read("/etc/kubernetes/manifests/kube-apiserver.yaml");
      for (const flag of [
        "event-ttl=3h",
        "profiling=false",
        "audit-log-path",
        "encryption-provider",
      ])
        assert.match(server, new RegExp(`--${flag}`), name);
      assert.match(await read("/etc/kubernetes/manifests/kube-scheduler.yaml"), /memory: 72Mi/);
    }
    for (const name of machines) {
      const config = await inServer(stack.serverOf(name), "cat /var/lib/kubelet/config.yaml");
      assert.match(config, /^maxPods: 60$/m, name);
    }
    const nodes = await ask(
      `get nodes -o jsonpath='{range .items[*]}{.spec.unschedulable}{.metadata.annotations.stackadm\\.io/retired}{end}'`,
    );
    assert.equal(nodes, "");
    const approval = "get clusterrolebinding kubeadm:node-autoapprove-bootstrap --ignore-not-found";
    assert.equal(await ask(approval), "");
  });

  it("has no changes on a second `up`, and refuses a downgrade", async () => {
    await stack.again(of(newest.version));
    await assert.rejects(
      stack.up(of(former.version)),
      new RegExp(`kubernetes\\.version: ${former.version} is earlier than ${newest.version}`),
    );
    assert.equal(
      getMinorVersion((await kubelets())[0]?.slice(1) ?? ""),
      getMinorVersion(newest.version),
    );
  });

  it("is destroyed without leftovers", async () => {
    await stack.destroyAndLookAround();
  });
});
