import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Piece } from "../../../../../toolchain/toolchain.js";
import { machineOf, overridesOf, pluginsOf, setupOf } from "../../../../lab/support/setup.js";

const piece = (name: string, origin: Piece["origin"]): Piece => ({
  ...{ name, origin },
  ...{ version: "1", path: "/", why: "" },
});
const toolchain = [
  piece("pulumi", "found"),
  piece("pulumi-language-nodejs", "stand-in"),
  piece("pulumi-resource-openstack", "built"),
  piece("pulumi-resource-kubernetes", "installed"),
  piece("pulumi-resource-command", "stand-in"),
];

describe("the setup of a test's cluster", () => {
  it("tells official plugins from built ones and stand-ins", () => {
    assert.deepEqual(pluginsOf(toolchain), {
      ...{ engine: "official", nodejs: "stand-in", openstack: "built" },
      ...{ kubernetes: "official", command: "stand-in" },
    });
    assert.throws(() => pluginsOf(toolchain.slice(1)), /has no pulumi$/);
  });

  it("names all that the site sets, and of the cluster what stands in place of the world's", () => {
    const site = {
      kubernetes: { packages: { url: "u" }, registry: {} },
      loadBalancer: { provider: "lab" },
    };
    const cluster = {
      image: "i",
      kubernetes: { version: "1", kubelet: {}, registry: {} },
      podNetwork: "canal",
    };
    assert.deepEqual(overridesOf(site, cluster), [
      ...["kubernetes.kubelet", "kubernetes.packages", "kubernetes.registry"],
      "loadBalancer.provider",
    ]);
    assert.deepEqual(overridesOf({}, { image: "i" }), []);
    const podNetwork = { kind: "calico", manifest: "m" };
    assert.deepEqual(overridesOf({}, { podNetwork }), ["podNetwork.manifest"]);
  });

  it("reads the site that the cluster is made with", () => {
    const directory = mkdtempSync(join(tmpdir(), "stackadm-site-"));
    const file = join(directory, "site.yaml");
    writeFileSync(file, "ssh: {bootMinutes: 3}\n");
    const environment = {
      env: { STACKADM_SITE: file },
      toolchain: { pieces: toolchain, environment: {} },
    };
    const { image, overrides, octavia } = setupOf({ image: "debian-12" }, environment);
    assert.deepEqual([image, overrides, octavia], ["debian-12", ["ssh.bootMinutes"], "lab"]);
    rmSync(directory, { recursive: true });
  });

  it("knows emulated machines by their image", () => {
    assert.deepEqual(["debian-12", "debian-12-vm"].map(machineOf), ["container", "kernel"]);
  });
});
