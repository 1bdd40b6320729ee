import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, copyFileSync, cpSync } from "node:fs";
import { join } from "node:path";
import { firstBootFiles } from "../../support/machine/first-boot-files.js";
import { Sandbox } from "../../support/machine/sandbox.js";
import { ubuntuReleases } from "../../support/machine/ubuntu.js";
import { sshdParts, sshdSettings } from "../../support/machine/ubuntu-files.js";
import { unpacked } from "../../support/machine/unpacked-packages.js";

/**
 * User for sshd if root runs the tests: as root, sshd requires a user that only its package
 * creates.
 */
const unprivilegedUser = 65_534;

describe("sshd on an Ubuntu machine", () => {
  const folder = "etc/ssh/sshd_config.d";
  let machine: Sandbox;
  let files: string;
  before(function () {
    this.timeout(300_000);
    files = unpacked("openssh-server", "libwrap0");
  });
  beforeEach(() => {
    machine = new Sandbox({});
    chmodSync(machine.root, 0o755);
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(machine.root, "key")]);
    // Other users may not be able to read the folder of all packages.
    copyFileSync(join(files, "usr/sbin/sshd"), join(machine.root, "sshd"));
    cpSync(join(files, "usr/lib/x86_64-linux-gnu"), join(machine.root, "lib"), {
      recursive: true,
      dereference: true,
    });
  });
  afterEach(() => {
    machine.close();
  });
  const settings = (): readonly string[] => {
    const [root, key] = [machine.root, join(machine.root, "key")];
    const asRoot = process.getuid?.() === 0;
    if (asRoot) chownSync(key, unprivilegedUser, unprivilegedUser);
    return execFileSync(
      join(root, "sshd"),
      ["-T", "-f", join(root, "etc/ssh/sshd_config"), "-h", key],
      {
        env: { LD_LIBRARY_PATH: join(root, "lib") },
        ...(asRoot && { uid: unprivilegedUser, gid: unprivilegedUser }),
        stdio: "pipe",
      },
    )
      .toString()
      .split("\n");
  };

  const configure = (version: string): void => {
    const lines = [`Include ${join(machine.root, folder)}/*.conf`, ...sshdSettings(version), ""];
    machine.put("etc/ssh/sshd_config", lines.join("\n"));
    // The first value counts. cloud-init writes this file if an image enables passwords.
    machine.put(`${folder}/50-cloud-init.conf`, "PasswordAuthentication yes\n");
    for (const [name, text] of Object.entries(sshdParts(version)))
      machine.put(`${folder}/${name}`, text);
  };

  for (const { version } of ubuntuReleases)
    it(`allows logins of all machines, refuses passwords, and keeps the image's ports (${version})`, () => {
      configure(version);
      const before = settings();
      for (const [name, text] of Object.entries(firstBootFiles(folder)))
        machine.put(`${folder}/${name}`, text);
      // No address or port is different: on 24.04 and later, a generator would write these into
      // ssh.socket (openssh 9.6p1, sshd-socket-generator).
      assert.deepEqual(
        settings().filter((line) => !before.includes(line)),
        [
          ...["maxsessions 200", "clientaliveinterval 15", "clientalivecountmax 4"],
          ...["passwordauthentication no", "maxstartups 200:30:400"],
        ],
      );
      assert.deepEqual(
        before.filter((line) => /^(port|listenaddress) /.test(line)),
        ["port 22", "listenaddress [::]:22", "listenaddress 0.0.0.0:22"],
      );
    });
});
