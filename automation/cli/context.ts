import { createClusterService, type ClusterService } from "../cluster/cluster-service.js";
import type { RunOptions } from "../cluster/options.js";
import { readStackFile } from "../cluster/workspace.js";
import { RunView } from "../render/run-view.js";
import { prepareSurroundings, type Surroundings } from "../setup/surroundings.js";
import type { Session } from "./session.js";
import { packageRoot } from "../../base/paths.js";

/** What a command about one stack works with. */
export interface StackContext {
  readonly stack: string;
  readonly session: Session;
  readonly surroundings: Surroundings;
  readonly service: ClusterService;
}

/** Prepares everything for a command about `stack`, runs it and cleans up. */
export async function withStack<T>(
  session: Session,
  stack: string,
  work: (context: StackContext) => Promise<T>,
): Promise<T> {
  readStackFile(packageRoot(), stack);
  const surroundings = await prepareSurroundings({
    progress: session.progress,
    signal: session.signal,
  });
  try {
    const service = createClusterService({ env: surroundings.env, backend: surroundings.backend });
    return await work({ stack, session, surroundings, service });
  } finally {
    await surroundings.close();
  }
}

/** How a stop reaches the service. */
export const stops = ({ session }: StackContext): Pick<RunOptions, "signal" | "killSignal"> => ({
  signal: session.signal,
  killSignal: session.killSignal,
});

/** What a person sees of a run of the service. */
export const viewOf = ({ session, stack }: StackContext, direction: "up" | "destroy"): RunView =>
  new RunView({
    progress: session.progress,
    redactor: session.redactor,
    direction,
    stack,
    emit: (fields) => {
      session.emit(fields);
    },
  });
