import { z } from "zod";
import { inventoryKinds } from "../../openstack/inventory/inventory.js";
import {
  cloudPlaceSchema,
  clusterEventSchema,
  diagnosticEventSchema,
  failureCodeSchema,
  operationEventBodySchema,
  operationEventHeadSchema,
  stepEventSchema,
  whichClusterSchema,
} from "../engine/event-schemas.js";

/*
 * Schemas of the lines that the command line prints with `--json`: events of operations, and lines
 * of the command itself. Only tools and tests load this file.
 */

const id = z.string().describe("ID in OpenStack");
const kind = z
  .enum(inventoryKinds)
  .meta({ id: "objectKind", description: "Kind of object, for example `server` or `floating IP`" });
const fate = z
  .enum(["goes", "stays", "unknown"])
  .describe("Whether the object is deleted. `unknown`: the cluster did not answer");

const plannedObjects = {
  goes: z
    .array(z.object({ kind, id, name: z.string() }))
    .describe(
      "Objects to delete, in the order of deletion, without those in the next three fields",
    ),
  volumes: z
    .array(
      z.object({
        id,
        name: z.string(),
        gigabytes: z.number(),
        claim: z.string().describe("PersistentVolumeClaim as `<namespace>/<name>`, or empty"),
        fate,
      }),
    )
    .describe("Volumes of PersistentVolumes"),
  floatingIps: z
    .array(
      z.object({
        id,
        address: z.string(),
        service: z.string().describe("Service as `<namespace>/<name>`, or empty"),
        fate,
      }),
    )
    .describe("Floating IPs of Services of type LoadBalancer"),
  snapshots: z
    .array(
      z.object({
        id,
        snapshot: z.string().describe("VolumeSnapshot as `<namespace>/<name>`, or empty"),
        volume: z.string().describe("ID of the volume in Cinder, or empty"),
        fate,
      }),
    )
    .describe("Volume snapshots"),
  stays: z
    .array(z.looseObject({ kind, id, name: z.string(), retained: z.literal(true).optional() }))
    .optional()
    .describe("Other objects that are kept. `retained`: because of `retainOnDelete`"),
  others: z
    .array(z.object({ id, name: z.string(), urn: z.string() }))
    .optional()
    .describe("Application credentials of other users, which are kept"),
  hidden: z
    .array(kind)
    .optional()
    .describe("Kinds of objects that the cloud does not let this user list"),
};

export const backendLineSchema = z
  .object({
    type: z.literal("backend"),
    stack: z.string().describe("Name of the stack"),
    url: z.string().describe("URL of the state backend, without its password"),
    chosenBy: z
      .enum(["environment", "project", "login", "default"])
      .describe(
        "What chose the backend: `PULUMI_BACKEND_URL`, `backend.url` in `Pulumi.yaml`, `pulumi login`, or none of them",
      ),
  })
  .meta({
    id: "backend",
    description: "Backend in which the command looks for the stack. First line of the command.",
    examples: [{ type: "backend", stack: "prod", url: "s3://states", chosenBy: "login" }],
  });

export const planLineSchema = z
  .object({
    type: z.literal("plan"),
    ...plannedObjects,
    cluster: z.string().describe("Name of the cluster, or of the first of several clusters"),
    ...whichClusterSchema.shape,
    place: cloudPlaceSchema.describe("Location of the clusters"),
    backend: z.string().describe("URL of the state backend"),
    problem: z.string().optional().describe("Reason why the cluster's API did not answer"),
  })
  .meta({
    id: "plan",
    description: "What `destroy` deletes and keeps. Printed before the operation begins.",
    examples: [
      {
        type: "plan",
        goes: [{ kind: "server", id: "9b1d…", name: "prod-general-0" }],
        volumes: [],
        floatingIps: [],
        snapshots: [],
        cluster: "prod",
        clusters: ["prod"],
        identities: ["0123456789ab"],
        held: true,
        place: { cloud: "example", region: "one", project: { id: "5f2c…", name: "demo" } },
        backend: "s3://states",
      },
    ],
  });

export const locksLineSchema = z
  .object({
    type: z.literal("locks"),
    holders: z.array(z.string()).describe("Texts about the holders of the stack's lock"),
  })
  .meta({
    id: "locks",
    description: "Holders of the lock. Printed only by `unlock`, before the lock is removed.",
    examples: [{ type: "locks", holders: [] }],
  });

export const resultLineSchema = z
  .looseObject({
    type: z.literal("result"),
    ok: z.boolean().describe("Whether the command succeeded"),
  })
  .meta({
    id: "result",
    description:
      "Result of the command. Each command has [further fields](../build/events.md#results-of-the-commands).",
    examples: [{ type: "result", ok: true, changed: 0 }],
  });

export const errorLineSchema = z
  .object({
    type: z.literal("error"),
    code: failureCodeSchema,
    message: z.string().describe("Sentence with the value and the reason"),
    hint: z.string().describe("Next step for the user"),
    urn: z.string().optional().describe("URN of the resource that is the cause"),
    resource: z.string().optional().describe("Logical name of the resource that is the cause"),
  })
  .meta({
    id: "error",
    description: "Last line of a command that failed.",
    examples: [
      {
        type: "error",
        code: "STACK_LOCKED",
        message:
          "Another operation holds this stack: process 12 of ann on this-host, since 2026-01-02T03:04:05Z.",
        hint: "Wait until it ends. If its process no longer exists, `stackadm unlock` removes its lock.",
      },
    ],
  });

/** Every line that a command prints with `--json`. */
export const outputLineSchema = z.union([
  z.intersection(operationEventHeadSchema, operationEventBodySchema),
  // Lines of work that belongs to no operation, for example the download of plugins.
  z.intersection(
    operationEventHeadSchema.pick({ at: true }),
    z.discriminatedUnion("type", [stepEventSchema, diagnosticEventSchema]),
  ),
  z.intersection(operationEventHeadSchema.pick({ stack: true }), clusterEventSchema),
  backendLineSchema,
  planLineSchema,
  locksLineSchema,
  resultLineSchema,
  errorLineSchema,
]);
