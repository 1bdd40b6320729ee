import type { FailureCode } from "../../base/failures/failure-codes.js";
import { machineOf, type ClusterEvent } from "../pulumi/events.js";
import type { WhichCluster } from "./operation-options.js";

/** Version of the events. It rises if a field changes its meaning. */
export const eventVersion = 1;

/** What happened in an operation. */
export type OperationEventBody =
  /** The operation waits for its turn. */
  | {
      readonly type: "queued";
      /** Name of the operation. */
      readonly name: string;
      /** Number of operations on this stack that run first. */
      readonly behind: number;
    }
  /** The stack's clusters, once, before any change. */
  | ({ readonly type: "cluster" } & WhichCluster)
  | {
      readonly type: "step";
      readonly state: "begin" | "progress" | "end";
      /** Title of the step. */
      readonly title: string;
      /** Measured seconds of the step. Absent: not measured. Only with `begin`. */
      readonly expectedSeconds?: number;
      /** Present work in the step. Only with `progress`. */
      readonly detail?: string;
      /** Only with `end`. */
      readonly outcome?: "done" | "failed";
      /** Duration of the step. Only with `end`. */
      readonly seconds?: number;
    }
  /** Sign of life of a machine: a script has run on it for `seconds`. */
  | {
      readonly type: "machine";
      readonly machine: string;
      readonly script: string;
      readonly seconds: number;
      readonly urn: string;
    }
  | {
      readonly type: "resource";
      readonly state: "started" | "finished" | "failed" | "unchanged";
      readonly urn: string;
      readonly name: string;
      readonly kind: string;
      /** Pulumi's name of the change: create, update, delete, replace, ... */
      readonly change: string;
    }
  /** Line of output: of a script or a provider (with `urn`), or of the program. */
  | { readonly type: "log"; readonly text: string; readonly urn?: string }
  /** Sentence for the user. */
  | {
      readonly type: "diagnostic";
      readonly severity: "info" | "warning" | "error";
      readonly text: string;
      readonly code?: FailureCode;
      readonly urn?: string;
    }
  /** The last event. */
  | {
      readonly type: "done";
      readonly ok: boolean;
      readonly error?: {
        readonly code: FailureCode;
        readonly message: string;
        readonly hint: string;
      };
    };

/** Event of one operation, with its place in the operation's stream. */
export type OperationEvent = {
  readonly v: typeof eventVersion;
  /** ID of the operation. */
  readonly operation: string;
  /** Number of the event in the operation: 1, 2, ... */
  readonly n: number;
  /** Time in the form of ISO 8601. */
  readonly at: string;
  readonly stack: string;
} & OperationEventBody;

/** Receives the events of an operation. */
export type EmitEvent = (event: OperationEventBody) => void;

/** Operation that has begun, or waits for its turn. */
export interface StartedOperation<Result> {
  readonly id: string;
  /**
   * Returns the events after the event with number `after`, up to `done`. Default: all events. Each
   * call reads the stream by itself.
   */
  events(after?: number): AsyncIterable<OperationEvent>;
  /**
   * Stops the operation: running steps finish, and what was done is kept. With `now`, kills the
   * engine at once; the next `up` repairs what is unfinished.
   */
  cancel(how?: { readonly now?: boolean }): void;
  /** Result of the operation. Rejects with the same error that `done` reports. */
  readonly result: Promise<Result>;
}

/** Change of a resource, as an event reports it. */
export type ResourceEvent = Extract<OperationEventBody, { type: "resource" }>;

/** Returns the event for a message of the engine. */
function messageEvent(message: Extract<ClusterEvent, { type: "message" }>): OperationEventBody {
  const { severity, text, code, urn } = message;
  const about = { text, ...(urn !== "" && { urn }) };
  return severity === "info"
    ? { type: "log", ...about }
    : { type: "diagnostic", severity, ...about, ...(code && { code }) };
}

/** Returns the event for an event of the engine; undefined for what the engine's step reports. */
export function engineEvent(event: ClusterEvent): OperationEventBody | undefined {
  switch (event.type) {
    case "started":
    case "finished":
    case "failed":
    case "unchanged": {
      const { urn, name, type: kind, operation: change } = event.change;
      return { type: "resource", state: event.type, urn, name, kind, change };
    }
    case "alive": {
      const { urn, step: script, seconds } = event;
      return { type: "machine", machine: machineOf(urn, script), script, seconds, urn };
    }
    case "log":
      return { type: "log", urn: event.urn, text: event.text };
    case "message":
      return messageEvent(event);
    case "outputs":
    case "summary":
      return undefined;
  }
}

/**
 * Events of one operation, kept in memory as long as the operation object. Any number of readers
 * may follow the stream, each from any event on.
 */
export class EventStream {
  readonly #events: OperationEvent[] = [];
  #ended = false;
  /** Readers that wait for the next event. */
  #waiting: (() => void)[] = [];

  constructor(
    private readonly head: { readonly operation: string; readonly stack: string },
    private readonly now: () => number = Date.now,
  ) {}

  /** Adds an event, unless the stream has ended: `done` is the last event. */
  add(body: OperationEventBody): void {
    if (this.#ended) return;
    const [n, at] = [this.#events.length + 1, new Date(this.now()).toISOString()];
    this.#events.push({ v: eventVersion, ...this.head, n, at, ...body });
    this.#ended = body.type === "done";
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Returns the events after the event with number `last`, up to `done`. */
  async *after(last = 0): AsyncGenerator<OperationEvent, void, undefined> {
    for (let next = last; ; next += 1) {
      while (next >= this.#events.length) {
        if (this.#ended) return;
        await new Promise<void>((wake) => this.#waiting.push(wake));
      }
      const event = this.#events[next];
      if (event) yield event;
    }
  }
}
