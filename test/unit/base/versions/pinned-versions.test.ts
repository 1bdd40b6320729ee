import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createImageTable } from "../../../../base/versions/container-images.js";
import {
  compareVersions,
  getPackageSeries,
  kubernetesMinors,
} from "../../../../base/versions/pinned-versions.js";
import { publishedManifests } from "../../../../base/versions/pod-network-manifests.js";
import { openstackPluginVersions } from "../../../../base/versions/pulumi-openstack-versions.js";
import { engineVersion, pluginVersions } from "../../../../base/versions/pulumi-versions.js";
import { nonEmpty } from "../../../support/non-empty.js";

const exact = /^v?\d+\.\d+\.\d+$/;
const minors = Object.values(kubernetesMinors);
const scripts = join(__dirname, "../../../../components/machine/scripts/prepare");

describe("the versions that the project installs", () => {
  it("are exact, or have a newest minor version, for every package of Kubernetes", () => {
    const text = readFileSync(join(scripts, "kubernetes-packages.sh"), "utf8");
    const [, names = ""] = /^readonly kubernetes_packages=\((.*)\)$/m.exec(text) ?? [];
    for (const { version } of nonEmpty(minors)) {
      const { criTools, kubernetesCni, containerd } = getPackageSeries(version);
      const packages: Readonly<Record<string, string>> = {
        kubeadm: version,
        kubelet: version,
        kubectl: version,
        "cri-tools": criTools,
        "kubernetes-cni": kubernetesCni,
      };
      assert.deepEqual(names.split(" "), Object.keys(packages));
      for (const [name, series] of nonEmpty(Object.entries({ ...packages, containerd }))) {
        if (exact.test(series)) continue;
        const [, least = "", most = ""] = /^(\d+\.\d+)\.\.(\d+\.\d+)$/.exec(series) ?? [];
        assert.ok(most, `${name}: ${series} has no newest minor version`);
        assert.ok(compareVersions(least, most) <= 0, `${name}: ${series}`);
        assert.equal(least.split(".")[0], most.split(".")[0], `${name}: ${series}`);
      }
    }
  });

  it("have exactly one tag for every image", () => {
    for (const { version, etcd, coredns, pause, cloudProvider } of nonEmpty(minors)) {
      for (const tag of [etcd, coredns, pause, cloudProvider]) assert.match(tag, exact);
      for (const image of nonEmpty(Object.values(createImageTable(version))))
        assert.match(image, /:v?\d+\.\d+(\.\d+)?(-\w+)?$/);
    }
  });

  it("are exact for Pulumi's engine and plugins, and have a digest for published manifests", () => {
    const versions = [engineVersion, ...Object.values(pluginVersions), ...openstackPluginVersions];
    for (const version of nonEmpty(versions)) assert.match(version, exact);
    for (const { sha256 } of nonEmpty(Object.values(publishedManifests)))
      assert.match(sha256, /^[0-9a-f]{64}$/);
  });
});
