import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../../../../base/failures/failure.js";
import { findGoBuild, selectKubernetesPlugin } from "../../builds.js";

describe("toolchain/builds", () => {
  const built = { STACKADM_KUBERNETES_PLUGIN: "built" };
  const of = (name: string, version: string, env: NodeJS.ProcessEnv = {}) =>
    findGoBuild({ name, version }, env);

  it("contain the engine, the requested OpenStack plugin, and the Kubernetes plugin if selected", () => {
    assert.equal(of("pulumi", "3.246.0")?.version, "3.246.0");
    for (const version of ["3.15.2", "5.5.1"])
      assert.equal(of("pulumi-resource-openstack", version)?.version, version);
    assert.equal(of("pulumi-resource-kubernetes", "4.34.2"), undefined);
    assert.equal(of("pulumi-resource-kubernetes", "4.34.2", built)?.version, "4.25.0");
    assert.equal(of("pulumi-resource-command", "1.2.1", built), undefined);
    assert.equal(of("pulumi-language-nodejs", "3.246.0", built), undefined);
  });

  it("have the modules of each build with their checksums", () => {
    for (const name of ["pulumi-resource-openstack", "pulumi-resource-kubernetes"]) {
      const { sources = [] } = of(name, "5.5.1", built) ?? {};
      for (const file of ["go.mod", "go.sum"])
        assert.ok(
          sources.some((folder) => existsSync(join(folder, file))),
          `${name}: ${file}`,
        );
    }
  });

  it("read the choice of the Kubernetes plugin from STACKADM_KUBERNETES_PLUGIN, by default the stand-in", () => {
    assert.equal(selectKubernetesPlugin({}), "stand-in");
    assert.equal(selectKubernetesPlugin({ STACKADM_KUBERNETES_PLUGIN: "stand-in" }), "stand-in");
    assert.equal(selectKubernetesPlugin({ STACKADM_KUBERNETES_PLUGIN: "built" }), "built");
    assert.throws(
      () => selectKubernetesPlugin({ STACKADM_KUBERNETES_PLUGIN: "official" }),
      (error: unknown) => {
        assert.ok(error instanceof Failure);
        assert.equal(error.exitCode, 2);
        assert.match(error.message, /^STACKADM_KUBERNETES_PLUGIN: 'official' cannot be used/);
        assert.match(error.hint, /^Write stand-in or built, or unset it/);
        return true;
      },
    );
  });
});
