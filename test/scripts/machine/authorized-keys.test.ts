import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { hostScripts, getHostValues } from "../../../components/machine/preparation.js";
import { Sandbox } from "../../support/machine/sandbox.js";

const common = join(__dirname, "../../../components/remote-scripts/scripts/common.sh");
const scripts = [
  readFileSync(common, "utf8"),
  ...hostScripts,
  "run_step logins install_login_keys\n",
];
const file = "var/home/debian/.ssh/authorized_keys";
const made = "ssh-ed25519 AAAAmade program\n";
const [anna, ben] = ["ssh-ed25519 AAAAanna anna", "ssh-ed25519 AAAAben ben"];
const marked = (...keys: readonly string[]): string =>
  ["# stackadm: login keys", ...keys, "# stackadm: end of login keys", ""].join("\n");

describe("authorized-keys.sh", () => {
  let machine: Sandbox;
  let revokedKeys: string[];
  let publicKey: string;
  const run = (...loginKeys: string[]) =>
    machine.run(
      scripts,
      getHostValues({
        ssh: { user: "debian", bootMinutes: 10, publicKey, loginKeys, revokedKeys },
        securityUpdates: true,
      }),
    );
  beforeEach(() => {
    [revokedKeys, publicKey] = [[], made.trim()];
    machine = new Sandbox({
      hostname: "echo machine",
      getent: "echo debian:x:1000:1000::/var/home/debian:/bin/bash",
      chown: "exit 0",
    });
    machine.put(file, made);
  });
  afterEach(() => {
    machine.close();
  });

  it("writes exactly the listed keys, and keeps the key that the machine was created with", () => {
    for (const keys of [[anna], [anna, ben], [ben]]) {
      const { code, stderr } = run(...keys);
      assert.equal(code, 0, stderr);
      assert.equal(machine.file(file), made + marked(...keys));
    }
    run();
    assert.equal(machine.file(file), made);
  });

  it("keeps lines of other authors before and after the listed keys", () => {
    run(anna);
    machine.put(file, `${machine.file(file) ?? ""}ssh-ed25519 AAAAown by-hand\n`);
    run(ben);
    assert.equal(machine.file(file), `${made}ssh-ed25519 AAAAown by-hand\n${marked(ben)}`);
  });

  it("removes revoked keys of any author and in any form", () => {
    const own = 'from="10.0.0.0/8",no-pty ssh-ed25519 AAAAanna by hand\n';
    machine.put(file, `${made}${own}ssh-ed25519 AAAAannabel annabel\n${ben}\n`);
    revokedKeys = [`${anna} comment`, made.trim()];
    publicKey = "ssh-ed25519 AAAAnew program";
    assert.equal(run().code, 0);
    const others = `ssh-ed25519 AAAAannabel annabel\n${ben}\n`;
    // The program's current key is always accepted, even without an entry in the list.
    assert.equal(machine.file(file), `${others}${marked(publicKey)}`);
    machine.put(file, `${anna}\r\n${others}`);
    run();
    assert.equal(machine.file(file), `${others}${marked(publicKey)}`);
  });

  it("changes nothing if no key is listed and no key was listed", () => {
    const { calls } = run();
    assert.deepEqual(
      calls.filter((call) => call.startsWith("chown")),
      [],
    );
    assert.equal(machine.file(file), made);
  });

  it("makes the login user the owner of the file, since sshd reads the file as that user", () => {
    const { calls } = run(anna);
    assert.ok(
      calls.some((call) => /^chown debian: \S+authorized_keys$/.test(call)),
      calls.join("\n"),
    );
  });

  it("creates the file if the image has none", () => {
    const fresh = new Sandbox({
      getent: "echo debian:x:1000:1000::/var/home/debian:/bin/bash",
      chown: "exit 0",
    });
    const { code, stderr } = fresh.run(
      scripts,
      getHostValues({
        ssh: {
          user: "debian",
          bootMinutes: 10,
          publicKey: made,
          loginKeys: [anna],
          revokedKeys: [],
        },
        securityUpdates: true,
      }),
    );
    assert.equal(code, 0, stderr);
    assert.equal(fresh.file(file)?.trimStart(), marked(anna));
    fresh.close();
  });

  it("fails if the machine does not have the login user", () => {
    machine.stub("getent", "exit 2");
    assert.match(run(anna).stderr, /\nreason: machine has no user debian\n$/);
  });
});
