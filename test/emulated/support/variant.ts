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
 * Tests a cluster that differs from the defaults in one setting. The cluster must start and carry
 * traffic, a second `up` must change nothing, and the cluster must be destroyed.
 */
export function describeVariant(title: string, variant: Variant): void {
  const { name, settings, policies = true, look } = variant;
  describe(`${title}, with its own kernels`, function () {
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

    it("is created and verified", async function () {
      this.timeout(upMs);
      await stack.up();
    });

    if (look) {
      it("uses the configured feature on its machines", () => look(stack));
    }

    it("carries traffic", async () => {
      await traffic.run();
      await traffic.prove();
    });

    if (policies) {
      it("enforces network policies", () => traffic.provePolicy());
    }

    it("has no changes on a second `up`", () => stack.again());

    it("is destroyed without leftovers", () => stack.destroyAndLookAround());
  });
}
