import assert from "node:assert/strict";
import { EmulatedStack } from "./support/emulated-stack.js";

const minutes = 60_000;
/** Ends `up` where the machine is ready for kubeadm: what follows takes emulated processors too long for each change. */
const steps = { beforeKubeadm: "case $(uname -r) in *cloud-amd64) exit 77 ;; *) exit 1 ;; esac" };

describe("a machine of Debian 12 with a kernel of its own", function () {
  this.timeout(15 * minutes);
  this.bail(true);
  const stack = new EmulatedStack("kernel", {
    topology: "single",
    image: "debian-12-emulated",
    externalNetwork: "public",
    allowedCidrs: ["172.29.0.0/16"],
    controlPlane: { flavor: "k8s-worker", steps },
  });
  before(async function () {
    // The first time on this host, the images are built.
    this.timeout(30 * minutes);
    await stack.open();
  });
  after(() => stack.close());

  it("boots and is prepared for Kubernetes by the default settings", async () => {
    await assert.rejects(stack.up(), /steps\.beforeKubeadm ended with code 77/);
  });

  it("goes away and leaves nothing", () => stack.destroyAndLookAround());
});
