import { randomUUID } from "node:crypto";
import { Failure } from "../../base/failures/failure.js";
import { convertAbortError, getAbortFailure } from "../../base/failures/cancellation.js";
import { StackOperation } from "../engine/operation-context.js";
import {
  EventStream,
  type OperationEventListener,
  type StartedOperation,
} from "../engine/operation-events.js";
import type { ServiceOptions, RunOptions, StopSignals } from "../engine/operation-options.js";
import { findDroppedVariables } from "../pulumi/engine-environment.js";
import { redactError, type Redactor } from "../../base/terminal/redact-secrets.js";
import { createServiceRedactor } from "../engine/service-redactor.js";
import type { OperationName, Operations, OperationTable } from "./operations.js";

/**
 * Returns whether an operation waits for earlier operations on its stack. `unlock` does not wait,
 * because it may remove the lock for which earlier operations wait.
 */
const waits = (name: OperationName): boolean => name !== "unlock";

/** Warns about variables of the user's environment that Pulumi does not get. */
function reportDroppedVariables(run: StackOperation): void {
  const names = findDroppedVariables(run.service.env);
  if (names.length > 0)
    run.warn(
      `Not passed on to Pulumi: ${names.join(", ")}. Variables of Pulumi that change what an operation does have no effect here: unset them, or use another name for a variable of your program.`,
    );
}

/** Returns the last event (`done`) of an operation that failed. */
const failedEvent = (error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  const { code, sentence, hint } =
    error instanceof Failure ? error : new Failure("FAILED", message);
  return { type: "done", ok: false, error: { code, message: sentence, hint } } as const;
};

interface RequestOutput {
  readonly emit?: OperationEventListener;
  /** Secrets that the error must not contain. Default: the secrets of the service. */
  readonly redactor?: Redactor;
}

/** Turns of one stack. */
interface Turns {
  /** Ends with the last operation of the stack, and never rejects. */
  end: Promise<void>;
  /** Number of operations that run or wait. */
  length: number;
}

/** Waits for the end of earlier operations. Throws CANCELLED as soon as the signal is aborted. */
async function awaitTurn(earlier: Promise<void>, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => {
      resolve();
    });
    void earlier.then(resolve);
  });
  if (signal.aborted) throw getAbortFailure(signal);
}

/**
 * Runs operations on the same stack one after another, and operations on different stacks
 * concurrently.
 */
export class OperationQueue {
  /** Turns of the stacks on which operations run or wait. */
  readonly #turns = new Map<string, Turns>();

  constructor(
    private readonly service: ServiceOptions,
    private readonly operations: OperationTable,
  ) {}

  /**
   * Runs one request at once, without the queue. If a stop request caused an error, throws
   * CANCELLED instead of this error.
   */
  async request<T>(
    stack: string,
    options: RunOptions & StopSignals,
    work: (run: StackOperation) => T | Promise<T>,
    { emit, redactor = createServiceRedactor(this.service.env) }: RequestOutput = {},
  ): Promise<T> {
    let run: StackOperation | undefined;
    try {
      run = new StackOperation(this.service, stack, { ...options, redactor }, emit);
      return await work(run);
    } catch (error) {
      throw redactError(convertAbortError(error, options.signal), redactor);
    } finally {
      run?.close();
    }
  }

  /** Starts an operation, or queues it behind earlier operations on the stack. Returns at once. */
  start<Name extends OperationName>(
    name: Name,
    stack: string,
    options: Operations[Name]["options"] = {},
  ): StartedOperation<Operations[Name]["result"]> {
    const id = randomUUID();
    const stream = new EventStream({ operation: id, stack });
    const [cancel, kill] = [new AbortController(), new AbortController()];
    const stops: StopSignals = { signal: cancel.signal, killSignal: kill.signal };
    const redactor = createServiceRedactor(this.service.env);
    const emit: OperationEventListener = (event) => {
      stream.add(redactor.cleanFields(event));
    };
    const perform = (): Promise<Operations[Name]["result"]> =>
      this.request(
        stack,
        { ...options, ...stops },
        (run) => {
          run.requireNotStopped();
          reportDroppedVariables(run);
          if (run.connection.advice !== undefined) run.note(run.connection.advice);
          return this.operations[name](run, options);
        },
        { emit, redactor },
      );
    emit({ type: "queued", name, behind: waits(name) ? (this.#turns.get(stack)?.length ?? 0) : 0 });
    const result = waits(name) ? this.inTurn(stack, perform, cancel.signal) : perform();
    result.then(
      () => {
        emit({ type: "done", ok: true });
      },
      (error: unknown) => {
        emit(failedEvent(error));
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

  /**
   * Runs an operation after the earlier operations on its stack. An operation that is stopped while
   * it waits ends at once. Keeps no result, because results contain secrets.
   */
  private inTurn<T>(stack: string, begin: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const turns = this.#turns.get(stack) ?? { end: Promise.resolve(), length: 0 };
    this.#turns.set(stack, turns);
    const earlier = turns.end;
    const result = awaitTurn(earlier, signal).then(begin);
    const leave = (): void => {
      turns.length -= 1;
      if (turns.length === 0) this.#turns.delete(stack);
    };
    turns.length += 1;
    const ended = result.then(leave, leave);
    turns.end = earlier.then(() => ended);
    return result;
  }
}
