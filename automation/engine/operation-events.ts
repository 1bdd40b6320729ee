import type { z } from "zod";
import { getScriptMachineName, type DecodedEngineEvent } from "../pulumi/events.js";
import type {
  Immutable,
  operationEventBodySchema,
  operationEventHeadSchema,
} from "./event-schemas.js";

/** Version of the event format. The version rises if a field changes its meaning. */
export const eventVersion = 1;

/** Content of an event: what happened in an operation. */
export type OperationEventBody = Immutable<z.infer<typeof operationEventBodySchema>>;

/** Event of an operation, with its number in the operation's stream. */
export type OperationEvent = Immutable<z.infer<typeof operationEventHeadSchema>> &
  OperationEventBody;

/** Receives the events of an operation. */
export type OperationEventListener = (event: OperationEventBody) => void;

/** Handle of an operation that runs or waits. */
export interface StartedOperation<Result> {
  readonly id: string;
  /**
   * Returns the events with numbers greater than `after`, up to and including `done`. Default: all
   * events. Several callers can read the stream independently.
   */
  events(after?: number): AsyncIterable<OperationEvent>;
  /**
   * Stops the operation. Running steps finish, and finished changes are kept. With `now`, kills the
   * engine at once, and the next `up` repairs unfinished changes.
   */
  cancel(how?: { readonly now?: boolean }): void;
  /** Result of the operation. Rejects with the error that the event `done` reports. */
  readonly result: Promise<Result>;
}

/** Event about the change of a resource. */
export type ResourceEvent = Extract<OperationEventBody, { type: "resource" }>;

/** Converts a message of the engine to an event. */
function messageEvent(
  message: Extract<DecodedEngineEvent, { type: "message" }>,
): OperationEventBody {
  const { severity, text, code, urn } = message;
  const about = { text, ...(urn !== "" && { urn }) };
  return severity === "info"
    ? { type: "log", ...about }
    : { type: "diagnostic", severity, ...about, ...(code && { code }) };
}

/**
 * Converts an event of the engine to an event of the operation. Returns undefined for outputs and
 * summaries, because the engine's step reports outputs and summaries.
 */
export function convertEngineEvent(event: DecodedEngineEvent): OperationEventBody | undefined {
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
      return { type: "machine", machine: getScriptMachineName(urn, script), script, seconds, urn };
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
 * Events of one operation. The events stay in memory as long as this object exists. Any number of
 * readers may read the stream, each from any event.
 */
export class EventStream {
  readonly #events: OperationEvent[] = [];
  #ended = false;
  /** Functions that wake readers which wait for the next event. */
  #waiting: (() => void)[] = [];

  constructor(
    private readonly head: { readonly operation: string; readonly stack: string },
    private readonly now: () => number = Date.now,
  ) {}

  /** Adds an event. Does nothing after `done`, which is the last event. */
  add(body: OperationEventBody): void {
    if (this.#ended) return;
    const [n, at] = [this.#events.length + 1, new Date(this.now()).toISOString()];
    this.#events.push({ v: eventVersion, ...this.head, n, at, ...body });
    this.#ended = body.type === "done";
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Returns the events with numbers greater than `last`, up to and including `done`. */
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
