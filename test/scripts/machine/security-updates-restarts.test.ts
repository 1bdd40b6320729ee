import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { preparationScripts } from "../../../components/machine/preparation.js";
import { freshDebian, workerValues } from "../../support/machine/fresh-debian.js";
import { Sandbox, type Outcome } from "../../support/machine/sandbox.js";

const networkd = "etc/systemd/networkd.conf.d/10-stackadm.conf";
const interfaces = "etc/systemd/network";
const needrestart = "etc/needrestart/conf.d/50-stackadm.conf";
const restart = "systemctl restart systemd-networkd";

/** Stub of systemctl on a machine where systemd-networkd manages the interfaces. */
const withNetworkd =
  'case "$*" in *ActiveState*systemd-networkd*) echo active ;; *ActiveState*) echo inactive ;; esac';

/** Stub of ip: interfaces of the networks, and one of the pod network. */
const ip = [
  'case "$*" in *scope*global*)',
  '  echo "2: ens3    inet 10.0.0.7/24 metric 100 brd 10.0.0.255 scope global dynamic ens3"',
  '  echo "2: ens3    inet 10.0.0.100/32 scope global ens3"',
  '  echo "3: ens4    inet 10.9.0.5/24 brd 10.9.0.255 scope global noprefixroute ens4"',
  '  echo "9: kube-bridge    inet 10.244.1.1/24 scope global kube-bridge" ;;',
  "esac",
].join("\n");
/** Output in the form of networkctl in systemd 249 to 257. */
const networkctl = [
  'case "$*" in',
  "  *ens3) file=/run/systemd/network/10-netplan-ens3.network ;;",
  "  *ens4) file=/etc/systemd/network/05-stackadm-admin.network ;;",
  "  *) file=n/a ;;",
  "esac",
  `printf '%s\\n' '● 2: ens3' '       Link File: /usr/lib/systemd/network/99-default.link' "    Network File: $file" '           State: routable (configured)'`,
].join("\n");

describe("the restart settings for security updates", () => {
  let machine: Sandbox;
  const run = (): Outcome => machine.run(preparationScripts, workerValues());
  beforeEach(() => {
    machine = new Sandbox({ ...freshDebian, systemctl: withNetworkd, ip, networkctl });
  });
  afterEach(() => {
    machine.close();
  });

  describe("systemd-networkd", () => {
    it("keeps the routes and rules of the pod network, by settings that precede the installation", () => {
      const { code, calls, stderr } = run();
      assert.equal(code, 0, stderr);
      assert.equal(
        machine.file(networkd),
        "[Network]\nManageForeignRoutes=no\nManageForeignRoutingPolicyRules=no\n",
      );
      const [restarted, packages] = [restart, "apt-get"].map((one) =>
        calls.findIndex((call) => call.startsWith(one)),
      );
      assert.ok(restarted !== undefined && packages !== undefined);
      assert.ok(restarted >= 0 && restarted < packages, calls.join("\n"));
    });

    it("keeps the addresses of interfaces, since the kernel drops the routes of a lost address", () => {
      const { calls } = run();
      for (const name of ["10-netplan-ens3", "05-stackadm-admin"])
        assert.equal(
          machine.file(`${interfaces}/${name}.network.d/10-stackadm.conf`),
          "[Network]\nKeepConfiguration=yes\n",
        );
      assert.deepEqual(readdirSync(join(machine.root, interfaces)).sort(), [
        ...["05-stackadm-admin.network.d", "10-netplan-ens3.network.d"],
      ]);
      assert.ok(!calls.some((call) => /^networkctl (reload|reconfigure)/.test(call)));
    });

    it("is restarted once", () => {
      run();
      assert.ok(!run().calls.includes(restart));
    });

    it("is not restarted on a machine in service, and reads the settings at the next start", () => {
      machine.put("var/lib/stackadm/join.done");
      const { code, calls, stderr } = run();
      assert.equal(code, 0, stderr);
      assert.ok(machine.file(networkd));
      assert.ok(machine.file(`${interfaces}/10-netplan-ens3.network.d/10-stackadm.conf`));
      assert.ok(!calls.includes(restart));
    });

    it("is not started if another service configures the interfaces", () => {
      machine.stub("systemctl", 'case "$*" in *ActiveState*) echo inactive ;; esac');
      machine.stub("networkctl", "exit 1");
      const { code, calls } = run();
      assert.equal(code, 0);
      assert.ok(!calls.includes(restart));
      assert.equal(machine.file(networkd), undefined);
    });

    it("is named in the error if the restart fails", () => {
      machine.stub(
        "systemctl",
        `case "$*" in "restart systemd-networkd") exit 1 ;; esac; ${withNetworkd}`,
      );
      const { code, stderr } = run();
      assert.equal(code, 1);
      assert.match(
        stderr,
        /\nreason: systemd-networkd does not start again on machine; journalctl/,
      );
    });
  });

  describe("needrestart", () => {
    /**
     * Returns the services that needrestart would restart; reads the file with perl, as needrestart
     * does.
     */
    const restarts = (...services: readonly string[]): string[] => {
      const reader = [
        "our %nrconf = (override_rc => { qr(^dbus) => 0 });",
        "my $file = shift; eval do { local(@ARGV, $/) = $file; <> }; die $@ if $@;",
        "my $all = $nrconf{override_rc};",
        "for my $rc (@ARGV) { print qq($rc\\n) unless grep { $rc =~ /$_/ && !$all->{$_} } keys %$all }",
      ].join("\n");
      const read = execFileSync("perl", [
        "-e",
        reader,
        join(machine.root, needrestart),
        ...services,
      ]);
      return read.toString().split("\n").filter(Boolean);
    };

    it("restarts no service that pods, routes and addresses of pods, or running steps need", () => {
      run();
      const ours = ["containerd", "kubelet", "keepalived", "systemd-networkd", "stackadm-init"];
      const others = ["cron.service", "containerd-other.service", "my-kubelet.service"];
      assert.deepEqual(
        restarts("dbus.service", ...ours.map((one) => `${one}.service`), ...others),
        others,
      );
    });

    it("is configured before the first installation, since needrestart runs after each", () => {
      machine.stub(
        "apt-get",
        `[ -e /${needrestart} ] || touch $root/early; ${freshDebian["apt-get"] ?? ""}`,
      );
      assert.equal(run().code, 0);
      assert.equal(machine.file("early"), undefined);
    });
  });
});
