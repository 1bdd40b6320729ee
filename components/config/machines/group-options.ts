import { z } from "zod";
import { cloudInitSchema, userScriptsSchema, type UserScripts } from "./user-scripts.js";
import type { VolumeSpecs } from "./volumes.js";
import {
  ipv4AddressField,
  doc,
  list,
  nonEmptyTextField,
  strictObject,
  securityGroupsField,
  shortValue,
  textField,
  integerField,
  inputField,
} from "../../schema/fields.js";

const prefix = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
const name = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/**
 * Returns whether the API server accepts the key of a label or taint, such as `gpu` or
 * `example.org/gpu`.
 */
const isKey = (value: string): boolean => {
  const [last = "", first, ...more] = value.split("/").reverse();
  return more.length === 0 && name.test(last) && (first === undefined || prefix.test(first));
};

/**
 * Pattern of keys of labels and taints that users must not set, because kubelet, kubeadm or this
 * program sets them.
 */
const reservedKeys =
  /^(kubernetes\.io\/(hostname|os|arch)|topology\.kubernetes\.io\/.*|stackadm\.io\/.*|node-role\.kubernetes\.io\/control-plane)$/;

const key = textField(
  (value) => isKey(value) && !reservedKeys.test(value),
  "is no key that is free; write one like example.org/gpu, none that Kubernetes or stackadm sets",
);
/** Value of a label or taint. */
const value = z
  .string({ error: ({ input }) => `${shortValue(input)} is no text; write it between quotes` })
  .refine((one) => one === "" || name.test(one), {
    error: ({ input }) =>
      `${shortValue(input)} is not a value of a label or taint; use at most 63 letters, digits, dashes, underscores and dots`,
  });

export const taintEffects = ["NoSchedule", "PreferNoSchedule", "NoExecute"] as const;

const taintSchema = strictObject({
  key: key.meta(doc("in place", "Key of the taint, like `example.org/gpu`.")),
  value: value.default("").meta(doc("in place", "Value of the taint.")),
  effect: z
    .enum(taintEffects, {
      error: ({ input }) =>
        `${shortValue(input)} is not an effect of a taint; write ${taintEffects.join(", ")}`,
    })
    .meta(
      doc(
        "in place",
        "Effect of the taint: `NoSchedule`, `PreferNoSchedule` or `NoExecute`, which evicts running pods that do not tolerate it.",
      ),
    ),
});

/**
 * Returns the schema of a map of texts that Nova stores. `free` matches the keys that users may
 * set. `instead` is the end of the error message for other keys. `most` is the maximum length of a
 * value.
 */
const texts = (of: string, free: RegExp, instead: string, most = Infinity) =>
  z
    .record(
      z.string().regex(free),
      inputField(
        z
          .string({
            error: ({ input }) => `${shortValue(input)} is no text; write it between quotes`,
          })
          .max(most, {
            error: ({ input }) =>
              `${shortValue(input)} is too long; write at most ${String(most)} characters`,
          }),
      ),
      {
        error: ({ code, input }) =>
          code === "invalid_key"
            ? `is a key that the program needs itself${instead}`
            : `${shortValue(input)} is not a map of ${of}; write one like \`key: value\``,
      },
    )
    .default({});

const imageSchema = inputField(nonEmptyTextField("an image")).optional();
const zoneSchema = nonEmptyTextField("an availability zone").optional();

/** Values of `spread`: how strictly Nova places the machines of a group on different hosts. */
export const spreadModes = ["soft", "hard", "none"] as const;
export type SpreadMode = (typeof spreadModes)[number];

/** Options of every machine group: control planes, workers, etcd and bastion. */
export const machineFieldSchemas = {
  image: imageSchema.meta(
    doc("replaces nodes", "Image of these machines, by name or ID.", "the cluster's `image`"),
  ),
  tags: list(
    inputField(
      textField(
        (one) => /^[^,/]{1,60}$/.test(one),
        "is not a tag; use at most 60 characters without comma and slash",
      ),
    ),
    0,
    "a list of tags",
  )
    .max(50, { error: "has more than the 50 tags that Nova accepts; leave some out" })
    .default([])
    .meta(doc("replaces nodes", "Tags of the servers in Nova.")),
  // Pattern of keys in Nova's API schema. The pattern also refuses the prefix `stackadm-`, because
  // the program stores the cluster's name and identity under keys with this prefix.
  metadata: texts(
    "metadata",
    /^(?!stackadm-)[-\w:. ]{1,255}$/,
    ", or that Nova does not accept; use letters, digits, -, _, :, . and spaces, and do not begin with stackadm-",
    255,
  ).meta(
    doc("replaces nodes", "Metadata of the servers in Nova, in addition to the cluster's marks."),
  ),
  schedulerHints: texts("hints", /^(?!group$)./, "; write `spread` instead").meta(
    doc("replaces nodes", "Hints for Nova's scheduler, in addition to the server group."),
  ),
  cloudInit: cloudInitSchema,
  securityGroups: securityGroupsField("these machines' ports"),
} as const;

/** Options of every machine group except the bastion. */
export const groupFieldSchemas = {
  ...machineFieldSchemas,
  zones: list(nonEmptyTextField("an availability zone"), 0, "a list of availability zones")
    .optional()
    .meta(
      doc(
        "replaces nodes",
        "Availability zones over which these machines are distributed in turn.",
        "the cluster's `zones`",
      ),
    ),
  steps: userScriptsSchema,
  spread: z
    .enum(spreadModes, {
      error: ({ input }) =>
        `${shortValue(input)} is not a way to spread; write ${spreadModes.join(", ")}`,
    })
    .default("soft")
    .meta(
      doc(
        "replaces nodes",
        "Whether Nova keeps the machines on different hosts. `soft`: if possible. `hard`: a machine without a free host is not created. `none`: no server group.",
      ),
    ),
} as const;

/** Options of groups whose machines are nodes of the cluster. */
export const nodeFieldSchemas = {
  labels: z
    .record(key, value, {
      error: ({ code, input }) =>
        code === "invalid_key"
          ? "is no key of a label that is free; write one like example.org/gpu, none that Kubernetes or stackadm sets"
          : `${shortValue(input)} is not a map of labels; write one like \`example.org/gpu: a100\``,
    })
    .default({})
    .meta(
      doc(
        "in place",
        "Labels of the nodes, also labels that kubelet may not set itself, like `node-role.kubernetes.io/gpu`. A node that registers again gets them again.",
      ),
    ),
  taints: list(taintSchema, 0, "a list of taints")
    .refine((all) => new Set(all.map((one) => `${one.key}:${one.effect}`)).size === all.length, {
      error: "has one key twice with the same effect; leave one of them out",
    })
    .default([]),
} as const;

const positionSchema = z.string().regex(/^(0|[1-9]\d{0,3})$/);

/**
 * Returns the schema of `nodes`: settings of single machines of a group, by the machine's position.
 * `volumes` is the part of the schema for the machine's volumes.
 */
export const nodesSchema = <Volumes extends z.core.$ZodLooseShape>(volumes: Volumes) =>
  z
    .record(
      positionSchema,
      strictObject({
        flavor: inputField(nonEmptyTextField("a flavor"))
          .optional()
          .meta(doc("replaces nodes", "Flavor of this machine.", "the group's `flavor`")),
        image: imageSchema.meta(
          doc("replaces nodes", "Image of this machine.", "the group's `image`"),
        ),
        address: ipv4AddressField
          .optional()
          .meta(
            doc(
              "refused",
              "Address of this machine in `network.nodes`. An existing machine keeps the address with which it was created. In an `existing` network the address must be free.",
              "Neutron chooses",
            ),
          ),
        zone: zoneSchema.meta(
          doc("replaces nodes", "Availability zone of this machine.", "the group's, in turn"),
        ),
        generation: integerField(0, "a generation")
          .optional()
          .meta(
            doc(
              "replaces nodes",
              "Raise it to replace this machine only.",
              "the group's `generation`",
            ),
          ),
        ...volumes,
      }),
      {
        error: ({ code, input }) =>
          code === "invalid_key"
            ? "is not the position of a machine; write a whole number, from 0"
            : `${shortValue(input)} is not a map of machines; write one like \`"0": {flavor: ...}\``,
      },
    )
    .default({})
    .meta({ entries: "position" });

type Texts = Readonly<Record<string, string>>;

/** Settings of a single machine, which replace the settings of the machine's group. */
export interface MachineOverride extends VolumeSpecs {
  readonly flavor?: string | undefined;
  readonly image?: string | undefined;
  readonly zone?: string | undefined;
  readonly address?: string | undefined;
  readonly generation?: number | undefined;
}

/** Machine group in the arguments, without the settings that only nodes have. */
export interface MachineGroupSpec extends VolumeSpecs {
  readonly flavor: string;
  readonly count: number;
  readonly generation?: number;
  readonly image?: string | undefined;
  readonly zones?: readonly string[] | undefined;
  readonly tags: readonly string[];
  readonly metadata: Texts;
  readonly schedulerHints: Texts;
  readonly cloudInit: readonly string[];
  readonly spread: SpreadMode;
  readonly steps: UserScripts;
  readonly securityGroups: readonly string[];
  readonly nodes: Readonly<Record<string, MachineOverride>>;
}

/** Machine group with its path in the arguments. */
export interface GroupAtPath<Group = MachineGroupSpec> {
  readonly path: readonly string[];
  readonly group: Group;
}

/** Reports settings in `nodes` at positions that the group does not have. */
export const findNodePositionConflicts = (
  groups: readonly GroupAtPath<Pick<MachineGroupSpec, "count" | "nodes">>[],
): z.core.$ZodRawIssue[] =>
  groups.flatMap(({ path, group: { count, nodes } }) =>
    Object.keys(nodes)
      .filter((one) => Number(one) >= count)
      .map((one) => ({
        code: "custom" as const,
        path: [...path, "nodes", one],
        input: nodes[one],
        message: `is not one of the ${String(count)} machines, which count from 0; raise count, or leave it out`,
      })),
  );
