import { z } from "zod";
import type { KnownFacts } from "../../components/support/known-facts.js";
import type { ClusterEvent } from "./events.js";
import type { StackOutputs } from "./state.js";

/** Operations that run in a child process of their own. */
export type OperationName = "up" | "preview" | "refresh" | "destroy";

/** What the parent sends to a child that it began before it knew in what environment and directory it is to run. */
export const placeSchema = z.object({
  type: z.literal("place"),
  env: z.record(z.string(), z.string().optional()),
  cwd: z.string(),
});
export type PlaceMessage = z.infer<typeof placeSchema>;

/** What the parent may send before it knows whether there will be an operation: the child loads what it needs for one meanwhile. */
export const loadSchema = z.object({
  type: z.literal("load"),
  /** Absent: none will be run. */
  program: z.string().optional(),
  /** Of the `pulumi` on the path. Absent: it is asked. */
  engineVersion: z.string().optional(),
});

/** What the parent sends to the child to begin. To hold: the engine has the lock until it is cancelled, and changes nothing. */
export const requestSchema = z.object({
  type: z.literal("start"),
  operation: z.enum(["up", "preview", "refresh", "destroy", "hold"]),
  stack: z.string(),
  project: z.string(),
  /** Where Pulumi.yaml and the stack's settings lie. */
  workDirectory: z.string(),
  /** The module whose export is the program. */
  program: z.string(),
  /** Of the `pulumi` on the path. Absent: it is asked. */
  engineVersion: z.string().optional(),
  /** Whether an `up` tells what the program returned, which is to hold nothing but values and outputs of them. Absent: no. */
  tellsOutputs: z.boolean().optional(),
  /** Whether there was such a stack a moment ago. Absent: the engine is asked. */
  exists: z.boolean().optional(),
  /** What the program need not ask the cloud for. */
  known: z.custom<KnownFacts>().optional(),
  refresh: z.boolean().optional(),
  /** URNs of what a refresh or a preview passes over. */
  exclude: z.array(z.string()).optional(),
  /** URNs of what alone a refresh reads, or a destroy takes away with all that depends on it; the stack stays. Absent: everything. */
  target: z.array(z.string()).optional(),
  parallel: z.number().optional(),
  expectNoChanges: z.boolean().optional(),
});
export type OperationRequest = z.infer<typeof requestSchema>;

/** What the parent may send later: cancel in good order. */
export const cancelMessage = { type: "cancel" } as const;

/** What the child sends. */
export const replySchema = z.discriminatedUnion("type", [
  /** The engine said something; absent when it says nothing to a person. */
  z.object({ type: z.literal("event"), event: z.custom<ClusterEvent>().optional() }),
  /** The engine has the lock. */
  z.object({ type: z.literal("held") }),
  /** What the program found in the cloud. */
  z.object({ type: z.literal("found"), found: z.custom<KnownFacts>() }),
  /** What the program returned: the stack's outputs. */
  z.object({ type: z.literal("outputs"), outputs: z.custom<StackOutputs>() }),
  z.object({ type: z.literal("done") }),
  z.object({
    type: z.literal("failed"),
    kind: z.enum(["locked", "not-found", "killed", "error"]),
    text: z.string(),
  }),
]);
export type Reply = z.infer<typeof replySchema>;
