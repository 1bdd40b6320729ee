import { randomUUID } from "node:crypto";
import { Failure } from "../../base/failures/failure.js";
import { asCancellation } from "../engine/cancellation.js";
import { StackOperation } from "../engine/operation-context.js";
import { EventStream, type OperationEvent } from "../engine/operation-events.js";
import type { ClusterServiceOptions, RunOptions } from "../engine/operation-options.js";
import { withoutSecrets } from "../pulumi/redact-secrets.js";
import type { OperationName, Operations, OperationTable } from "./operations.js";

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

/** Options of an operation without listeners and signals, which the started operation has. */
export type StartOptions<Name extends OperationName> = Omit<
  Operations[Name]["options"],
  "onCluster" | "onEvent" | "onNote" | "onStage" | "signal" | "killSignal"
>;

type Emit = ConstructorParameters<typeof StackOperation>[3];

/** Returns whether an operation waits for its turn. An `unlock` may end what others wait for. */
const waits = (name: OperationName): boolean => name !== "unlock";

/** Returns the event at the end of an operation that failed. */
const failedEvent = (error: unknown) => {
  const { code, sentence, hint } =
    error instanceof Failure ? error : new Failure("FAILED", String(error));
  return { type: "done", ok: false, error: { code, message: sentence, hint } } as const;
};

/** Runs the operations on one stack one after another, and on different stacks concurrently. */
export class OperationQueue {
  readonly #turns = new Map<string, Promise<unknown>>();
  /** Number of operations on each stack that run or wait. */
  readonly #lengths = new Map<string, number>();

  constructor(
    private readonly service: ClusterServiceOptions,
    private readonly operations: OperationTable,
  ) {}

  /** Runs one request at once. Throws CANCELLED instead of an error that a stop caused. */
  async request<T>(
    stack: string,
    options: RunOptions,
    work: (run: StackOperation) => T | Promise<T>,
    emit?: Emit,
  ): Promise<T> {
    let run: StackOperation | undefined;
    try {
      run = new StackOperation(this.service, stack, options, emit);
      return await work(run);
    } catch (error) {
      throw withoutSecrets(asCancellation(error, options.signal), this.service.env);
    } finally {
      run?.close();
    }
  }

  /** Runs an operation in its turn. */
  perform<Name extends OperationName>(
    name: Name,
    stack: string,
    options: Operations[Name]["options"] & RunOptions,
    emit?: Emit,
  ): Promise<Operations[Name]["result"]> {
    const operation = this.operations[name];
    const work = (run: StackOperation): Promise<Operations[Name]["result"]> =>
      operation(run, options);
    if (!waits(name)) return this.request(stack, options, work, emit);
    return this.inTurn(stack, () =>
      this.request(
        stack,
        options,
        (run) => {
          run.requireNotStopped();
          return work(run);
        },
        emit,
      ),
    );
  }

  /** Starts an operation, and returns at once. */
  start<Name extends OperationName>(
    name: Name,
    stack: string,
    options?: StartOptions<Name>,
  ): StartedOperation<Operations[Name]["result"]> {
    const id = randomUUID();
    const stream = new EventStream({ operation: id, stack });
    const [cancel, kill] = [new AbortController(), new AbortController()];
    const behind = waits(name) ? (this.#lengths.get(stack) ?? 0) : 0;
    stream.add({ type: "queued", name, behind });
    const stops = { signal: cancel.signal, killSignal: kill.signal };
    const emit: Emit = (event) => {
      stream.add(event);
    };
    const result = this.perform(name, stack, { ...options, ...stops }, emit);
    result.then(
      () => {
        stream.add({ type: "done", ok: true });
      },
      (error: unknown) => {
        stream.add(failedEvent(error));
      },
    );
    return {
      id,
      result,
      events: (after) => stream.after(after),
      cancel: ({ now = false } = {}) => {
        cancel.abort();
        if (now) kill.abort();
      },
    };
  }

  private inTurn<T>(stack: string, begin: () => Promise<T>): Promise<T> {
    const count = (more: number): void => {
      this.#lengths.set(stack, (this.#lengths.get(stack) ?? 0) + more);
    };
    count(1);
    const mine = (this.#turns.get(stack) ?? Promise.resolve()).then(begin, begin).finally(() => {
      count(-1);
    });
    this.#turns.set(stack, mine);
    return mine;
  }
}
