import { setTimeout as delay } from "node:timers/promises";

/**
 * Calls `check` every two seconds until it returns true. Throws an error with `name` after
 * `boundMs`.
 */
export async function untilTrue(
  name: string,
  boundMs: number,
  check: () => Promise<boolean>,
): Promise<void> {
  const deadline = Date.now() + boundMs;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`not within ${boundMs / 1000} s: ${name}`);
    await delay(2_000);
  }
}
