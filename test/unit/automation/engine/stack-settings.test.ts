import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { stringify } from "yaml";
import { Failure } from "../../../../base/failures/failure.js";
import {
  readClusterSpec,
  readOpenstackPluginVersion,
} from "../../../../automation/engine/stack-settings.js";
import { smallManifest } from "../../../support/manifests.js";

const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl";
const minimal = {
  image: "debian-12",
  externalNetwork: "public",
  allowedCidrs: ["192.0.2.0/24"],
  controlPlane: { flavor: "big" },
  workers: { general: { flavor: "small", count: 2 }, batch: { flavor: "big", count: 1 } },
};
const settings = (cluster: unknown): string =>
  stringify({ config: { "stackadm:cluster": cluster } });
const spec = (cluster: unknown, more: Readonly<Record<string, unknown>> = {}) =>
  readClusterSpec({
    project: "stackadm",
    stack: "dev",
    settings: settings(cluster),
    agentKeys: [`${key} me@here`],
    ...more,
  });

describe("readClusterSpec", () => {
  it("takes the cluster's name from the stack and the login key from the agent", () => {
    const found = spec(minimal);
    assert.equal(found.name, "dev");
    assert.equal(found.ssh.publicKey, key);
    assert.equal(spec({ ...minimal, name: "prod" }).name, "prod");
  });

  it("merges the stack's settings over the site's defaults", () => {
    const directory = mkdtempSync(join(tmpdir(), "site-"));
    const siteFile = join(directory, "site.yaml");
    writeFileSync(siteFile, stringify({ image: "site-image", loadBalancer: { provider: "lab" } }));
    const rest = { ...minimal, image: undefined };
    assert.equal(spec(rest, { siteFile }).image, "site-image");
    assert.equal(spec(minimal, { siteFile }).image, "debian-12");
    assert.equal(spec(minimal, { siteFile }).loadBalancer.provider, "lab");
    rmSync(directory, { recursive: true });
  });

  it("refuses a manifest with another digest if the caller has the files checked", () => {
    const { source, sha256 } = smallManifest("calico");
    const files = { directory: dirname(source) };
    const named = (digest: string) => ({
      ...minimal,
      podNetwork: { kind: "calico", manifest: { source: basename(source), sha256: digest } },
    });
    assert.equal(spec(named(sha256), { files }).podNetwork.kind, "calico");
    assert.equal(spec(named("0".repeat(64))).podNetwork.kind, "calico");
    assert.throws(
      () => spec(named("0".repeat(64)), { files }),
      /Pulumi.dev.yaml is not valid:\n {2}cluster.podNetwork.manifest: calico.yaml has the SHA-256 \w{64}, not 0{64}/,
    );
  });

  it("reports all problems in one error with exit code 2", () => {
    try {
      spec({ ...minimal, image: "", allowedCidrs: ["no"], more: 1 });
      assert.fail("was accepted");
    } catch (error) {
      assert.ok(error instanceof Failure);
      assert.equal(error.code, "INVALID_CONFIG");
      assert.equal(error.exitCode, 2);
      for (const path of ["cluster.image", "cluster.allowedCidrs"])
        assert.ok(error.message.includes(path), `${path} in ${error.message}`);
    }
  });

  it("names the configuration key of the stack's own project in the hint", () => {
    const open = { ...minimal, credential: { id: "i", secret: "CANARY" } };
    const of = {
      project: "mine",
      stack: "dev",
      settings: stringify({ config: { "mine:cluster": open } }),
    };
    assert.throws(
      () => readClusterSpec({ ...of, agentKeys: [key] }),
      /pulumi config set --path 'mine:cluster\.credential\.secret' --secret/,
    );
  });

  it("accepts encrypted passwords of peers and refuses plain text", () => {
    const withPassword = (password: unknown) => ({
      ...minimal,
      podNetwork: { kind: "kube-router", peers: [{ address: "10.0.0.1", asn: 1, password }] },
    });
    assert.equal(spec(withPassword({ secure: "v1:abc" })).podNetwork.kind, "kube-router");
    assert.throws(
      () => spec(withPassword("CANARY")),
      (error: Error) =>
        /podNetwork\.peers\[0\]\.password: is not encrypted/.test(error.message) &&
        !/CANARY/.test(error.message),
    );
  });

  it("accepts an encrypted credential secret and refuses plain text", () => {
    const withSecret = (secret: unknown) => ({ ...minimal, credential: { id: "i", secret } });
    assert.equal(spec(withSecret({ secure: "v1:abc" })).credential?.id, "i");
    assert.throws(
      () => spec(withSecret("CANARY")),
      (error: Error) =>
        /credential\.secret: is not encrypted/.test(error.message) && !/CANARY/.test(error.message),
    );
  });

  it("accepts a supplied or a created credential, and refuses fields of the other kind", () => {
    const secret = { secure: "v1:abc" };
    const rule = { service: "image", method: "GET", path: "/v2/images" };
    const rules = (...accessRules: readonly unknown[]) => ({ accessRules });
    const wrong: readonly [credential: object, sentence: RegExp][] = [
      [{ id: "i" }, /credential\.secret: is missing; write the secret/],
      [{ secret }, /credential\.id: is missing; write the ID/],
      [{ id: "i", secret, generation: 1 }, /credential\.generation: is for the credential that/],
      [{ id: "i", secret, roles: ["member"] }, /credential\.roles: is for the credential that/],
      [{ expiresAt: "tomorrow" }, /credential\.expiresAt: "tomorrow" is not a moment; write/],
      [{ roles: [] }, /credential\.roles: is empty; write a list of roles/],
      [{ id: "i", secret, accessRules: ["controllers"] }, /credential\.accessRules: is for the/],
      // Keystone treats an empty list as no list.
      [rules(), /credential\.accessRules: is empty; write a list of access rules, or/],
      [rules("all"), /accessRules\.0: "all" is no access rule; write controllers, or/],
      [
        rules("controllers", { ...rule, method: "GET /" }),
        /accessRules\.1: \{.* is no access rule/,
      ],
      [rules({ ...rule, service: "Nova!" }), /accessRules\.0\.service: "Nova!" is no type of a/],
      [rules({ ...rule, path: "v2/images" }), /accessRules\.0\.path: "v2\/images" is no path/],
      [rules({ ...rule, path: `/${"v".repeat(128)}` }), /accessRules\.0\.path: .* at most 128 /],
    ];
    for (const [credential, sentence] of wrong)
      assert.throws(() => spec({ ...minimal, credential }), sentence);
    const expiresAt = "2027-12-31T00:00:00Z";
    const right = [
      { generation: 2, expiresAt, roles: ["tenant"], accessRules: ["controllers", rule] },
      { id: "i", secret, expiresAt },
    ];
    for (const credential of right)
      assert.equal(spec({ ...minimal, credential }).credential?.expiresAt, expiresAt);
  });

  it("refuses a stack file without a cluster", () => {
    assert.throws(
      () => readClusterSpec({ project: "stackadm", stack: "dev", settings: "" }),
      /is not valid/,
    );
  });
});

describe("readOpenstackPluginVersion", () => {
  const chosen = (config: unknown, site?: unknown) => {
    const directory = mkdtempSync(join(tmpdir(), "site-"));
    const siteFile = join(directory, "site.yaml");
    if (site !== undefined) writeFileSync(siteFile, stringify(site));
    const plugin = readOpenstackPluginVersion({
      settings: stringify({ config }),
      ...(site !== undefined && { siteFile }),
    });
    rmSync(directory, { recursive: true });
    return plugin;
  };
  const [present, former] = ["5.5.1", "3.15.2"].map((openstackPlugin) => ({ openstackPlugin }));

  it("returns the cluster's version, for any project name, before the site's", () => {
    assert.equal(chosen({ "stackadm:cluster": former }), "3.15.2");
    assert.equal(chosen({ "mine:cluster": present }, former), "5.5.1");
    assert.equal(chosen({ "stackadm:cluster": {} }, former), "3.15.2");
    assert.equal(chosen({}, former), "3.15.2");
  });

  it("returns undefined without a supported version", () => {
    assert.equal(chosen({}), undefined);
    assert.equal(chosen({ "stackadm:cluster": "text" }), undefined);
    assert.equal(chosen({ "stackadm:cluster": { openstackPlugin: "4.0.0" } }, former), undefined);
  });
});
