import assert from "node:assert/strict";
import { silentProgress } from "../../../../base/progress.js";
import {
  defaultKubernetesVersion,
  getMinorVersion,
} from "../../../../base/versions/pinned-versions.js";
import { labUp } from "../../../../packages/lab/lab.js";
import { supportedKubernetesVersions } from "../../../../packages/lab/kubernetes/catalog/versions.js";
import { kubectlOn } from "../../support/kubernetes/kubectl.js";
import { changes } from "../../support/stack/lab-cluster.js";
import { Stack } from "../../support/stack/stack.js";

const minutes = 60_000;

// All other tests use the default version.
for (const version of supportedKubernetesVersions.filter((one) => one !== defaultKubernetesVersion))
  describe(`Kubernetes ${version}, on the lab`, function () {
    this.timeout(25 * minutes);
    const minor = getMinorVersion(version);
    const stack = new Stack(`minor-${minor.replace(".", "-")}`);
    const changed = {
      kubernetes: { version },
      workers: { general: { flavor: "k8s-worker", count: 1 } },
    };
    before(async () => {
      await labUp({ kubernetes: version, progress: silentProgress });
      await stack.open();
    });
    after(async () => {
      await stack.cluster.close();
    });
    const ask = (line: string): Promise<string> =>
      kubectlOn(stack.serverOf("control-plane-0"), line).then((text) => text.trim());

    it("starts and works with the controllers of its minor version", async () => {
      await stack.up(changed);
      await stack.prove(1);
      const kubelets = await ask(
        "get nodes -o jsonpath='{.items[*].status.nodeInfo.kubeletVersion}'",
      );
      assert.equal(kubelets, `v${version} v${version}`);
      const images = await ask(
        "-n kube-system get pods -o jsonpath='{.items[*].spec.containers[*].image}'",
      );
      for (const name of ["openstack-cloud-controller-manager", "cinder-csi-plugin"])
        assert.match(images, new RegExp(`/${name}:v${minor.replace(".", "\\.")}\\.`));
    });

    it("has no changes on a second `up`", async () => {
      await stack.up(changed);
      assert.deepEqual(changes(stack.cluster.seen.events), {});
    });

    it("is destroyed without leftovers", async () => {
      await stack.destroyAndLookAround();
    });
  });
