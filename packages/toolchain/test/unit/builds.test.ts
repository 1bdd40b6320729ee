import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../../../../base/failures/failure.js";
import { kubernetesPluginIn, pluginBuild } from "../../builds.js";

describe("toolchain/builds", () => {
  const openstack = "5.5.1";

  it("builds the OpenStack plugin, and the Kubernetes plugin if that is chosen", () => {
    const built = (kubernetes: "built" | "stand-in") =>
      (["openstack", "kubernetes", "command"] as const).map(
        (name) => pluginBuild(name, { openstack, kubernetes })?.version,
      );
    assert.deepEqual(built("stand-in"), ["5.5.1", undefined, undefined]);
    assert.deepEqual(built("built"), ["5.5.1", "4.25.0", undefined]);
  });

  it("has the modules of each build with their checksums", () => {
    for (const name of ["openstack", "kubernetes"] as const) {
      const { sources = [] } = pluginBuild(name, { openstack, kubernetes: "built" }) ?? {};
      for (const file of ["go.mod", "go.sum"])
        assert.ok(
          sources.some((folder) => existsSync(join(folder, file))),
          `${name}: ${file}`,
        );
    }
  });

  it("takes the Kubernetes plugin from STACKADM_KUBERNETES_PLUGIN, the stand-in by default", () => {
    assert.equal(kubernetesPluginIn({}), "stand-in");
    assert.equal(kubernetesPluginIn({ STACKADM_KUBERNETES_PLUGIN: "stand-in" }), "stand-in");
    assert.equal(kubernetesPluginIn({ STACKADM_KUBERNETES_PLUGIN: "built" }), "built");
    assert.throws(
      () => kubernetesPluginIn({ STACKADM_KUBERNETES_PLUGIN: "official" }),
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
