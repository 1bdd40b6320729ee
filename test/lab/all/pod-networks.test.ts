import assert from "node:assert/strict";
import { silent } from "../../../base/progress.js";
import { labAdd } from "../../../lab/lab.js";
import { kubectlOn } from "../support/kubectl.js";
import { changes } from "../support/lab-cluster.js";
import { provePolicy } from "../support/network-policy.js";
import { connectPods } from "../support/pods.js";
import { Stack } from "../support/stack.js";

const minutes = 60_000;

for (const [kind, options] of [
  ["calico", { encapsulation: "vxlan" }],
  ["canal", {}],
] as const)
  describe(`a cluster with ${kind}, on the lab`, function () {
    this.timeout(15 * minutes);
    const stack = new Stack(kind);
    let changed: Record<string, unknown>;
    before(async () => {
      const manifests = await labAdd("calico", { progress: silent });
      changed = { podNetwork: { kind, ...options, manifest: manifests[kind] } };
      await stack.open();
    });
    after(async () => {
      await stack.cluster.close();
    });

    it("has all nodes Ready, and all pods of the system", async () => {
      await stack.up(changed);
      await stack.prove(1);
      const server = stack.serverOf("control-plane-0");
      const pods = await kubectlOn(server, "-n kube-system get pods --no-headers");
      const waiting = pods.split("\n").filter((line) => line !== "" && !/ Running /.test(line));
      assert.deepEqual(waiting, []);
      assert.match(pods, kind === "calico" ? /calico-node-/ : /canal-/);
    });

    it("lets pods reach pods on other machines, services by their names, and the outside", async () => {
      const { registry } = (await stack.cluster.service.spec(kind)).kubernetes;
      assert.ok((await connectPods(stack.serverOf("control-plane-0"), [registry.prefix])) > 0);
    });

    it("keeps out whom a NetworkPolicy does not name, and nobody else", async () => {
      await provePolicy(stack.serverOf("control-plane-0"));
    });

    it("has nothing to do the second time", async () => {
      await stack.up(changed);
      assert.deepEqual(changes(stack.cluster.seen.events), {});
    });

    it("goes away and leaves nothing", async () => {
      await stack.destroyAndLookAround();
    });
  });
