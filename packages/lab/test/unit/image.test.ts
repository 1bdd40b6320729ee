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

describe("lab/image", () => {
  const configuration = parse(readFileSync("packages/lab/image/99-lab.cfg", "utf8")) as Record<
    string,
    unknown
  >;

  it("asks the config drive first, then the metadata service", () => {
    assert.deepEqual(configuration["datasource_list"], ["ConfigDrive", "OpenStack", "None"]);
  });

  it("waits for a metadata service that still starts", () => {
    const { OpenStack } = configuration["datasource"] as { OpenStack: { max_wait: number } };
    assert.ok(OpenStack.max_wait >= 60);
  });

  it("leaves out what a container cannot do", () => {
    assert.equal(configuration["resize_rootfs"], false);
    assert.deepEqual(configuration["growpart"], { mode: "off" });
  });

  it("has what emulated machines have but the kernel, and leaves the rest of cloud-init to the stock file", () => {
    const missing = machineImagePackages.filter((name) => !serverImagePackages.includes(name));
    assert.deepEqual(missing, ["linux-image-cloud-amd64", "initramfs-tools"]);
    assert.deepEqual(Object.keys(configuration).sort(), [
      ...["datasource", "datasource_list", "growpart", "resize_rootfs"],
    ]);
  });

  it("lies in the cache under a name with its key", () => {
    assert.match(getServerImageFile(getLabPaths()), /\/images\/debian-12-[0-9a-f]{12}\.tar\.zst$/);
  });
});

describe("lab/image/stock", () => {
  const [bookworm, trixie] = debianReleases;
  assert.ok(bookworm && trixie);

  it("configures the network by netplan and networkd alone", () => {
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

  it("has apt's sources of its release by mirror lists, which cloud-init writes again", () => {
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

  it("leaves the disk to the image that has one", () => {
    assert.ok(!("etc/fstab" in getStockFiles(bookworm)));
    assert.match(
      getMachineImageFiles(bookworm)["etc/fstab"]?.content ?? "",
      /^PARTUUID=\S+ \/ ext4 /,
    );
  });
});

describe("lab/cloud/offering", () => {
  const settings = readLabSettings({});
  const offered = getCloudOffering(settings);

  it("offers what the stacks ask for", () => {
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

  it("gives floating IPs from the ranges that the host reaches", () => {
    assert.deepEqual(
      offered.externalNetworks.map(({ gateway, first, last }) => [gateway, first, last]),
      [
        [settings.external.host, "172.29.1.50", "172.29.1.250"],
        [settings.services.host, "172.29.2.50", "172.29.2.250"],
      ],
    );
  });

  it("limits the tenant everywhere", () => {
    for (const [service, limits] of nonEmpty(Object.entries(offered.quotas))) {
      for (const [name, limit] of nonEmpty(Object.entries<number>(limits))) {
        assert.ok(limit > 0, `${service} ${name}`);
      }
    }
  });

  it("has every service in the catalog once", () => {
    const types = offered.catalog.map(({ type }) => type);
    assert.deepEqual(types, [...new Set(types)]);
    for (const type of ["compute", "network", "image", "volumev3", "load-balancer", "placement"]) {
      assert.ok(types.includes(type), type);
    }
  });

  it("holds no password", () => {
    assert.ok(!/password/i.test(JSON.stringify(offered)));
  });
});
