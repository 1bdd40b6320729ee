import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { serverImageId, getCloudOffering } from "../../cloud/offering.js";
import { getServerImageFile, serverImagePackages } from "../../image/image.js";
import { getStockFiles, stockPackages } from "../../image/stock.js";
import {
  getMachineImageFiles,
  machineImagePackages,
  debianReleases,
} from "../../machines/debian-releases.js";
import { getLabPaths, readLabSettings } from "../../settings.js";
import { nonEmpty } from "../../../../test/support/non-empty.js";

describe("server image", () => {
  const configuration = parse(readFileSync("packages/lab/image/99-lab.cfg", "utf8")) as Record<
    string,
    unknown
  >;

  it("reads the config drive first, then the metadata service", () => {
    assert.deepEqual(configuration["datasource_list"], ["ConfigDrive", "OpenStack", "None"]);
  });

  it("waits for a metadata service that is starting", () => {
    const { OpenStack } = configuration["datasource"] as { OpenStack: { max_wait: number } };
    assert.ok(OpenStack.max_wait >= 60);
  });

  it("disables cloud-init modules that a container cannot run", () => {
    assert.equal(configuration["resize_rootfs"], false);
    assert.deepEqual(configuration["growpart"], { mode: "off" });
  });

  it("has the packages of emulated machines except the kernel, and otherwise the stock cloud-init settings", () => {
    const missing = machineImagePackages.filter((name) => !serverImagePackages.includes(name));
    assert.deepEqual(missing, ["linux-image-cloud-amd64", "initramfs-tools"]);
    assert.deepEqual(Object.keys(configuration).sort(), [
      ...["datasource", "datasource_list", "growpart", "resize_rootfs"],
    ]);
  });

  it("is cached under a name that contains its key", () => {
    assert.match(getServerImageFile(getLabPaths()), /\/images\/debian-12-[0-9a-f]{12}\.tar\.zst$/);
  });
});

describe("stock files", () => {
  const [bookworm, trixie] = debianReleases;
  assert.ok(bookworm && trixie);

  it("configure the network by netplan and networkd only", () => {
    for (const name of ["netplan.io", "systemd-resolved"]) assert.ok(stockPackages.includes(name));
    assert.ok(!stockPackages.includes("ifupdown"));
    const { mode, content } = getStockFiles(bookworm)["etc/netplan/90-default.yaml"] ?? {};
    assert.equal(mode, 0o600);
    const { network } = parse(content ?? "") as {
      network: { ethernets: Record<string, { match: { name: string }; dhcp4: boolean }> };
    };
    const matched = Object.values(network.ethernets).map(({ match, dhcp4 }) => [match.name, dhcp4]);
    assert.deepEqual(matched, [
      ["en*", true],
      ["eth*", true],
    ]);
  });

  it("contain the release's apt sources as mirror lists, which cloud-init rewrites", () => {
    const sources = getStockFiles(trixie)["etc/apt/sources.list.d/debian.sources"]?.content ?? "";
    assert.match(sources, /^Suites: trixie trixie-updates$/m);
    assert.match(sources, /^Suites: trixie-security$/m);
    const named = [...sources.matchAll(/mirror\+file:\/\/\/(\S+)/g)].map(([, file = ""]) => file);
    assert.equal(named.length, 2);
    for (const file of named) assert.match(getStockFiles(trixie)[file]?.content ?? "", /^https:/);
    const cloudInit = getStockFiles(trixie)["etc/cloud/cloud.cfg.d/01_debian_cloud.cfg"]?.content;
    const written: unknown = parse(cloudInit ?? "");
    assert.deepEqual(written, { apt: { generate_mirrorlists: true }, manage_etc_hosts: true });
  });

  it("leave disk resizing to images with a disk", () => {
    assert.ok(!("etc/fstab" in getStockFiles(bookworm)));
    assert.match(
      getMachineImageFiles(bookworm)["etc/fstab"]?.content ?? "",
      /^PARTUUID=\S+ \/ ext4 /,
    );
  });
});

describe("cloud offering", () => {
  const settings = readLabSettings({});
  const offered = getCloudOffering(settings);

  it("contains the flavors, images and networks that the stacks request", () => {
    assert.equal(offered.image.name, "debian-12");
    assert.equal(offered.image.id, serverImageId);
    assert.deepEqual(
      offered.flavors.map(({ name, vcpus, ram, disk }) => [name, vcpus, ram, disk]),
      [
        ["small", 1, 512, 5],
        ["k8s-control-plane", 2, 3072, 20],
        ["k8s-worker", 2, 2048, 20],
      ],
    );
    assert.deepEqual(
      offered.volumeTypes.map(({ name }) => name),
      ["standard", "gold"],
    );
    assert.deepEqual(
      offered.externalNetworks.map(({ name, physicalNetwork }) => [name, physicalNetwork]),
      [
        ["public", "ext"],
        ["services", "svc"],
      ],
    );
  });

  it("takes floating IPs from ranges that the host reaches", () => {
    assert.deepEqual(
      offered.externalNetworks.map(({ gateway, first, last }) => [gateway, first, last]),
      [
        [settings.external.host, "172.29.1.50", "172.29.1.250"],
        [settings.services.host, "172.29.2.50", "172.29.2.250"],
      ],
    );
  });

  it("limits the tenant's quota in every service", () => {
    for (const [service, limits] of nonEmpty(Object.entries(offered.quotas))) {
      for (const [name, limit] of nonEmpty(Object.entries<number>(limits))) {
        assert.ok(limit > 0, `${service} ${name}`);
      }
    }
  });

  it("contains every service once in the catalog", () => {
    const types = offered.catalog.map(({ type }) => type);
    assert.deepEqual(types, [...new Set(types)]);
    for (const type of ["compute", "network", "image", "volumev3", "load-balancer", "placement"]) {
      assert.ok(types.includes(type), type);
    }
  });

  it("contains no password", () => {
    assert.ok(!/password/i.test(JSON.stringify(offered)));
  });
});
