import assert from "node:assert/strict";
import { getLabPaths, readLabSettings } from "../../settings.js";

describe("lab settings", () => {
  it("have default networks on which other parts rely", () => {
    const settings = readLabSettings({});
    assert.equal(settings.management.host, "172.29.0.1");
    assert.equal(settings.management.cloud, "172.29.0.2");
    assert.equal(settings.external.host, "172.29.1.1");
    assert.equal(settings.external.first, "172.29.1.50");
    assert.equal(settings.external.last, "172.29.1.250");
    assert.equal(settings.services.host, "172.29.2.1");
    assert.equal(settings.services.first, "172.29.2.50");
    assert.equal(settings.services.last, "172.29.2.250");
    assert.equal(settings.mtu, 1400);
  });

  it("take networks from the environment", () => {
    const settings = readLabSettings({
      STACKADM_LAB_MANAGEMENT: "10.213.0.0/24",
      STACKADM_LAB_EXTERNAL: "10.213.7.0/24",
      STACKADM_LAB_SERVICES: "10.213.8.0/24",
    });
    assert.equal(settings.services.host, "10.213.8.1");
    assert.equal(settings.management.cloud, "10.213.0.2");
    assert.equal(settings.external.last, "10.213.7.250");
  });

  for (const cidr of ["10.0.0.0/16", "10.0.0.5/24", "10.0.0.0", "fd00::/24", "nonsense"]) {
    it(`refuse ${cidr} as a network and name the setting`, () => {
      assert.throws(
        () => readLabSettings({ STACKADM_LAB_EXTERNAL: cidr }),
        /STACKADM_LAB_EXTERNAL/,
      );
    });
  }

  for (const [name, cidr] of [
    ["STACKADM_LAB_EXTERNAL", "172.29.0.0/24"],
    ["STACKADM_LAB_SERVICES", "172.29.0.0/24"],
    ["STACKADM_LAB_SERVICES", "172.29.1.0/24"],
  ] as const)
    it(`refuse one network for two purposes: ${name}=${cidr}`, () => {
      assert.throws(
        () => readLabSettings({ [name]: cidr }),
        new RegExp(`networks are both ${cidr}`),
      );
    });

  it("have interface names that the kernel accepts, for every valid lab name", () => {
    for (const name of ["stackadm-lab", "a", "second-lab"]) {
      const { devices } = readLabSettings({ STACKADM_LAB_NAME: name });
      for (const device of Object.values(devices)) assert.ok(device.length <= 15, device);
      assert.equal(new Set(Object.values(devices)).size, 3);
    }
  });

  for (const name of ["", "eleven-char", "Upper", "a/b", "-a", "1a", "a b"]) {
    it(`refuse the name ${JSON.stringify(name)}`, () => {
      assert.throws(() => readLabSettings({ STACKADM_LAB_NAME: name }), /STACKADM_LAB_NAME/);
    });
  }

  it("separate a second lab's files, except the Kubernetes builds", () => {
    const one = getLabPaths();
    const other = getLabPaths("second-lab");
    assert.notEqual(other.cache, one.cache);
    assert.notEqual(other.state, one.state);
    assert.equal(other.site, one.site);
  });

  it("separate facts of the running lab from caches", () => {
    const paths = getLabPaths();
    for (const file of [paths.cloudsFile, paths.adminCloudsFile, paths.siteFile, paths.stateFile]) {
      assert.ok(file.startsWith(`${paths.state}/`), file);
    }
    for (const file of [paths.storeFile, paths.store, paths.goldens, paths.lock, paths.site]) {
      assert.ok(file.startsWith(`${paths.cache}/`), file);
    }
    assert.ok(!paths.state.startsWith(paths.cache));
  });
});
