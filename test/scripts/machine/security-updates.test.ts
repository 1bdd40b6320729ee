import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { deriveSshKey } from "../../../components/identity/derived-ssh-keys.js";
import { preparationScripts } from "../../../components/machine/preparation.js";
import { renderUserData } from "../../../components/machine/user-data.js";
import { freshDebian, workerValues } from "../../support/machine/fresh-debian.js";
import { Sandbox } from "../../support/machine/sandbox.js";

const directory = "etc/apt/apt.conf.d";
const login = { user: "debian", publicKey: "ssh-ed25519 AAAALOGIN" };
const hostKey = deriveSshKey(Buffer.alloc(32, 1).toString("base64"), "test");
const { write_files: written } = parse(renderUserData({ machine: "m", login, hostKey })) as {
  write_files: { path: string; content: string }[];
};

describe("unattended-upgrades", () => {
  let machine: Sandbox;
  const run = (wanted: boolean) =>
    machine.run(preparationScripts, workerValues({ securityUpdates: wanted }));
  /** Writes cloud-init's files, as at the first boot and after a cleanup of cloud-init's state. */
  const boot = (): void => {
    for (const { path, content } of written) machine.put(path.slice(1), content);
  };
  /** Returns all settings in the order in which apt reads them; the last value counts. */
  const settings = (): string => {
    const at = join(machine.root, directory);
    return readdirSync(at)
      .sort()
      .map((name) => readFileSync(join(at, name), "utf8"))
      .join("");
  };
  const enabled = (): string | undefined =>
    [...settings().matchAll(/^APT::Periodic::Enable "(.)";$/gm)].at(-1)?.[1];
  beforeEach(() => {
    machine = new Sandbox(freshDebian);
    boot();
  });
  afterEach(() => {
    machine.close();
  });

  it("starts after the preparation, which needs the package lock, and never reboots the machine", () => {
    machine.stub("crictl", `cat ${join(machine.root, directory)}/* >>$root/meanwhile`);
    assert.equal(enabled(), "0");
    run(true);
    assert.match(machine.file("meanwhile") ?? "", /^(APT::Periodic::Enable "0";\n)+$/);
    assert.equal(enabled(), "1");
    assert.match(settings(), /Unattended-Upgrade "1";\n[^]*Automatic-Reboot "false";\n$/);
  });

  it("stays enabled after cloud-init rewrites the settings", () => {
    run(true);
    boot();
    assert.equal(enabled(), "1");
  });

  it("is disabled if the user no longer wants security updates", () => {
    run(true);
    assert.equal(run(false).code, 0);
    assert.equal(enabled(), "0");
  });

  it("causes a note if the image lacks the package and the user wants security updates", () => {
    const missing = "machine: the image has no unattended-upgrades";
    assert.ok(run(true).stderr.includes(missing));
    assert.ok(!run(false).stderr.includes(missing));
    machine.stub("unattended-upgrade", "exit 0");
    assert.ok(!run(true).stderr.includes(missing));
  });
});
