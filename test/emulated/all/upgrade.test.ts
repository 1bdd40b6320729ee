import assert from "node:assert/strict";
import { silentProgress } from "../../../base/progress.js";
import { kubernetesMinors, supportedMinors } from "../../../base/versions/pinned-versions.js";
import { labUp } from "../../../packages/lab/lab.js";
import { EmulatedStack, onePlusOne, upMs } from "../support/emulated-stack.js";
import { Traffic } from "../support/traffic.js";

const minutes = 60_000;
const [newest, former] = supportedMinors.map((minor) => kubernetesMinors[minor]);
assert.ok(newest && former);

describe(`a cluster that upgrades from Kubernetes ${former.version} to ${newest.version}, with its own kernels`, function () {
  this.timeout(15 * minutes);
  this.bail(true);
  const stack = new EmulatedStack("minor", onePlusOne());
  const traffic = new Traffic(stack);
  const of = (version: string) => ({ kubernetes: { version } });
  const kubelets = async (): Promise<string[]> => {
    const words = "get nodes -o jsonpath='{.items[*].status.nodeInfo.kubeletVersion}'";
    return [...new Set((await stack.kubectl(words)).trim().split(" "))];
  };
  before(async function () {
    this.timeout(60 * minutes);
    // Starts the lab with a package repository that contains both versions.
    await labUp({ kubernetes: former.version, progress: silentProgress });
    await stack.open();
  });
  after(async () => {
    await stack.close();
  });

  it("starts with the former minor version", async function () {
    this.timeout(upMs);
    await stack.up(of(former.version));
    assert.deepEqual(await kubelets(), [`v${former.version}`]);
    await traffic.run();
  });

  it("upgrades to the newest minor version on the same servers", async function () {
    this.timeout(upMs);
    const servers = ["control-plane-0", "general-0"].map((name) => stack.serverOf(name));
    await stack.up(of(newest.version));
    assert.deepEqual(await kubelets(), [`v${newest.version}`]);
    const now = ["control-plane-0", "general-0"].map((name) => stack.serverOf(name));
    assert.deepEqual(now, servers);
    await traffic.ready();
    await traffic.prove();
  });

  it("has no changes on a second `up`", () => stack.again(of(newest.version)));

  it("is destroyed without leftovers", () => stack.destroyAndLookAround());
});
