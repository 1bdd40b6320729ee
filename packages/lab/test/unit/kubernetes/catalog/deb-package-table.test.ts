import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  getDebFileName,
  debPackages,
  renderControl,
  type DebPackage,
} from "../../../../kubernetes/catalog/deb-package-table.js";
import { getKubernetesRelease } from "../../../../kubernetes/catalog/versions.js";
import { nonEmpty } from "../../../../../../test/support/non-empty.js";

const assets = "packages/lab/kubernetes/packages";
const named = (name: string): DebPackage => {
  const found = debPackages.find((candidate) => candidate.name === name);
  assert.ok(found, name);
  return found;
};

describe("deb packages", () => {
  it("have the names of packages in Kubernetes' and Docker's repositories", () => {
    assert.deepEqual(debPackages.map(({ name }) => name).sort(), [
      ...["containerd.io", "cri-tools", "kubeadm", "kubectl", "kubelet", "kubernetes-cni"],
    ]);
  });

  it("install programs at the nodes' expected paths", () => {
    assert.ok("/usr/bin/kubelet" in named("kubelet").programs);
    assert.ok("/usr/bin/containerd" in named("containerd.io").programs);
    const cni = Object.keys(named("kubernetes-cni").programs);
    assert.ok(cni.every((path) => path.startsWith("/opt/cni/bin/")));
    for (const plugin of ["bridge", "loopback", "ptp", "host-local", "portmap", "firewall"]) {
      assert.ok(cni.includes(`/opt/cni/bin/${plugin}`), plugin);
    }
  });

  it("contain every built CNI plugin", () => {
    const component = getKubernetesRelease("1.36.3").components.find(
      ({ name }) => name === "cni-plugins",
    );
    assert.deepEqual(
      Object.values(named("kubernetes-cni").programs).sort(),
      Object.keys(component?.programs ?? {})
        .map((program) => `cni-plugins/${program}`)
        .sort(),
    );
  });

  it("have their files in the repository, and units that start the package's own programs", () => {
    const units = debPackages.flatMap(({ files = {}, programs }) =>
      Object.entries(files)
        .filter(([path]) => path.endsWith(".service"))
        .map(([, file]) => ({ file, programs })),
    );
    for (const { file, programs } of nonEmpty(units)) {
      const text = readFileSync(join(assets, file), "utf8");
      const start = /^ExecStart=(\S+)/m.exec(text)?.[1];
      assert.ok(start && start in programs, file);
    }
  });

  it("let kubeadm configure the kubelet through its drop-in", () => {
    const text = readFileSync(join(assets, "10-kubeadm.conf"), "utf8");
    for (const wanted of [
      "--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf",
      "--kubeconfig=/etc/kubernetes/kubelet.conf",
      "--config=/var/lib/kubelet/config.yaml",
      "EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env",
      "EnvironmentFile=-/etc/default/kubelet",
      "\nExecStart=\nExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS",
    ]) {
      assert.ok(text.includes(wanted), wanted);
    }
  });

  it("contain no container runtime unit that requires a capability servers lack", () => {
    assert.doesNotMatch(readFileSync(join(assets, "containerd.service"), "utf8"), /^OOMScore/m);
  });

  it("have file names in Debian's format", () => {
    assert.equal(getDebFileName("kubeadm", "1.36.3-1.1"), "kubeadm_1.36.3-1.1_amd64.deb");
  });
});

describe("control file", () => {
  const lines = renderControl(named("containerd.io"), "2.3.7-1", 1234).split("\n");

  it("has the fields that dpkg requires", () => {
    for (const wanted of [
      ...["Package: containerd.io", "Version: 2.3.7-1", "Architecture: amd64"],
      ...["Installed-Size: 1234", "Depends: runc"],
    ]) {
      assert.ok(lines.includes(wanted), wanted);
    }
    assert.equal(lines.at(-1), "", "ends with a newline");
  });

  it("replaces Debian's package", () => {
    for (const field of ["Provides", "Conflicts", "Replaces"]) {
      assert.ok(lines.includes(`${field}: containerd`), field);
    }
  });

  it("omits empty lists", () => {
    assert.doesNotMatch(renderControl(named("kubectl"), "1", 1), /Depends|Provides/);
  });

  it("states that the package is not upstream's", () => {
    for (const debPackage of nonEmpty(debPackages)) {
      assert.match(renderControl(debPackage, "1", 1), /\n .*not upstream's own package/);
    }
  });
});

describe("maintainer scripts", () => {
  const scripts = ["postinst", "prerm", "postrm"];
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "stackadm-test-"));
    for (const tool of ["deb-systemd-helper", "deb-systemd-invoke", "systemctl"]) {
      const path = join(folder, tool);
      writeFileSync(path, `#!/bin/sh\necho "${tool} $*" >>"${folder}/calls"\n`);
      chmodSync(path, 0o755);
    }
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const call = (script: string, debPackage: string, ...args: string[]): string[] => {
    execFileSync("bash", [join(assets, `${script}.sh`), ...args], {
      env: { PATH: `${folder}:/usr/bin:/bin`, DPKG_MAINTSCRIPT_PACKAGE: debPackage },
    });
    const calls = join(folder, "calls");
    return existsSync(calls) ? readFileSync(calls, "utf8").trimEnd().split("\n") : [];
  };

  it("exist for every package with a unit", () => {
    for (const script of scripts) {
      const text = readFileSync(join(assets, `${script}.sh`), "utf8");
      for (const { name } of nonEmpty(debPackages.filter(({ unit }) => unit))) {
        assert.ok(text.includes(`${name})`), `${script} knows ${name}`);
      }
    }
  });

  it("enable the unit on installation", () => {
    const calls = call("postinst", "kubelet", "configure");
    assert.ok(calls.includes("deb-systemd-helper enable kubelet.service"));
  });

  it("delete the unit's state when the package is purged", () => {
    const calls = call("postrm", "containerd.io", "purge");
    assert.ok(calls.includes("deb-systemd-helper purge containerd.service"));
  });

  it("do nothing for dpkg's other calls", () => {
    assert.deepEqual(call("postinst", "kubelet", "abort-upgrade", "1"), []);
    assert.deepEqual(call("prerm", "kubelet", "upgrade", "2"), []);
    assert.deepEqual(call("postinst", "kubectl", "configure"), []);
  });
});
