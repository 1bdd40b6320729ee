import { EmulatedStack, upMs } from "./emulated-stack.js";
import { Traffic } from "./traffic.js";
import type { Changes } from "../../lab/support/stack.js";

const minutes = 60_000;

export interface Variant {
  /** Name of the stack. */
  readonly name: string;
  readonly settings: Changes;
  /** Whether the pod network enforces policies. Default: it does. */
  readonly policies?: boolean;
  /** What is looked at on the machines once the cluster is up. */
  readonly look?: (stack: EmulatedStack) => Promise<void>;
}

/** Describes a cluster that differs from the defaults in one thing: it comes up, carries traffic, has nothing to do, and goes away. */
export function describeVariant(title: string, variant: Variant): void {
  const { name, settings, policies = true, look } = variant;
  describe(`${title}, on kernels of its own`, function () {
    this.timeout(15 * minutes);
    this.bail(true);
    const stack = new EmulatedStack(name, settings);
    const traffic = new Traffic(stack);
    before(async function () {
      this.timeout(20 * minutes);
      await stack.open();
    });
    after(async () => {
      await stack.close();
    });

    it("comes up and is verified", async function () {
      this.timeout(upMs);
      await stack.up();
    });

    if (look) {
      it("is what it was asked to be", () => look(stack));
    }

    it("carries traffic", async () => {
      await traffic.run();
      await traffic.prove();
    });

    if (policies) {
      it("keeps network policies", () => traffic.provePolicy());
    }

    it("has nothing to do the second time", () => stack.again());

    it("goes away and leaves nothing", () => stack.destroyAndLookAround());
  });
}
