import assert from "node:assert/strict";
import fc from "fast-check";
import { getMirroredImage, createImageTable } from "../../../../base/versions/container-images.js";
import { supportedMinors } from "../../../../base/versions/pinned-versions.js";
import { containersOf } from "../../../support/kubernetes-objects.js";
import { podSpecs as addons } from "../../components/addons/objects.js";
import { podSpecs as podNetworks } from "../../components/pod-network/objects.js";
import { nonEmpty } from "../../../support/non-empty.js";

describe("base/versions/container-images", () => {
  it("uses the cloud provider's release of the same minor", () => {
    assert.equal(
      createImageTable("1.36.3").cloudControllerManager,
      "registry.k8s.io/provider-os/openstack-cloud-controller-manager:v1.36.0",
    );
    assert.equal(
      createImageTable("v1.35.4").cinderCsi,
      "registry.k8s.io/provider-os/cinder-csi-plugin:v1.35.0",
    );
  });

  it("has one fixed version of every image for every minor", () => {
    for (const minor of nonEmpty(supportedMinors)) {
      for (const reference of nonEmpty(Object.values(createImageTable(`${minor}.0`)))) {
        assert.match(reference, /^[a-z0-9.]+\/[a-z0-9./-]+:v?\d+(\.\d+)+(-flannel\d)?$/);
      }
    }
  });

  it("contains the image of every container of every add-on", () => {
    const known = new Set(Object.values(createImageTable("1.36.3")));
    const used = new Set(
      [...addons().values(), ...podNetworks().values()].flatMap((pod) =>
        containersOf(pod).map(({ image = "" }) => image),
      ),
    );
    assert.deepEqual([...used].sort(), [...known].sort());
  });

  it("appends the upstream path to the site's prefix", () => {
    const rows = [
      [
        "registry.k8s.io/sig-storage/csi-attacher:v4.12.0",
        "172.29.0.2:5001/sig-storage/csi-attacher:v4.12.0",
      ],
      [
        "docker.io/cloudnativelabs/kube-router:v2.10.0",
        "172.29.0.2:5001/cloudnativelabs/kube-router:v2.10.0",
      ],
      [
        "registry.k8s.io/e2e-test-images/agnhost:2.53",
        "172.29.0.2:5001/e2e-test-images/agnhost:2.53",
      ],
    ] as const;
    for (const [upstream, expected] of rows) {
      assert.equal(getMirroredImage(upstream, { prefix: "172.29.0.2:5001" }), expected);
    }
    assert.equal(
      getMirroredImage("docker.io/a/b:v1.0", { prefix: "registry.example/mirror/k8s" }),
      "registry.example/mirror/k8s/a/b:v1.0",
    );
  });

  it("keeps published images without a registry, and with the default one", () => {
    assert.deepEqual(
      createImageTable("1.36.3", { prefix: "registry.k8s.io" }),
      createImageTable("1.36.3"),
    );
  });

  it("changes only the registry, for every image and prefix", () => {
    const prefix = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}(:[0-9]{2,4})?(\/[a-z0-9]{1,8})?$/);
    fc.assert(
      fc.property(prefix, fc.constantFrom(...supportedMinors), (registry, minor) => {
        const upstream = createImageTable(`${minor}.1`);
        const moved = createImageTable(`${minor}.1`, { prefix: registry });
        for (const [name, reference] of nonEmpty(Object.entries(moved))) {
          const original = upstream[name as keyof typeof upstream];
          assert.equal(reference, registry + original.slice(original.indexOf("/")));
        }
      }),
    );
  });

  it("refuses a version without add-ons and lists the supported ones", () => {
    for (const version of ["1.34.1", "2.0.0", "latest", "", "1.360.1"]) {
      assert.throws(
        () => createImageTable(version),
        new RegExp(`no add-ons for ${version}; choose one of ${supportedMinors.join(", ")}`),
      );
    }
  });
});
