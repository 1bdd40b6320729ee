import { RemoteEngineLog } from "../plugin/engine-log.js";
import type { Severity } from "../plugin/engine-log.js";

export type { Severity };

/** Receiver of messages about resources. */
export interface ResourceMessageLog {
  /** Sends a diagnostic that remains visible. */
  log(severity: Severity, urn: string, message: string): void;
  /** Shows the current state of a resource until the next call. An empty text removes the state. */
  status(severity: Severity, urn: string, message: string): void;
  /** Waits until the engine has received all messages. */
  flush(): Promise<void>;
}

/** Returns a log that sends messages to the engine at `address` (host:port), in order. */
export function createEngineLog(address: string): ResourceMessageLog {
  const engine = new RemoteEngineLog(address);
  return {
    log: (severity, urn, text) => {
      engine.send({ severity, urn, text });
    },
    status: (severity, urn, text) => {
      engine.send({ severity, urn, text, ephemeral: true });
    },
    flush: () => engine.flush(),
  };
}

/** Log of one operation on one resource. It shows each status only once. */
export class ResourceLog {
  private readonly shown = new Set<string>();

  constructor(
    private readonly log: ResourceMessageLog,
    private readonly urn: string,
  ) {}

  status(severity: Severity, message: string): void {
    const key = `${severity} ${message}`;
    if (this.shown.has(key)) return;
    this.shown.add(key);
    this.log.status(severity, this.urn, message);
  }

  clear(): void {
    this.log.status("info", this.urn, "");
  }

  keep(severity: Severity, message: string): void {
    this.log.log(severity, this.urn, message);
  }

  flush(): Promise<void> {
    return this.log.flush();
  }
}
