import assert from "node:assert/strict";
import { labPaths, labSettings } from "../../../lab/settings.js";

describe("lab/settings", () => {
  it("has the networks everybody else counts on", () => {
    const settings = labSettings({});
    assert.equal(settings.management.host, "172.29.0.1");
    assert.equal(settings.management.cloud, "172.29.0.2");
    assert.equal(settings.external.host, "172.29.1.1");
    assert.equal(settings.external.first, "172.29.1.50");
    assert.equal(settings.external.last, "172.29.1.250");
    assert.equal(settings.mtu, 1400);
  });

  it("moves both networks by the environment", () => {
    const settings = labSettings({
      STACKADM_LAB_MANAGEMENT: "10.213.0.0/24",
      STACKADM_LAB_EXTERNAL: "10.213.7.0/24",
    });
    assert.equal(settings.management.cloud, "10.213.0.2");
    assert.equal(settings.external.last, "10.213.7.250");
  });

  for (const cidr of ["10.0.0.0/16", "10.0.0.5/24", "10.0.0.0", "fd00::/24", "nonsense"]) {
    it(`refuses ${cidr} as a network, naming the setting`, () => {
      assert.throws(() => labSettings({ STACKADM_LAB_EXTERNAL: cidr }), /STACKADM_LAB_EXTERNAL/);
    });
  }

  it("refuses one network for both purposes", () => {
    assert.throws(
      () => labSettings({ STACKADM_LAB_EXTERNAL: "172.29.0.0/24" }),
      /two networks are both/,
    );
  });

  it("has interface names that the kernel accepts, under every name it takes", () => {
    for (const name of ["stackadm-lab", "a", "second-lab"]) {
      const { devices } = labSettings({ STACKADM_LAB_NAME: name });
      for (const device of Object.values(devices)) assert.ok(device.length <= 15, device);
      assert.notEqual(devices.management, devices.external);
    }
  });

  for (const name of ["", "eleven-char", "Upper", "a/b", "-a", "1a", "a b"]) {
    it(`refuses the name ${JSON.stringify(name)}`, () => {
      assert.throws(() => labSettings({ STACKADM_LAB_NAME: name }), /STACKADM_LAB_NAME/);
    });
  }

  it("keeps a second lab's files apart, except the Kubernetes builds", () => {
    const one = labPaths();
    const other = labPaths("second-lab");
    assert.notEqual(other.cache, one.cache);
    assert.notEqual(other.state, one.state);
    assert.equal(other.site, one.site);
  });

  it("keeps facts of the running lab apart from caches", () => {
    const paths = labPaths();
    for (const file of [paths.cloudsFile, paths.adminCloudsFile, paths.siteFile, paths.stateFile]) {
      assert.ok(file.startsWith(`${paths.state}/`), file);
    }
    for (const file of [paths.storeFile, paths.store, paths.goldens, paths.lock, paths.site]) {
      assert.ok(file.startsWith(`${paths.cache}/`), file);
    }
    assert.ok(!paths.state.startsWith(paths.cache));
  });
});
