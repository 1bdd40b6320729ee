import { EmulatedStack, upMs } from "./emulated-stack.js";
import { Traffic } from "./traffic.js";
import type { Changes } from "../../lab/support/stack/stack.js";

const minutes = 60_000;

export interface Variant {
  /** Name of the stack. */
  readonly name: string;
  readonly settings: Changes;
  /** Whether the pod network enforces policies. @default true */
  readonly policies?: boolean;
  /** Checks on the machines after the cluster is up. */
  readonly look?: (stack: EmulatedStack) => Promise<void>;
}

/**
 * Tests a cluster that differs from the defaults in one setting: it starts, carries traffic, has no
 * changes the second time, and is destroyed.
 */
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
