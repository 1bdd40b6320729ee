import assert from "node:assert/strict";
import { Client } from "ssh2";
import { takeInventory, type CloudObject } from "../../../../openstack/inventory/inventory.js";
import { keyPair } from "../../../engine/support/ssh-server.js";
import { until } from "../../support/cloud/foreign.js";
import { kubectlOn } from "../../support/kubernetes/kubectl.js";
import { changes } from "../../support/stack/lab-cluster.js";
import { inServer } from "../../support/machines/machines.js";
import { Stack } from "../../support/stack/stack.js";

const minutes = 60_000;
const role = "node-role.kubernetes.io/edge";

const edge = {
  flavor: "k8s-worker",
  count: 1,
  zones: ["zone-b"],
  spread: "none",
  labels: { [role]: "", "example.org/disk": "own" },
  taints: [{ key: "example.org/edge", effect: "NoSchedule" }],
  tags: ["edge"],
  metadata: { owner: "lab" },
  cloudInit: ["#cloud-config\nwrite_files: [{path: /etc/own, content: part}]\n"],
  steps: { beforeKubeadm: "cat /etc/own >/etc/before", afterKubeadm: "hostname >>/etc/after" },
  rootVolume: { size: 5, type: "gold" },
  runtimeVolume: { size: 4 },
};
const controlPlane = { flavor: "k8s-control-plane", etcdVolume: { size: 1 } };
const changed = (more: object = {}, count = 1) => ({
  samples: false,
  controlPlane,
  workers: { general: { flavor: "k8s-worker", count }, edge: { ...edge, ...more } },
});

describe("machines of pools with different options, on the lab", function () {
  this.timeout(12 * minutes);
  const stack = new Stack("machines");
  before(async () => {
    await stack.open();
  });
  after(async () => {
    await stack.cluster.close();
  });

  const ask = (line: string): Promise<string> =>
    kubectlOn(stack.serverOf("control-plane-0"), line).then((text) => text.trim());
  const taints = () => ask("get node machines-edge-0 -o jsonpath='{.spec.taints[*].key}'");
  const label = (key: string) =>
    ask(`get node machines-edge-0 -o jsonpath='{.metadata.labels.${key.replaceAll(".", "\\.")}}'`);
  const volumes = async (): Promise<CloudObject[]> =>
    (await takeInventory(stack.cluster.cloud)).filter(
      ({ kind, metadata }) => kind === "volume" && metadata["stackadm-cluster"] === "machines",
    );

  it("start in their pools' zones, with their pools' labels and taints", async () => {
    await stack.up(changed());
    await stack.prove(1);
    const zones = stack.outputs.nodes.map(({ name, zone }) => `${name} ${zone}`).sort();
    assert.deepEqual(zones, [
      ...["machines-control-plane-0 zone-a", "machines-edge-0 zone-b", "machines-general-0 zone-a"],
    ]);
    assert.equal(await taints(), "example.org/edge");
    assert.equal(await label("example.org/disk"), "own");
    const roles = await ask(`get nodes -l ${role} -o name`);
    assert.equal(roles, "node/machines-edge-0");
    const others = await ask("get node machines-general-0 -o jsonpath='{.spec.taints}'");
    assert.equal(others, "");
  });

  it("boot from volumes or store data on volumes, all with the cluster's marks", async () => {
    const found = (await volumes()).map(({ name, gigabytes }) => `${name} ${String(gigabytes)}`);
    assert.deepEqual(found.sort(), [
      ...["machines-control-plane-0-etcd 1", "machines-edge-0-root 5", "machines-edge-0-runtime 4"],
    ]);
    const mounts = "findmnt -n -o TARGET,FSTYPE -t ext4";
    const worker = await inServer(stack.serverOf("edge-0"), mounts);
    assert.match(worker, /^\/var\/lib\/containerd +ext4$/m);
    const pods = await inServer(stack.serverOf("edge-0"), "ls /var/lib/containerd");
    assert.match(pods, /io\.containerd/);
    const first = await inServer(stack.serverOf("control-plane-0"), mounts);
    assert.match(first, /^\/var\/lib\/etcd +ext4$/m);
  });

  it("run their additional cloud-init parts and steps once", async () => {
    const files = "cat /etc/before /etc/after; test -e /etc/ssh/sshd_config.d/10-stackadm.conf";
    assert.equal(await inServer(stack.serverOf("edge-0"), files), "partmachines-edge-0\n");
  });

  it("have no changes on a second `up`", async () => {
    await stack.up(changed());
    assert.deepEqual(changes(stack.cluster.seen.events), {});
  });

  it("mount their volumes again after a reboot, and containerd requires its volume", async () => {
    const server = stack.serverOf("edge-0");
    const unit = "systemctl show -P ActiveState containerd";
    const needs = await inServer(server, "systemctl show -P Requires containerd");
    assert.match(needs, /var-lib-containerd\.mount/);
    await inServer(server, "systemctl stop kubelet; systemctl stop var-lib-containerd.mount || :");
    assert.notEqual((await inServer(server, unit)).trim(), "active");
    const bootId = "cat /proc/sys/kernel/random/boot_id; systemctl show -P UserspaceTimestamp";
    const before = await inServer(server, bootId);
    const reset = { reboot: { type: "HARD" } };
    await stack.cluster.cloud.request("compute", "POST", `/servers/${server}/action`, reset);
    await until(async () => {
      const state = await inServer(server, `${bootId}; ${unit}`).catch(() => "");
      return !state.startsWith(before) && state.trim().endsWith("active");
    });
    assert.match(await inServer(server, "findmnt -n /var/lib/containerd"), /ext4/);
  });

  it("get labels and taints again after a new registration, also labels that kubelet may not set", async () => {
    await ask("delete node machines-edge-0");
    await inServer(stack.serverOf("edge-0"), "systemctl restart kubelet");
    await until(async () => (await ask(`get nodes -l ${role} -o name`)) !== "");
    assert.equal(await ask(`get nodes -l ${role} -o name`), "node/machines-edge-0");
    assert.match(await taints(), /example\.org\/edge/);
  });

  it("accept listed SSH keys, and refuse revoked keys", async () => {
    const { public: open, private: secret } = keyPair();
    const entry = stack.outputs.nodes.find(({ sshHost }) => sshHost !== undefined);
    const isLetIn = (): Promise<boolean> =>
      new Promise((resolve) => {
        const client = new Client();
        client.on("error", () => {
          resolve(false);
        });
        client.on("ready", () => {
          client.end();
          resolve(true);
        });
        client.connect({ host: entry?.sshHost ?? "", username: "debian", privateKey: secret });
      });
    const keysOn = (machine: string): Promise<string> =>
      inServer(stack.serverOf(machine), "cat /home/debian/.ssh/authorized_keys");
    assert.equal(await isLetIn(), false);
    await stack.up({ ...changed(), ssh: { loginKeys: [`${open} other`] } });
    assert.equal(await isLetIn(), true);
    for (const machine of ["control-plane-0", "general-0", "edge-0"])
      assert.ok((await keysOn(machine)).includes(open), machine);
    // A person with a stolen key could add it to a machine again.
    const stolen = `echo '${open} again' >>/home/debian/.ssh/authorized_keys`;
    await inServer(stack.serverOf("control-plane-0"), stolen);
    await stack.up({ ...changed(), ssh: { revokedKeys: [open] } });
    assert.equal(await isLetIn(), false);
    for (const machine of ["control-plane-0", "general-0", "edge-0"])
      assert.ok(!(await keysOn(machine)).includes(open), machine);
  });

  it("refuse to start kubelet if they cannot block pods from the machines' own ports", async () => {
    const server = stack.serverOf("general-0");
    const kubelet = async (): Promise<string> =>
      (await inServer(server, "systemctl show -P ActiveState kubelet")).trim();
    const tables = "$(readlink -f $(command -v iptables))";
    await inServer(server, `mv ${tables} /root/tables; systemctl restart kubelet || :`);
    assert.notEqual(await kubelet(), "active");
    assert.match(
      await inServer(server, "journalctl --no-pager -u kubelet -n 20"),
      /stackadm-guard.*iptables|control process exited/,
    );
    await inServer(server, `mv /root/tables $(readlink -m /usr/sbin/iptables)`);
    // systemd retries without any intervention.
    await until(async () => (await kubelet()) === "active");
  });

  it("install the distribution's security updates without automatic reboots", async () => {
    const settings = "apt-config dump | grep -E 'APT::Periodic|Automatic-Reboot '";
    const said = await inServer(stack.serverOf("general-0"), settings);
    for (const line of [
      'APT::Periodic::Enable "1";',
      'APT::Periodic::Unattended-Upgrade "1";',
      'Unattended-Upgrade::Automatic-Reboot "false";',
    ])
      assert.ok(said.includes(line), said);
  });

  it("change their labels and taints in place, and grow", async () => {
    await stack.up(changed({ labels: { "example.org/disk": "other" }, taints: [] }, 2));
    assert.equal(await label("example.org/disk"), "other");
    assert.equal(await label(role), "");
    assert.equal(await taints(), "");
    assert.equal(await ask(`get nodes -l ${role} -o name`), "");
    assert.equal(stack.outputs.nodes.length, 4);
  });

  it("keep the size of their volumes, and refuse the removal of a volume", async () => {
    const sizes = async () => (await volumes()).map(({ gigabytes }) => gigabytes).sort();
    const before = await sizes();
    // A changed volume size takes effect only when the machine is replaced.
    const other = { labels: { "example.org/disk": "other" }, taints: [] };
    await stack.up(changed({ ...other, runtimeVolume: { size: 9 } }, 2));
    assert.deepEqual(await sizes(), before);
    await assert.rejects(
      stack.up(changed({ ...other, runtimeVolume: undefined }, 2)),
      /cluster\.workers\.edge\.runtimeVolume\.size: a separate volume cannot be removed from existing machines/,
    );
    assert.deepEqual(await sizes(), before);
  });

  it("are destroyed without leftovers", async () => {
    await stack.destroyAndLookAround();
  });
});
