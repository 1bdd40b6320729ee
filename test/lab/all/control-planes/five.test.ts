import { Stack } from "../../support/stack/stack.js";

describe("five control planes, on the lab", function () {
  this.timeout(25 * 60_000);
  const stack = new Stack("five");
  const changed = {
    controlPlane: { flavor: "k8s-control-plane", count: 5 },
    endpoint: { kind: "virtual-ip" },
    samples: false,
  };
  before(async () => {
    await stack.open();
  });
  after(async () => {
    await stack.cluster.close();
  });

  it("start in one update, all as members of one etcd", async () => {
    await stack.up(changed);
    await stack.prove(5);
  });

  it("have no changes on a second `up`", async () => {
    await stack.again(changed);
  });

  it("get a replacement for a deleted server", async () => {
    await stack.lose("control-plane-3");
    await stack.up(changed, true);
    await stack.prove(5);
  });

  it("are destroyed without leftovers", async () => {
    await stack.destroyAndLookAround();
  });
});
