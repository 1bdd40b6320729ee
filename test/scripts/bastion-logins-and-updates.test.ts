import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readScriptResult } from "../../components/remote-scripts/script-result.js";
import { Sandbox, type Outcome } from "../support/machine/sandbox.js";

const components = join(__dirname, "..", "..", "components");
const scripts = [
  "remote-scripts/scripts/common.sh",
  "machine/scripts/authorized-keys.sh",
  "machine/scripts/silent-channels.sh",
  "machine/scripts/security-updates.sh",
  "access/bastion-logins-and-updates.sh",
].map((path) => readFileSync(join(components, path), "utf8"));

/** Files of a bastion after its scripts ran. */
interface Written {
  readonly periodic: string | undefined;
  readonly networkd: string | undefined;
  readonly addresses: string | undefined;
}

/** Runs the bastion's scripts, with `setting` among the settings that `sshd -T` prints. */
const run = (setting: string): Outcome & Written => {
  const machine = new Sandbox({
    hostname: "echo dev-bastion-0",
    systemctl: 'case "$*" in *"ActiveState systemd-networkd"*) echo active ;; esac',
    ip: "echo '2: ens3    inet 10.0.0.40/24 metric 100 scope global dynamic ens3'",
    networkctl: "echo '    Network File: /run/systemd/network/10-netplan-ens3.network'",
    getent: "echo debian:x:1000:1000::/var/home/debian:/bin/bash",
    sshd: `printf '%s\\n' 'port 22' '${setting}' 'maxsessions 200'`,
  });
  try {
    const outcome = machine.run(scripts, {
      LOGIN_USER: "debian",
      LOGIN_KEYS: "",
      REVOKED_KEYS: "",
      SECURITY_UPDATES: "yes",
    });
    return {
      ...outcome,
      periodic: machine.file("etc/apt/apt.conf.d/99stackadm-updates"),
      networkd: machine.file("etc/systemd/networkd.conf.d/10-stackadm.conf"),
      addresses: machine.file("etc/systemd/network/10-netplan-ens3.network.d/10-stackadm.conf"),
    };
  } finally {
    machine.close();
  }
};

describe("bastion-logins-and-updates.sh", () => {
  it("accepts a bastion whose sshd allows as many concurrent logins as the user data set", () => {
    const { code, stdout, stderr } = run("maxstartups 200:30:400");
    assert.equal(code, 0, stderr);
    assert.deepEqual(readScriptResult(stdout), { startups: "200" });
  });

  it("enables the security updates that the user data postponed", () => {
    assert.match(run("maxstartups 200:30:400").periodic ?? "", /^APT::Periodic::Enable "1";$/m);
  });

  it("keeps addresses and routes over a restart of systemd-networkd, and does not restart the service", () => {
    const { networkd, addresses, calls } = run("maxstartups 200:30:400");
    assert.match(networkd ?? "", /^ManageForeignRoutes=no$/m);
    assert.equal(addresses, "[Network]\nKeepConfiguration=yes\n");
    assert.ok(!calls.some((call) => call.startsWith("systemctl restart")), calls.join("\n"));
  });

  it("refuses a bastion whose sshd allows too few concurrent logins", () => {
    for (const setting of ["maxstartups 10:30:100", "nothing 1"]) {
      const { code, stderr } = run(setting);
      assert.equal(code, 1);
      assert.match(
        stderr,
        /reason: sshd on dev-bastion-0 accepts only (10|0) logins at the same time \(MaxStartups\), .* need 100; choose an image/,
      );
    }
  });
});
