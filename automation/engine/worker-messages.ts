import { z } from "zod";
import type { DecodedEngineEvent } from "../pulumi/events.js";

/** Operations that run in their own child process. */
export type EngineOperationName = "up" | "preview" | "refresh" | "destroy";

/**
 * Message from the parent with the environment and the directory of an operation. The child was
 * started before the parent knew these values.
 */
export const environmentMessageSchema = z.object({
  type: z.literal("place"),
  env: z.record(z.string(), z.string().optional()),
  cwd: z.string(),
});
export type EnvironmentMessage = z.infer<typeof environmentMessageSchema>;

/**
 * Message from the parent that makes the child load its modules. The parent sends this message
 * early, when it does not know yet whether an operation follows.
 */
export const loadProgramMessageSchema = z.object({
  type: z.literal("load"),
  /** Module of the program. Absent: no program will run. */
  program: z.string().optional(),
});

/**
 * Message from the parent that starts an operation. With `hold`, the engine changes nothing, and
 * holds the lock until the operation is cancelled.
 */
export const operationRequestSchema = z.object({
  type: z.literal("start"),
  operation: z.enum(["up", "preview", "refresh", "destroy", "hold"]),
  stack: z.string(),
  project: z.string(),
  /** Directory with Pulumi.yaml and the stack's settings. */
  workDirectory: z.string(),
  /** Module that exports the program. */
  program: z.string(),
  refresh: z.boolean().optional(),
  /**
   * URNs of resources that a refresh, a preview or a destroy excludes. A destroy also keeps the
   * parents of these resources, and the stack.
   */
  exclude: z.array(z.string()).optional(),
  /**
   * URNs of resources. A refresh reads only these resources. A destroy deletes these resources and
   * all their dependents, but keeps the stack. Absent: all resources.
   */
  target: z.array(z.string()).optional(),
  parallel: z.number().optional(),
  expectNoChanges: z.boolean().optional(),
  /** Heartbeat while the engine holds the lock. Absent: the operation has no owner. */
  heartbeat: z
    .object({
      owner: z.string(),
      /** URL of the state backend. */
      backend: z.string(),
      /** Milliseconds between two heartbeats. */
      interval: z.number(),
      /** Milliseconds between two tries after a failed heartbeat. */
      retry: z.number(),
      /** Milliseconds without a stored heartbeat, after which the engine is killed. */
      lease: z.number(),
    })
    .optional(),
});
export type HeartbeatRequest = NonNullable<OperationRequest["heartbeat"]>;
export type OperationRequest = z.infer<typeof operationRequestSchema>;

/** Message from the parent that cancels the operation gracefully. */
export const cancelMessage = { type: "cancel" } as const;

/** Messages from the child. */
export const workerReplySchema = z.discriminatedUnion("type", [
  /** Event of the engine. Absent if no listener needs the event. */
  z.object({ type: z.literal("event"), event: z.custom<DecodedEngineEvent>().optional() }),
  /** The engine has the lock. */
  z.object({ type: z.literal("held") }),
  /**
   * The lease of an operation with an owner begins or is renewed at this time of the machine (see
   * base/lease.ts). Without a time: there is no lease any more.
   */
  z.object({ type: z.literal("lease"), at: z.number().optional() }),
  z.object({ type: z.literal("done") }),
  z.object({
    type: z.literal("failed"),
    /** `lost`: another operation of the owner may have taken the stack over. */
    kind: z.enum(["locked", "not-found", "killed", "lost", "error"]),
    text: z.string(),
  }),
]);
export type WorkerReply = z.infer<typeof workerReplySchema>;
