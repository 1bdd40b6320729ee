/** Volume snapshots: CRDs, controller, and VolumeSnapshotClass (pure functions). */
import {
  buildRbacObjects,
  leaderElectionRule,
  leaderElectionTimes,
  watchVerbs,
  buildRbacRule,
  writeEventsRule,
  type RbacObjects,
} from "../../kubernetes-objects/rbac.js";
import { restrictedSecurityContext, buildDeployment, getSystemPodSettings } from "./deployment.js";
import { addContainerDefaults, type Taint } from "../../kubernetes-objects/pod-settings.js";
import { cinderDriverName } from "./storage-class.js";
import type {
  CustomResourceDefinition,
  Deployment,
  JsonSchema,
  PolicyRule,
} from "../../kubernetes-objects/kubernetes-types.js";

const name = "snapshot-controller";
const group = "snapshot.storage.k8s.io";

const text: JsonSchema = { type: "string" };
const truth: JsonSchema = { type: "boolean" };
const time: JsonSchema = { type: "string", format: "date-time" };
const count: JsonSchema = { type: "integer", format: "int64" };
const object = (properties: Record<string, JsonSchema>, required?: string[]): JsonSchema => ({
  type: "object",
  properties,
  ...(required && { required }),
});
/**
 * Returns the schema of an object with exactly one of the fields in `properties`. The object is
 * immutable.
 */
const source = (properties: Record<string, JsonSchema>): JsonSchema => ({
  ...object(properties),
  minProperties: 1,
  maxProperties: 1,
  x_kubernetes_validations: [{ rule: "self == oldSelf", message: "the source is immutable" }],
});
const policy: JsonSchema = { type: "string", enum: ["Delete", "Retain"] };
const error = object({ message: text, time });

interface Kind {
  readonly kind: string;
  readonly shortNames: string[];
  readonly namespaced: boolean;
  readonly schema: JsonSchema;
  /** Columns of `kubectl get`. Each column consists of title, JSON path and type. */
  readonly columns: readonly (readonly [string, string, string])[];
}

/**
 * Kinds of the API group snapshot.storage.k8s.io in version v1.
 * Source: external-snapshotter 8, client/apis/volumesnapshot/v1.
 */
const kinds: readonly Kind[] = [
  {
    kind: "VolumeSnapshotClass",
    shortNames: ["vsclass", "vsclasses"],
    namespaced: false,
    schema: object(
      {
        driver: text,
        deletionPolicy: policy,
        parameters: { type: "object", additionalProperties: text },
      },
      ["driver", "deletionPolicy"],
    ),
    columns: [
      ["Driver", ".driver", "string"],
      ["DeletionPolicy", ".deletionPolicy", "string"],
    ],
  },
  {
    kind: "VolumeSnapshot",
    shortNames: ["vs"],
    namespaced: true,
    schema: object(
      {
        spec: object(
          {
            source: source({ persistentVolumeClaimName: text, volumeSnapshotContentName: text }),
            volumeSnapshotClassName: { ...text, minLength: 1 },
          },
          ["source"],
        ),
        status: object({
          boundVolumeSnapshotContentName: text,
          creationTime: time,
          readyToUse: truth,
          restoreSize: { x_kubernetes_int_or_string: true },
          error,
          volumeGroupSnapshotName: text,
        }),
      },
      ["spec"],
    ),
    columns: [
      ["ReadyToUse", ".status.readyToUse", "boolean"],
      ["SourcePVC", ".spec.source.persistentVolumeClaimName", "string"],
      ["RestoreSize", ".status.restoreSize", "string"],
      ["SnapshotClass", ".spec.volumeSnapshotClassName", "string"],
      ["SnapshotContent", ".status.boundVolumeSnapshotContentName", "string"],
    ],
  },
  {
    kind: "VolumeSnapshotContent",
    shortNames: ["vsc", "vscs"],
    namespaced: false,
    schema: object(
      {
        spec: object(
          {
            deletionPolicy: policy,
            driver: text,
            source: source({ snapshotHandle: text, volumeHandle: text }),
            sourceVolumeMode: text,
            volumeSnapshotClassName: text,
            volumeSnapshotRef: object(
              Object.fromEntries(
                [
                  "apiVersion",
                  "fieldPath",
                  "kind",
                  "name",
                  "namespace",
                  "resourceVersion",
                  "uid",
                ].map((key) => [key, text]),
              ),
            ),
          },
          ["deletionPolicy", "driver", "source", "volumeSnapshotRef"],
        ),
        status: object({
          creationTime: count,
          readyToUse: truth,
          restoreSize: { ...count, minimum: 0 },
          snapshotHandle: text,
          error,
          volumeGroupSnapshotHandle: text,
        }),
      },
      ["spec"],
    ),
    columns: [
      ["ReadyToUse", ".status.readyToUse", "boolean"],
      ["RestoreSize", ".status.restoreSize", "integer"],
      ["DeletionPolicy", ".spec.deletionPolicy", "string"],
      ["Driver", ".spec.driver", "string"],
      ["VolumeSnapshot", ".spec.volumeSnapshotRef.name", "string"],
    ],
  },
];

/** Returns pairs of the plural name of a snapshot kind and its CRD. */
export const buildSnapshotCrds = (): readonly (readonly [string, CustomResourceDefinition])[] =>
  kinds.map(({ kind, shortNames, namespaced, schema, columns }) => {
    const singular = kind.toLowerCase();
    const plural = singular.endsWith("s") ? `${singular}es` : `${singular}s`;
    return [
      plural,
      {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: {
          name: `${plural}.${group}`,
          // The API server requires this annotation, with the URL of the approval, for groups of
          // *.k8s.io.
          annotations: {
            "api-approved.kubernetes.io":
              "https://github.com/kubernetes-csi/external-snapshotter/pull/814",
          },
        },
        spec: {
          group,
          scope: namespaced ? "Namespaced" : "Cluster",
          names: { kind, listKind: `${kind}List`, plural, singular, shortNames },
          versions: [
            {
              name: "v1",
              served: true,
              storage: true,
              schema: { openAPIV3Schema: schema },
              ...("status" in (schema.properties as object) && { subresources: { status: {} } }),
              additionalPrinterColumns: [
                ...columns.map(([title, jsonPath, type]) => ({ name: title, jsonPath, type })),
                { name: "Age", jsonPath: ".metadata.creationTimestamp", type: "date" },
              ],
            },
          ],
        },
      },
    ];
  });

const classes = buildRbacRule(group, ["volumesnapshotclasses"], watchVerbs);
const changing = ["create", ...watchVerbs, "update", "patch", "delete"];

/** Permissions of the CSI sidecars that create snapshots and create volumes from snapshots. */
export const snapshotterRules: readonly PolicyRule[] = [
  classes,
  buildRbacRule(group, ["volumesnapshots"], ["get", "list"]),
  buildRbacRule(group, ["volumesnapshotcontents"], [...watchVerbs, "update", "patch"]),
  buildRbacRule(group, ["volumesnapshotcontents/status"], ["update", "patch"]),
];

export function buildSnapshotControllerRbac(): RbacObjects {
  return buildRbacObjects({
    account: name,
    cluster: [
      buildRbacRule("", ["persistentvolumes"], watchVerbs),
      buildRbacRule("", ["persistentvolumeclaims"], [...watchVerbs, "update"]),
      classes,
      buildRbacRule(group, ["volumesnapshots", "volumesnapshotcontents"], changing),
      buildRbacRule(
        group,
        ["volumesnapshots/status", "volumesnapshotcontents/status"],
        ["update", "patch"],
      ),
      { ...writeEventsRule, verbs: ["list", "watch", ...writeEventsRule.verbs] },
    ],
    namespace: [leaderElectionRule],
  });
}

/**
 * Returns the Deployment of the controller that binds each VolumeSnapshot to a
 * VolumeSnapshotContent. This controller does not call OpenStack.
 */
export function buildSnapshotController(
  image: string,
  awaited?: boolean,
  controlPlaneTaints?: readonly Taint[],
): Deployment {
  const { lease, renew, retry } = leaderElectionTimes;
  return buildDeployment({
    name,
    awaited,
    strategy: { type: "Recreate" },
    pod: {
      ...getSystemPodSettings(controlPlaneTaints),
      securityContext: { runAsNonRoot: true, runAsUser: 65532 },
      containers: [
        addContainerDefaults({
          name,
          image,
          args: [
            "--v=2",
            "--leader-election=true",
            `--leader-election-lease-duration=${lease.toString()}s`,
            `--leader-election-renew-deadline=${renew.toString()}s`,
            `--leader-election-retry-period=${retry.toString()}s`,
          ],
          resources: { requests: { cpu: "10m", memory: "20Mi" } },
          securityContext: restrictedSecurityContext,
        }),
      ],
    },
  });
}

/**
 * Returns the default VolumeSnapshotClass. `force-create` allows snapshots of attached volumes.
 * Such a snapshot contains the data that the volume would contain after a power failure.
 */
export const buildSnapshotClass = () => ({
  apiVersion: `${group}/v1`,
  kind: "VolumeSnapshotClass",
  metadata: {
    name: "cinder",
    annotations: { "snapshot.storage.kubernetes.io/is-default-class": "true" },
  },
  driver: cinderDriverName,
  deletionPolicy: "Delete",
  parameters: { "force-create": "true" },
});
