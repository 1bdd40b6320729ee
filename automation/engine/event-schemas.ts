import { z } from "zod";
import { failureCodes } from "../../base/failures/failure-codes.js";

/*
 * Schemas of the events of operations. The types of the events, docs/events.schema.json and
 * docs/reference/events.md are derived from these schemas. Only tools and tests load this file: the
 * command line imports its types.
 */

/** Type of a value that nobody changes: all fields and lists are read-only. */
export type Immutable<T> = { readonly [Key in keyof T]: Immutable<T[Key]> };

const urn = z.string().describe("URN of the resource in Pulumi");

export const failureCodeSchema = z
  .enum(failureCodes)
  .meta({ id: "failureCode", description: "[Failure code](failures.md)" });

export const cloudPlaceSchema = z.object({
  cloud: z
    .string()
    .describe("Name of the cloud in clouds.yaml. Without such a name: URL of Keystone"),
  region: z.string().describe("Name of the region. Empty if the cloud has no regions"),
  project: z
    .object({
      id: z.string(),
      name: z.string().describe("Empty if Keystone does not return the name"),
    })
    .describe("Project"),
});

const whichClusterFields = {
  clusters: z
    .array(z.string())
    .describe("Names of the clusters in the state. If there are none, the name in the settings"),
  identities: z
    .array(z.string())
    .describe(
      "Identities of the clusters, with 12 hexadecimal digits each. Empty if the clusters do not exist yet, or if an early release created the clusters",
    ),
  held: z.boolean().describe("Whether the state contains any resource"),
  place: cloudPlaceSchema
    .optional()
    .describe(
      "Location of the clusters. Absent if the operation has not signed in, or if the cloud does not answer",
    ),
};

export const whichClusterSchema = z.object(whichClusterFields);

export const queuedEventSchema = z
  .object({
    type: z.literal("queued"),
    name: z.string().describe("Name of the operation"),
    behind: z.int().describe("Number of earlier operations on this stack that have not ended"),
  })
  .meta({
    id: "queued",
    description: "The operation was accepted, and waits for earlier operations on the stack.",
    examples: [{ type: "queued", name: "up", behind: 0 }],
  });

export const clusterEventSchema = z
  .object({ type: z.literal("cluster"), ...whichClusterFields })
  .meta({
    id: "cluster",
    description: "Clusters of the stack. Sent once, before any change.",
    examples: [
      {
        type: "cluster",
        clusters: ["prod"],
        identities: ["0123456789ab"],
        held: true,
        place: { cloud: "example", region: "one", project: { id: "5f2c…", name: "demo" } },
      },
    ],
  });

export const stepEventSchema = z
  .object({
    type: z.literal("step"),
    state: z.enum(["begin", "progress", "end"]).describe("Whether the step begins, runs or ends"),
    title: z.string().describe("Title of the step"),
    expectedSeconds: z
      .number()
      .optional()
      .describe("Measured duration of the step. Only with `begin`. Absent: not measured"),
    detail: z
      .string()
      .optional()
      .describe("Current work in the step, or a remark at its end. Absent with `begin`"),
    outcome: z.enum(["done", "failed"]).optional().describe("Result of the step. Only with `end`"),
    seconds: z.number().optional().describe("Duration of the step. Only with `end`"),
  })
  .meta({
    id: "step",
    description: "A [step](steps.md) begins, proceeds or ends.",
    examples: [
      {
        type: "step",
        state: "end",
        title: "Check whether the cluster fits into the cloud",
        outcome: "done",
        seconds: 0.4,
      },
    ],
  });

export const machineEventSchema = z
  .object({
    type: z.literal("machine"),
    machine: z.string().describe("Name of the machine"),
    script: z.string().describe("Name of the script"),
    seconds: z.number().describe("Time since the start of the script"),
    urn,
  })
  .meta({
    id: "machine",
    description: "A script still runs on a machine.",
    examples: [
      {
        type: "machine",
        machine: "prod-workers-general-0",
        script: "join",
        seconds: 10,
        urn: "urn:pulumi:prod::stackadm::stackadm:index:Cluster$stackadm:kubeadm:WorkerPool$command:remote:Command::prod-workers-general-0-join",
      },
    ],
  });

export const resourceEventSchema = z
  .object({
    type: z.literal("resource"),
    state: z
      .enum(["started", "finished", "failed", "unchanged"])
      .describe("Whether the engine begins or has ended the change"),
    urn,
    name: z.string().describe("Logical name of the resource"),
    kind: z.string().describe("Type of the resource, without the package"),
    change: z
      .string()
      .describe(
        "Pulumi's word for the change, for example `create`, `update`, `delete` or `replace`",
      ),
  })
  .meta({
    id: "resource",
    description: "The engine begins or ends the change of a resource.",
    examples: [
      {
        type: "resource",
        state: "finished",
        urn: "urn:pulumi:prod::stackadm::stackadm:index:Cluster$stackadm:network:Network$openstack:networking/network:Network::prod-network-network",
        name: "prod-network-network",
        kind: "Network",
        change: "create",
      },
    ],
  });

export const logEventSchema = z
  .object({
    type: z.literal("log"),
    text: z.string().describe("Line of output"),
    urn: urn.optional().describe("URN of the resource. Absent: the program printed the line"),
  })
  .meta({
    id: "log",
    description: "A script, a provider or the Pulumi program printed a line.",
    examples: [{ type: "log", text: "[init] Using Kubernetes version: v1.36.3" }],
  });

export const diagnosticEventSchema = z
  .object({
    type: z.literal("diagnostic"),
    severity: z.enum(["info", "warning", "error"]).describe("How important the message is"),
    text: z.string().describe("Sentence for the user"),
    code: failureCodeSchema.optional(),
    urn: urn.optional().describe("URN of the resource that the message is about"),
  })
  .meta({
    id: "diagnostic",
    description: "A message about a repair, a warning, or an error of the engine.",
    examples: [
      {
        type: "diagnostic",
        severity: "info",
        text: "Deleting the server 'prod-general-0' that an interrupted run left.",
      },
    ],
  });

export const doneEventSchema = z
  .object({
    type: z.literal("done"),
    ok: z.boolean().describe("Whether the operation succeeded"),
    error: z
      .object({ code: failureCodeSchema, message: z.string(), hint: z.string() })
      .optional()
      .describe("Reason of the failure. Absent if `ok` is true"),
  })
  .meta({
    id: "done",
    description: "End of the operation. No event follows.",
    examples: [{ type: "done", ok: true }],
  });

/** Content of an event: what happened in an operation. */
export const operationEventBodySchema = z.discriminatedUnion("type", [
  queuedEventSchema,
  clusterEventSchema,
  stepEventSchema,
  machineEventSchema,
  resourceEventSchema,
  logEventSchema,
  diagnosticEventSchema,
  doneEventSchema,
]);

/** Fields that every event of an operation has. */
export const operationEventHeadSchema = z
  .object({
    v: z.literal(1).describe("Version of the format"),
    operation: z.string().describe("ID of the operation"),
    n: z.int().describe("Number of the event in the operation, from 1"),
    at: z.string().describe("Time in ISO 8601 format"),
    stack: z.string().describe("Name of the stack"),
  })
  .meta({ id: "head", description: "Fields of every event of an operation." });
