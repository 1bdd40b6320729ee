import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { preparationScripts } from "../../../components/machine/preparation.js";
import { renderSecondInterfaceCommand } from "../../../components/machine/second-interface.js";
import { freshDebian, workerValues } from "../../support/machine/fresh-debian.js";
import { Sandbox } from "../../support/machine/sandbox.js";
import { netplanOf, networkctlStatus, ubuntuReleases } from "../../support/machine/ubuntu.js";
import { unpacked } from "../../support/machine/unpacked-packages.js";

const macs = ["fa:16:3e:00:00:01", "fa:16:3e:00:00:02"] as const;
const folders = ["etc/systemd/network", "run/systemd/network", "usr/lib/systemd/network"];
const admin = "05-stackadm-admin.network";
const second = {
  mac: macs[1],
  address: "10.9.0.5",
  range: "10.9.0.0/24",
  mtu: 1442,
  gateway: "10.9.0.1",
};
const links = macs
  .map((mac, index) => `'${index + 2}: ens${index + 3}: <UP> mtu 1442 link/ether ${mac} brd x'`)
  .join(" ");
const addresses = `'2: ens3    inet 10.0.0.7/24 metric 100 brd 10.0.0.255 scope global dynamic ens3\\       valid_lft 43182sec' '3: ens4    inet 10.9.0.5/24 scope global noprefixroute ens4'`;

/**
 * Returns an Ubuntu machine after its first boot: netplan has converted cloud-init's file for
 * systemd-networkd.
 */
function bootedMachine(netplan: string): Sandbox {
  const machine = new Sandbox({
    ...freshDebian,
    ip: `case "$*" in *link*) printf '%s\\n' ${links} ;; *scope*global*) printf '%s\\n' ${addresses} ;; esac`,
    systemctl:
      'case "$*" in *ActiveState*networkd*) echo active ;; *ActiveState*) echo inactive ;; esac',
    netplan: "exit 0",
  });
  machine.put("etc/netplan/50-cloud-init.yaml", netplanOf(macs));
  execFileSync(join(netplan, "usr/libexec/netplan/generate"), ["--root-dir", machine.root], {
    env: { LD_LIBRARY_PATH: join(netplan, "usr/lib/x86_64-linux-gnu") },
    stdio: "pipe",
  });
  return machine;
}

/**
 * Returns the file by which systemd-networkd configures an interface: the first matching one by
 * name (systemd.network(5)).
 */
function networkFile(machine: Sandbox, name: string, mac: string): string {
  const files = folders.flatMap((folder) => {
    const at = join(machine.root, folder);
    mkdirSync(at, { recursive: true });
    return readdirSync(at).flatMap((file) => (file.endsWith(".network") ? [join(at, file)] : []));
  });
  const base = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
  const matches = (path: string): boolean => {
    const [, match = ""] = /^\[Match\]\n([^[]*)/m.exec(readFileSync(path, "utf8")) ?? [];
    const wanted = match.split("\n").filter(Boolean);
    const facts = [`Name=${name}`, `MACAddress=${mac}`, `PermanentMACAddress=${mac}`];
    return wanted.length > 0 && wanted.every((line) => facts.includes(line));
  };
  const [first] = files.sort((one, other) => (base(one) < base(other) ? -1 : 1)).filter(matches);
  assert.ok(first, files.join("\n"));
  return first.slice(machine.root.length);
}

describe("the netplan network of an Ubuntu machine", () => {
  let netplan: string;
  let machine: Sandbox;
  before(function () {
    this.timeout(300_000);
    netplan = unpacked("netplan.io", "libnetplan0");
  });
  beforeEach(() => {
    machine = bootedMachine(netplan);
  });
  afterEach(() => {
    machine.close();
  });
  const bootcmd = (): void => {
    const [, , script = "", , ...args] = renderSecondInterfaceCommand(second);
    const { code, stderr } = machine.execute(script, ...args);
    assert.equal(code, 0, stderr);
  };

  it("has a file for each port, and lets second-interface.sh replace the admin network's file only", () => {
    const before = macs.map((mac, index) => networkFile(machine, `ens${index + 3}`, mac));
    const [ens3, ens4] = ["ens3", "ens4"].map(
      (name) => `/run/systemd/network/10-netplan-${name}.network`,
    );
    assert.deepEqual(before, [ens3, ens4]);
    // Default route through the admin network, which must have no default route.
    assert.match(
      machine.file(ens4?.slice(1) ?? "") ?? "",
      /^Destination=0\.0\.0\.0\/0\nGateway=10\.9\.0\.1$/m,
    );
    bootcmd();
    const after = macs.map((mac, index) => networkFile(machine, `ens${index + 3}`, mac));
    assert.deepEqual(after, [ens3, `/etc/systemd/network/${admin}`]);
  });

  for (const { version, systemd } of ubuntuReleases)
    it(`keeps the addresses over a restart of systemd ${systemd} (${version}), by one configuration`, () => {
      bootcmd();
      const status = (completed: boolean): void => {
        macs.forEach((mac, index) => {
          const device = `ens${index + 3}`;
          const file = networkFile(machine, device, mac);
          const ours = `${file.replace(/^\/run/, "/etc")}.d/10-stackadm.conf`;
          const link = { device, file, completed: completed ? [ours] : [] };
          machine.put(`status-${device}`, networkctlStatus(systemd, link));
        });
        machine.stub("networkctl", 'cat "$root/status-${@: -1}"');
      };
      status(false);
      const first = machine.run(preparationScripts, workerValues());
      assert.equal(first.code, 0, first.stderr);
      assert.doesNotMatch(first.stderr, /names no file/);
      assert.ok(first.calls.includes("systemctl restart systemd-networkd"));
      const completing = readdirSync(join(machine.root, "etc/systemd/network")).sort();
      assert.deepEqual(completing, [admin, `${admin}.d`, "10-netplan-ens3.network.d"]);
      for (const file of [admin, "10-netplan-ens3.network"])
        assert.equal(
          machine.file(`etc/systemd/network/${file}.d/10-stackadm.conf`),
          "[Network]\nKeepConfiguration=yes\n",
        );
      status(true);
      const { calls, code, stderr } = machine.run(preparationScripts, workerValues());
      assert.equal(code, 0, stderr);
      assert.deepEqual(readdirSync(join(machine.root, "etc/systemd/network")).sort(), completing);
      assert.ok(!calls.includes("systemctl restart systemd-networkd"));
    });
});
