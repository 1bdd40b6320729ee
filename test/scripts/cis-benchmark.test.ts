import { strict as assert } from "node:assert";
import { toYaml } from "../../base/yaml.js";
import { parseClusterSpec } from "../../components/config/cluster-spec.js";
import {
  buildClusterConfigurationBlocks,
  buildKubeletConfiguration,
} from "../../components/kubeadm/component-configuration.js";
import { mergeKubeletFields } from "../../components/kubeadm/hardening.js";
import { failuresByDefault, failuresIn, items, scriptFor } from "../lab/support/kubernetes/cis.js";
import type { Role } from "../lab/support/kubernetes/cis-item.js";
import { Sandbox } from "../support/machine/sandbox.js";
import { smallest } from "../support/config/spec.js";

/** Flags that kubeadm sets by itself, limited to those in the table. */
const kubeadm: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "kube-apiserver": {
    "authorization-mode": "Node,RBAC",
    "client-ca-file": "f",
    "enable-admission-plugins": "NodeRestriction",
    "etcd-cafile": "f",
    "etcd-certfile": "f",
    "etcd-keyfile": "f",
    "kubelet-client-certificate": "f",
    "kubelet-client-key": "f",
    "service-account-key-file": "f",
    "tls-cert-file": "f",
    "tls-private-key-file": "f",
  },
  "kube-controller-manager": {
    "bind-address": "127.0.0.1",
    "root-ca-file": "f",
    "service-account-private-key-file": "f",
    "use-service-account-credentials": "true",
  },
  "kube-scheduler": { "bind-address": "127.0.0.1" },
  etcd: {
    "cert-file": "f",
    "client-cert-auth": "true",
    "data-dir": "/var/lib/etcd",
    "key-file": "f",
    "peer-cert-file": "f",
    "peer-client-cert-auth": "true",
    "peer-key-file": "f",
  },
  kubelet: { "node-ip": "10.0.0.5" },
};
const kubeadmKubelet = {
  authentication: { anonymous: { enabled: false }, x509: { clientCAFile: "f" } },
  authorization: { mode: "Webhook" },
  rotateCertificates: true,
};

/** Returns the flags of each process and kubelet's file, as the program renders them. */
function rendered(hardened: boolean) {
  const result = parseClusterSpec({ ...smallest, kubernetes: { hardened } });
  assert.ok("spec" in result);
  const { kubernetes } = result.spec;
  const blocks = buildClusterConfigurationBlocks(kubernetes) as Readonly<
    Record<string, { readonly extraArgs: readonly { name: string; value: string }[] }>
  >;
  const ours: Readonly<Record<string, string>> = {
    "kube-apiserver": "apiServer",
    "kube-controller-manager": "controllerManager",
    "kube-scheduler": "scheduler",
  };
  const flags = Object.entries(kubeadm).map(([name, own]) => {
    const asked = blocks[ours[name] ?? ""]?.extraArgs ?? [];
    const all = { ...own, ...Object.fromEntries(asked.map(({ name, value }) => [name, value])) };
    return [name, Object.entries(all).map(([flag, value]) => `--${flag}=${value}`)] as const;
  });
  const kubelet = toYaml({
    ...kubeadmKubelet,
    ...buildKubeletConfiguration(mergeKubeletFields(kubernetes)),
  });
  return { flags, kubelet };
}

describe("the table of scored CIS items", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = new Sandbox({
      find: "echo 644 root:root",
      ss: "echo LISTEN 0 4096 127.0.0.1:10249 0.0.0.0:*",
      stat: 'case "$*" in */lib/etcd) echo 700 etcd:etcd ;; *) echo 600 root:root ;; esac',
      systemctl: "echo /etc/systemd/system/kubelet.service",
    });
  });
  afterEach(() => {
    machine.close();
  });
  const failing = (role: Role): string[] => {
    const script = scriptFor(role).replaceAll("/proc/", `${machine.root}/proc/`);
    const { code, stdout, stderr } = machine.execute(script);
    assert.equal(code, 0, stderr);
    return failuresIn(role, stdout).map(({ number }) => number);
  };
  const numbersOf = (role: Role): string[] =>
    items.filter(({ roles }) => roles.includes(role)).map(({ number }) => number);
  const installed = (hardened: boolean): void => {
    const { flags, kubelet } = rendered(hardened);
    for (const [index, [name, words]] of flags.entries()) {
      const text = [`/usr/bin/${name}`, ...words].map((word) => `${word}\0`).join("");
      const here = text.replace("/var/", `${machine.root}/var/`);
      machine.put(`proc/${String(index + 1)}/cmdline`, here);
    }
    const home = "etc/kubernetes";
    for (const name of ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"])
      machine.put(`${home}/manifests/${name}.yaml`);
    for (const name of ["admin", "scheduler", "controller-manager", "kubelet"])
      machine.put(`${home}/${name}.conf`);
    machine.put("etc/systemd/system/kubelet.service");
    machine.put("var/lib/etcd/member");
    machine.put("var/lib/kubelet/config.yaml", kubelet);
  };

  it("contains each item once, by number", () => {
    const numbers = items.map(({ number }) => number);
    assert.equal(new Set(numbers).size, numbers.length);
    const chapters = ["1", "2", "4"].map(
      (chapter) => numbers.filter((number) => number.startsWith(`${chapter}.`)).length,
    );
    assert.deepEqual(chapters, [47, 6, 12]);
    const known = (number: string): boolean => numbers.includes(number);
    assert.ok(
      Object.keys(failuresByDefault).every(known) && Object.keys(failuresByDefault).length <= 2,
    );
  });

  it("fails every item if no value can be read", () => {
    machine.stub("find", "exit 1");
    machine.stub("ss", "exit 1");
    for (const role of ["control-plane", "worker"] as const)
      assert.deepEqual(failing(role), numbersOf(role));
  });

  it("passes all items for a hardened cluster, and all but the explained items by default", () => {
    installed(true);
    assert.deepEqual(failing("control-plane"), []);
    assert.deepEqual(failing("worker"), []);
    installed(false);
    assert.deepEqual(failing("control-plane"), Object.keys(failuresByDefault));
    assert.deepEqual(failing("worker"), []);
  });

  it("fails items with wrong modes, owners, addresses or flags", () => {
    installed(true);
    machine.stub("find", "echo 600 root:root; echo 600 etcd:root");
    machine.stub("ss", "echo LISTEN 0 4096 0.0.0.0:10249 0.0.0.0:*");
    machine.stub("stat", 'echo "644 root:root"');
    machine.put("proc/9/cmdline", "kubelet\0--anonymous-auth=true\0");
    machine.put("proc/5/cmdline", "bash\0kubelet\0");
    const modes = ["1.1.1", "1.1.3", "1.1.5", "1.1.7", "1.1.11", "1.1.12", "1.1.13", "1.1.15"];
    assert.deepEqual(failing("control-plane"), [
      ...[...modes, "1.1.17", "1.1.19", "4.1.1", "4.1.5", "4.1.9", "4.2.1", "4.3.1"],
    ]);
  });
});
