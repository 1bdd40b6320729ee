import { strict as assert } from "node:assert";
import { parse } from "yaml";
import { deriveSshKey } from "../../../../components/identity/derived-ssh-keys.js";
import { renderUserData } from "../../../../components/machine/user-data.js";
import { golden } from "../../../support/golden.js";

const hostKey = deriveSshKey(Buffer.alloc(32, 1).toString("base64"), "test");
const login = { user: "debian", publicKey: "ssh-ed25519 AAAALOGIN" };
const text = renderUserData({ machine: "dev-general-0", login, hostKey });
const config = parse(text) as Record<string, unknown>;

describe("user data", () => {
  it("matches the reviewed text", () => {
    golden("user-data.yaml", text.replace(/BEGIN[\s\S]*?END/, "BEGIN ... END"));
  });

  it("is recognised by cloud-init", () => {
    assert.equal(text.split("\n")[0], "#cloud-config");
  });

  it("contains the host key that the program expects", () => {
    assert.deepEqual(config["ssh_keys"], {
      ed25519_private: hostKey.privateKey,
      ed25519_public: hostKey.publicKey,
    });
  });

  it("allows the login key and no password", () => {
    assert.equal(config["ssh_pwauth"], false);
    assert.equal(config["disable_root"], true);
    assert.match(text, /ssh_authorized_keys:\n\s+- ssh-ed25519 AAAALOGIN/);
    assert.match(text, /lock_passwd: true/);
  });

  it("contains no secret except the host key", () => {
    const without = text.replace(/-----BEGIN[\s\S]*?-----END[^\n]*/, "");
    assert.doesNotMatch(without, /BEGIN|token|password:|secret/);
  });

  it("differs for the replacement of a failed server in a comment only", () => {
    const again = renderUserData({
      machine: "dev-general-0",
      login,
      hostKey,
      replaces: "5ee5a1c4",
    });
    assert.equal(again.replace("# replaces 5ee5a1c4\n", ""), text);
    assert.deepEqual(parse(again), config);
  });

  it("quotes names of users and machines that YAML 1.1, which cloud-init reads, takes for booleans", () => {
    const odd = renderUserData({ machine: "no", login: { ...login, user: "y" }, hostKey });
    const { hostname, users } = parse(odd, { version: "1.1" }) as {
      hostname: unknown;
      users: { name: unknown }[];
    };
    assert.deepEqual([hostname, users[0]?.name], ["no", "y"]);
  });

  it("contains no version, so that an upgrade replaces no machine", () => {
    assert.doesNotMatch(text, /\d+\.\d+\.\d+/);
  });

  it("limits cloud-init's wait for the network if the machine has a second interface or user parts", () => {
    const file = "/etc/systemd/system/cloud-init-network.service.d/10-stackadm.conf";
    const second = {
      mac: "fa:16:3e:00:00:02",
      address: "10.9.0.5",
      range: "10.9.0.0/24",
      mtu: 1442,
    };
    const of = (over: object): string =>
      renderUserData({ machine: "dev-general-0", login, hostKey, ...over });
    for (const over of [{ second }, { more: ["#!/bin/sh\nexit 0\n"] }]) {
      const [, ours = ""] = /(#cloud-config\n[^]*?)(\n--|$)/.exec(of(over)) ?? [];
      const { write_files: files } = parse(ours) as { write_files: Record<string, unknown>[] };
      assert.deepEqual(
        files.find(({ path }) => path === file),
        { path: file, content: "[Service]\nTimeoutStartSec=300\n" },
      );
    }
    assert.ok(!text.includes(file));
  });

  it("appends the user's parts after the program's, which stay unchanged", () => {
    const more = ["#cloud-config\npackages: [htop]", "#!/bin/sh\nexit 0\n"];
    const parts = renderUserData({ machine: "dev-general-0", login, hostKey, more });
    assert.ok(parts.includes(text));
    golden("user-data-parts.txt", parts.replace(text, "OURS\n"));
    assert.equal(renderUserData({ machine: "dev-general-0", login, hostKey, more: [] }), text);
  });
});
