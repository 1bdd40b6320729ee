import type { DecodedEngineEvent } from "../pulumi/events.js";

/*
 * The engine waits until an inline program has ended, and the SDK waits until the program has
 * registered all its resources. After an exception in `apply`, some resources are never registered,
 * so the engine would wait forever. `pulumi up` has no such wait, because the exception ends the
 * process of its program.
 */

/** Time limits of the watch, in milliseconds. */
export interface ProgramWatchLimits {
  /** Time without events and without running resources, after which the run is cancelled. */
  readonly idle: number;
  /** Time between the cancel signal and the kill signal. */
  readonly end: number;
}

export const programWatchLimits: ProgramWatchLimits = { idle: 10_000, end: 10_000 };

/** Time between two checks of the watch, in milliseconds. */
const tickMilliseconds = 1000;

export interface ProgramWatchOptions {
  /** Returns the time of a monotonic clock, in milliseconds. */
  readonly now: () => number;
  /** Stops the engine gracefully: no more work starts. */
  readonly cancel: () => void;
  /** Kills the engine at once. */
  readonly kill: () => void;
  readonly limits?: Partial<ProgramWatchLimits>;
}

/**
 * Ends the engine after an error if nothing else happens. Running resources are never stopped,
 * because each of them has its own time limits.
 */
export class ProgramWatch {
  private readonly limits: ProgramWatchLimits;
  private readonly running = new Set<string>();
  private hasFailed = false;
  private heardAt: number;
  private cancelledAt: number | undefined;
  private isKilled = false;

  constructor(private readonly options: ProgramWatchOptions) {
    this.limits = { ...programWatchLimits, ...options.limits };
    this.heardAt = options.now();
  }

  processEvent(event: DecodedEngineEvent): void {
    this.heardAt = this.options.now();
    switch (event.type) {
      case "started":
        this.running.add(event.change.urn);
        return;
      case "finished":
        this.running.delete(event.change.urn);
        return;
      case "failed":
        this.running.delete(event.change.urn);
        this.hasFailed = true;
        return;
      case "message":
        // A provider may report an error about a resource that it then still creates.
        this.hasFailed ||= event.severity === "error" && !this.running.has(event.urn);
        return;
      default:
    }
  }

  /** Checks whether anything still happens. Must be called about once a second. */
  checkProgram(): void {
    if (!this.hasFailed || this.isKilled || this.running.size > 0) return;
    const now = this.options.now();
    if (this.cancelledAt === undefined) {
      if (now - this.heardAt < this.limits.idle) return;
      this.cancelledAt = now;
      this.options.cancel();
    } else if (now - this.cancelledAt >= this.limits.end) {
      this.isKilled = true;
      this.options.kill();
    }
  }
}

/** Watches the program of one operation until `stop` is called. */
export function watchProgram(options: Omit<ProgramWatchOptions, "now">): {
  readonly watch: ProgramWatch;
  readonly stop: () => void;
} {
  const watch = new ProgramWatch({ ...options, now: () => performance.now() });
  const timer = setInterval(() => {
    watch.checkProgram();
  }, tickMilliseconds);
  return {
    watch,
    stop: () => {
      clearInterval(timer);
    },
  };
}
