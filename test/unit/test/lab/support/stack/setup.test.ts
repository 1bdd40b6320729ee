import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolchainProgram } from "../../../../../../automation/toolchain/toolchain.js";
import {
  machineOf,
  overridesOf,
  pluginsOf,
  setupOf,
} from "../../../../../lab/support/stack/setup.js";

const piece = (name: string, origin: ToolchainProgram["origin"]): ToolchainProgram => ({
  name,
  origin,
  version: "1",
  path: "/",
  why: "",
});
const toolchain = [
  piece("pulumi", "found"),
  piece("pulumi-language-nodejs", "stand-in"),
  piece("pulumi-resource-openstack", "built"),
  piece("pulumi-resource-kubernetes", "installed"),
  piece("pulumi-resource-command", "stand-in"),
];

describe("setup of a test's cluster", () => {
  it("distinguishes official plugins, built ones and stand-ins", () => {
    assert.deepEqual(pluginsOf(toolchain), {
      engine: "official",
      nodejs: "stand-in",
      openstack: "built",
      kubernetes: "official",
      command: "stand-in",
    });
    assert.throws(() => pluginsOf(toolchain.slice(1)), /has no pulumi$/);
  });

  it("lists the site's settings, and the cluster's settings that replace public servers", () => {
    const site = {
      kubernetes: { packages: { url: "u" }, kubelet: { cgroupDriver: "cgroupfs" } },
      loadBalancer: { provider: "lab" },
      zones: ["one"],
    };
    const cluster = {
      image: "i",
      podNetwork: "canal",
      loadBalancer: { provider: "other" },
      kubernetes: { version: "1", kubelet: { maxPods: 3 }, registry: { prefix: "p" } },
    };
    assert.deepEqual(overridesOf(site, cluster), [
      "kubernetes.kubelet.cgroupDriver",
      "kubernetes.kubelet.maxPods",
      "kubernetes.packages.url",
      "kubernetes.registry.prefix",
      "loadBalancer.provider",
      "zones",
    ]);
    assert.deepEqual(overridesOf({}, { image: "i" }), []);
    const podNetwork = { kind: "calico", manifest: "m" };
    assert.deepEqual(overridesOf({}, { podNetwork }), ["podNetwork.manifest"]);
  });

  /** Returns a fake Glance that has images of these formats under any name. */
  const glance = (...formats: string[]) => ({
    asked: "",
    request(_service: string, _method: string, path: string): Promise<unknown> {
      this.asked = path;
      return Promise.resolve({ images: formats.map((format) => ({ disk_format: format })) });
    },
  });

  it("reads the cluster's site, and requests the image's properties from Glance", async () => {
    const directory = mkdtempSync(join(tmpdir(), "stackadm-site-"));
    const file = join(directory, "site.yaml");
    writeFileSync(file, "ssh: {bootMinutes: 3}\n");
    const toolchainOf = { pieces: toolchain, environment: {} };
    const environment = { env: { STACKADM_SITE: file }, toolchain: toolchainOf };
    const cloud = glance("raw");
    const { plugins, ...others } = await setupOf({ image: "debian-12" }, environment, cloud);
    assert.deepEqual(others, {
      machine: "container",
      image: "debian-12",
      octavia: "lab",
      overrides: ["ssh.bootMinutes"],
    });
    assert.equal(plugins.command, "stand-in");
    assert.equal(cloud.asked, "/images?name=debian-12");
    rmSync(directory, { recursive: true });
  });

  it("recognises kernel disks by their format, and refuses to guess", async () => {
    assert.equal(await machineOf("any", glance("qcow2")), "kernel");
    await assert.rejects(machineOf("none", glance()), /0 images 'none'/);
    await assert.rejects(machineOf("two", glance("raw", "qcow2")), /2 images 'two'/);
  });
});
