import { createClusterService, type ClusterService } from "../../../automation/cluster-service.js";
import type { OperationEvent } from "../../../automation/engine/operation-events.js";
import type {
  ClusterServiceOptions,
  StopSignals,
  WhichCluster,
} from "../../../automation/engine/operation-options.js";
import type { OperationName, Operations } from "../../../automation/operations/operations.js";

/** Callbacks for the events of an operation, and signals that stop it. */
export interface Listening extends StopSignals {
  readonly onEvent?: ((event: OperationEvent) => void) | undefined;
  readonly onCluster?: ((which: WhichCluster) => void) | undefined;
  /** Called with sentences for the user. A leading `!` marks a warning. */
  readonly onNote?: ((text: string) => void) | undefined;
  /**
   * Receives the title of each step that starts. For each detail of the step, it receives the title
   * and the detail.
   */
  readonly onStep?: ((title: string, detail?: string) => void) | undefined;
}

type Method<Name extends OperationName> = (
  stack: string,
  options?: Operations[Name]["options"] & Listening,
) => Promise<Operations[Name]["result"]>;

/**
 * Cluster service with a method for each operation. The method resolves with the result of the
 * operation.
 */
export type ListeningService = ClusterService & { readonly [Name in OperationName]: Method<Name> };

/** Returns the sentence for the user that an event contains. Returns undefined for other events. */
function sentenceOf(event: OperationEvent): string | undefined {
  if (event.type === "log") return event.urn === undefined ? event.text : undefined;
  if (event.type !== "diagnostic" || event.urn !== undefined) return undefined;
  return { info: event.text, warning: `! ${event.text}`, error: undefined }[event.severity];
}

function hear(event: OperationEvent, { onEvent, onCluster, onNote, onStep }: Listening): void {
  onEvent?.(event);
  if (event.type === "cluster") {
    const { clusters, identities, held, place } = event;
    onCluster?.({ clusters, identities, held, ...(place && { place }) });
  }
  if (event.type === "step" && event.state !== "end") onStep?.(event.title, event.detail);
  const sentence = sentenceOf(event);
  if (sentence !== undefined) onNote?.(sentence);
}

/**
 * Adds a method for each operation. The method starts the operation, passes on its events and waits
 * for its result.
 */
export function withMethods(service: ClusterService): ListeningService {
  const method =
    <Name extends OperationName>(name: Name): Method<Name> =>
    async (stack, options) => {
      const { signal, killSignal, onEvent, onCluster, onNote, onStep, ...rest } = options ?? {};
      const operation = service.start(name, stack, rest);
      const cancel = (): void => {
        operation.cancel();
      };
      if (signal?.aborted === true) cancel();
      signal?.addEventListener("abort", cancel);
      killSignal?.addEventListener("abort", () => {
        operation.cancel({ now: true });
      });
      for await (const event of operation.events())
        hear(event, { onEvent, onCluster, onNote, onStep });
      return operation.result;
    };
  return {
    ...service,
    up: method("up"),
    preview: method("preview"),
    refresh: method("refresh"),
    destroy: method("destroy"),
    unlock: method("unlock"),
  };
}

export const createListeningService = (options: ClusterServiceOptions): ListeningService =>
  withMethods(createClusterService(options));
