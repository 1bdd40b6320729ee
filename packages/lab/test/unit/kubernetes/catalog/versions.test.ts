import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../../../../../../base/failures/failure.js";
import {
  compareVersions,
  defaultKubernetesVersion,
  getMinorVersion,
  getPackageSeries,
} from "../../../../../../base/versions/pinned-versions.js";
import type { Component, KubernetesRelease } from "../../../../kubernetes/catalog/component.js";
import { describeSource } from "../../../../kubernetes/catalog/component.js";
import { getExecutableName } from "../../../../kubernetes/compile/go-mod-files.js";
import { parseRepository } from "../../../../kubernetes/catalog/images.js";
import { debPackages } from "../../../../kubernetes/catalog/deb-package-table.js";
import {
  getKubernetesRelease,
  supportedKubernetesVersions,
} from "../../../../kubernetes/catalog/versions.js";
import { nonEmpty } from "../../../../../../test/support/non-empty.js";

const programsOf = (of: KubernetesRelease): string[] =>
  of.components.flatMap(({ name, programs }) =>
    Object.keys(programs).map((program) => `${name}/${program}`),
  );

const namesOf = (of: KubernetesRelease): string[] =>
  of.images.flatMap(({ repository, aliases = [], tags }) =>
    [repository, ...aliases].flatMap((name) => tags.map((tag) => `${name}:${tag}`)),
  );

function component(of: KubernetesRelease, name: string): Component {
  const found = of.components.find((candidate) => candidate.name === name);
  assert.ok(found, `no component ${name}`);
  return found;
}

describe("Kubernetes releases of the lab", () => {
  it("include the default version and one more minor", () => {
    assert.equal(supportedKubernetesVersions[0], defaultKubernetesVersion);
    assert.deepEqual(supportedKubernetesVersions, ["1.36.3", "1.35.4"]);
  });

  it("are listed in the error for an unknown version", () => {
    for (const version of ["1.36.2", "1.37.0", "v1.36.3", "", "1.36"]) {
      assert.throws(
        () => getKubernetesRelease(version),
        (error: unknown) => error instanceof Failure && error.message.includes("1.36.3 and 1.35.4"),
        version,
      );
    }
  });

  it("mark a package's version if it contains another release than its series", () => {
    const crictl = (version: string) => getKubernetesRelease(version).packageVersions["cri-tools"];
    assert.equal(crictl("1.36.3"), "1.36.0-1.1");
    assert.equal(crictl("1.35.4"), "1.35.0+really1.36.0-1.1");
  });

  it("have the minor of their version", () => {
    assert.equal(getMinorVersion("1.36.3"), "1.36");
  });

  it("include the images of kubeadm 1.36.3, with and without another image repository", () => {
    const names = namesOf(getKubernetesRelease("1.36.3"));
    for (const wanted of [
      ...["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy"].map(
        (name) => `${name}:v1.36.3`,
      ),
      ...["coredns/coredns:v1.14.2", "coredns:v1.14.2", "pause:3.10.2", "etcd:3.6.8-0"],
    ]) {
      assert.ok(names.includes(wanted), wanted);
    }
  });

  it("include the images of kubeadm 1.35.4", () => {
    const names = namesOf(getKubernetesRelease("1.35.4"));
    for (const wanted of [
      ...["kube-apiserver:v1.35.4", "coredns/coredns:v1.13.1", "coredns:v1.13.1"],
      ...["pause:3.10.1", "etcd:3.6.6-0"],
    ]) {
      assert.ok(names.includes(wanted), wanted);
    }
  });

  it("include the cloud controller and the volume driver of the same minor", () => {
    for (const version of nonEmpty(supportedKubernetesVersions)) {
      const names = namesOf(getKubernetesRelease(version));
      const tag = `v${getMinorVersion(version)}.0`;
      assert.ok(names.includes(`provider-os/openstack-cloud-controller-manager:${tag}`));
      assert.ok(names.includes(`provider-os/cinder-csi-plugin:${tag}`));
    }
  });

  it("include the images in add-ons and samples", () => {
    for (const version of nonEmpty(supportedKubernetesVersions)) {
      const names = namesOf(getKubernetesRelease(version));
      for (const wanted of [
        "sig-storage/csi-attacher:v4.12.0",
        "sig-storage/csi-provisioner:v5.3.0",
        "sig-storage/csi-resizer:v1.14.0",
        "sig-storage/csi-node-driver-registrar:v2.15.0",
        "sig-storage/livenessprobe:v2.17.0",
        "cloudnativelabs/kube-router:v2.10.0",
        "flannel-io/flannel:v0.26.7",
        "flannel-io/flannel-cni-plugin:v1.6.2-flannel1",
        "e2e-test-images/agnhost:2.53",
      ]) {
        assert.ok(names.includes(wanted), wanted);
      }
    }
  });

  it("keep upstream's path without its registry host", () => {
    assert.equal(parseRepository("registry.k8s.io/coredns/coredns"), "coredns/coredns");
    for (const { upstream, repository, tags } of getKubernetesRelease("1.36.3").images) {
      assert.equal(upstream.split("/").slice(1).join("/"), `${repository}:${tags[0] ?? ""}`);
    }
  });

  for (const version of supportedKubernetesVersions) {
    describe(`release ${version}`, () => {
      const of = getKubernetesRelease(version);

      it("builds exactly the programs that an image or a package contains", () => {
        const built = programsOf(of);
        const held = [
          ...of.images.flatMap(({ files }) => Object.values(files)),
          ...debPackages.flatMap(({ programs }) => Object.values(programs)),
        ];
        assert.deepEqual(new Set(held), new Set(built));
      });

      it("sets a version for every package and for no other", () => {
        assert.deepEqual(
          Object.keys(of.packageVersions).sort(),
          debPackages.map(({ name }) => name).sort(),
        );
        assert.equal(of.packageVersions["kubelet"], `${version}-1.1`);
      });

      it("offers every package in the series that machines install", () => {
        const series = getPackageSeries(version);
        for (const [name, bounds] of [
          ["cri-tools", series.criTools],
          ["kubernetes-cni", series.kubernetesCni],
          ["containerd.io", series.containerd],
        ] as const) {
          const offered = getMinorVersion(of.packageVersions[name] ?? "");
          const [least = "", most = ""] = bounds.split("..");
          assert.ok(compareVersions(offered, least) >= 0, `${name} ${offered}`);
          assert.ok(compareVersions(offered, most) <= 0, `${name} ${offered}`);
        }
      });

      it("names every component and every image once", () => {
        const names = of.components.map(({ name }) => name);
        assert.equal(new Set(names).size, names.length);
        const images = namesOf(of);
        assert.equal(new Set(images).size, images.length);
      });

      it("names programs as Go names the executables in a joint build", () => {
        for (const { programs } of nonEmpty(
          of.components.filter((c) => Object.keys(c.programs).length > 1),
        )) {
          for (const [name, mainPackage] of nonEmpty(Object.entries(programs))) {
            assert.equal(getExecutableName(mainPackage), name);
          }
        }
      });

      it("pins every module to an exact version", () => {
        const versions = of.components.flatMap(({ name, version: own, source }) =>
          source.kind === "program"
            ? source.require.map((line) => ({ name, version: line.split(" ")[1] ?? "" }))
            : [{ name, version: source.moduleVersion ?? own }],
        );
        for (const { name, version } of nonEmpty(versions))
          assert.match(version, /^v\d+\.\d+\.\d+$/, name);
      });

      it("has the source of every program of the lab", () => {
        const directories = of.components.flatMap(({ source }) =>
          source.kind === "program" ? [source.directory] : [],
        );
        for (const directory of nonEmpty(directories))
          assert.ok(
            existsSync(join("packages/lab/kubernetes/programs", directory, "main.go")),
            directory,
          );
      });

      it("marks its own components as different from upstream's", () => {
        for (const one of nonEmpty(
          of.components.filter(({ source }) => source.kind === "program"),
        )) {
          assert.match(one.deviation ?? "", /own program/, one.name);
          assert.match(describeSource(one), /own program lab\/kubernetes\/programs/);
        }
      });

      it("has an expected time for every build", () => {
        for (const one of nonEmpty(of.components)) assert.ok(one.expectedSeconds > 0, one.name);
      });
    });
  }

  it("rebuilds only the differing components for another minor", () => {
    const [one, other] = [getKubernetesRelease("1.36.3"), getKubernetesRelease("1.35.4")];
    const same = one.components.filter(
      (candidate) => JSON.stringify(candidate) === JSON.stringify(component(other, candidate.name)),
    );
    assert.deepEqual(
      one.components.filter((candidate) => !same.includes(candidate)).map(({ name }) => name),
      ["kubernetes", "pause", "etcd", "etcdctl", "etcdutl", "coredns", "cloud-provider-openstack"],
    );
  });

  it("links its version into Kubernetes, as kubeadm and the API server report the version", () => {
    const { link } = component(getKubernetesRelease("1.35.4"), "kubernetes");
    assert.deepEqual(link, {
      "k8s.io/component-base/version.gitVersion": "v1.35.4",
      "k8s.io/component-base/version.gitMajor": "1",
      "k8s.io/component-base/version.gitMinor": "35",
      "k8s.io/component-base/version.gitTreeState": "clean",
    });
  });

  it("describes a component's module and version", () => {
    const of = getKubernetesRelease("1.36.3");
    assert.equal(describeSource(component(of, "coredns")), "github.com/coredns/coredns@v1.14.2");
    assert.equal(describeSource(component(of, "pause")), "k8s.io/kubernetes@v1.36.3");
    assert.equal(describeSource(component(of, "agnhost")), "k8s.io/kubernetes@v1.36.3");
  });

  it("adds the Debian layer to images that run iptables, mount or a shell", () => {
    const debian = getKubernetesRelease("1.36.3")
      .images.filter(({ base }) => base === "debian")
      .map(({ repository }) => repository.split("/").at(-1));
    assert.deepEqual(debian.sort(), [
      ...["agnhost", "cinder-csi-plugin", "flannel", "flannel-cni-plugin"],
      ...["kube-proxy", "kube-router"],
    ]);
  });
});
