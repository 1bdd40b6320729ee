import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, copyFileSync, cpSync } from "node:fs";
import { join } from "node:path";
import { firstBootFiles } from "../../support/first-boot-files.js";
import { Sandbox } from "../../support/sandbox.js";
import { unpacked } from "../../support/unpacked.js";

/**
 * User for sshd if root runs the tests: as root, sshd requires a user that only its package
 * creates.
 */
const nobody = 65_534;

describe("sshd on an Ubuntu machine, by what it says of its settings", () => {
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
    machine.put(
      "etc/ssh/sshd_config",
      `Include ${join(machine.root, folder)}/*.conf\nKbdInteractiveAuthentication no\nX11Forwarding yes\nMaxSessions 10\n`,
    );
    // The first value counts. One file is from the image; cloud-init writes the other if passwords
    // are enabled.
    machine.put(`${folder}/60-cloudimg-settings.conf`, "PasswordAuthentication yes\n");
    machine.put(`${folder}/50-cloud-init.conf`, "PasswordAuthentication yes\n");
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
    if (asRoot) chownSync(key, nobody, nobody);
    return execFileSync(
      join(root, "sshd"),
      ["-T", "-f", join(root, "etc/ssh/sshd_config"), "-h", key],
      {
        env: { LD_LIBRARY_PATH: join(root, "lib") },
        ...(asRoot && { uid: nobody, gid: nobody }),
        stdio: "pipe",
      },
    )
      .toString()
      .split("\n");
  };

  it("lets all machines in at once and nobody by a password, whatever image and cloud-init say", () => {
    assert.ok(settings().includes("passwordauthentication yes"));
    for (const [name, text] of Object.entries(firstBootFiles(folder)))
      machine.put(`${folder}/${name}`, text);
    const now = settings();
    for (const line of [
      ...["maxstartups 200:30:400", "maxsessions 200", "passwordauthentication no"],
      ...["clientaliveinterval 15", "clientalivecountmax 4"],
    ])
      assert.ok(now.includes(line), `${line} in ${now.join("\n")}`);
  });
});
