import { uptime } from "node:os";

/**
 * Returns the time since this machine was started, in milliseconds. Contains the time in which the
 * machine was suspended, in contrast to `performance.now()` and to timers. A correction of the clock
 * does not change it. Every process of the machine reads the same time.
 */
export const readMachineTime = (): number => uptime() * 1_000;

/** Number of looks at the time during a lease. */
const looks = 100;

/** Permission for a limited time, which ends unless it is renewed. */
export class Lease {
  #from = 0;
  #looking: NodeJS.Timeout | undefined;

  /** @param length length of the lease in milliseconds */
  constructor(
    private readonly length: number,
    private readonly onEnd: () => void,
    private readonly now = readMachineTime,
  ) {}

  /** Begins or renews the lease at a time of {@link readMachineTime}. */
  renew(at: number): void {
    this.#from = at;
    this.#looking ??= setInterval(() => {
      if (this.now() - this.#from < this.length) return;
      this.stop();
      this.onEnd();
    }, this.length / looks);
  }

  /** Stops the lease, so that it does not end. */
  stop(): void {
    clearInterval(this.#looking);
    this.#looking = undefined;
  }
}
