import { z } from "zod";
import { isPlainObject } from "../../schema/merge-defaults.js";
import {
  doc,
  list,
  oneOf,
  strictObject,
  jsonObjectField,
  shortValue,
  textField,
} from "../../schema/fields.js";

/**
 * kubeadm's names of the static pods that can be patched. The container in each pod has the same
 * name as the pod.
 */
export const patchTargets = [
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "etcd",
] as const;
type Target = (typeof patchTargets)[number];

const mostBytes = 65_536;

const podSchema = jsonObjectField("a Pod");

/**
 * JSON pointer to a field of the pod. Refuses list indices with a sign or a leading zero, such as
 * `-1` or `00`. Such an index would bypass the check for fields that users must not change.
 */
const pointer = textField(
  (value) => /^(\/([^~/]|~[01])+)+$/.test(value) && !/\/([-+]\d+|0\d+)(?=\/|$)/.test(value),
  "is not the place of a field; write one like /spec/volumes/-, with indices counted from 0",
);

const patchOperationSchema = strictObject({
  op: oneOf(["add", "remove", "replace", "move", "copy", "test"]),
  path: pointer,
  from: pointer.optional(),
  value: z.json().optional(),
}).check(({ value: { op, ...given }, issues }) => {
  const needed = { move: "from", copy: "from", remove: undefined }[op as string] ?? "value";
  if (op === "remove" || given[needed as "from" | "value"] !== undefined) return;
  issues.push({
    code: "custom",
    path: [needed],
    input: undefined,
    message: `is missing; ${op} needs it`,
  });
});

const kinds = "strategic, merge or json";
const patchSchema = z.discriminatedUnion(
  "type",
  [
    strictObject({ type: z.literal("strategic").optional(), patch: podSchema }),
    strictObject({ type: z.literal("merge"), patch: podSchema }),
    strictObject({
      type: z.literal("json"),
      patch: list(patchOperationSchema, 1, "operations of a JSON patch"),
    }),
  ],
  {
    error: ({ input }) =>
      isPlainObject(input)
        ? `${shortValue(input["type"])} is not a type of patch; write ${kinds}`
        : `${shortValue(input)} is not a patch; write its type (${kinds}) and patch`,
  },
);
export type StaticPodPatch = z.output<typeof patchSchema>;

/**
 * Field that a patch sets or removes, with its place in the pod (`pointer`) and in the arguments
 * (`path`).
 */
interface Touched {
  readonly pointer: string;
  readonly path: readonly (string | number)[];
}

const kubeadms = "is kubeadm's; leave it out";
const flags: Readonly<Record<Target, string>> = {
  "kube-apiserver": "comes from another setting; write kubernetes.apiServer.extraArgs instead",
  "kube-controller-manager":
    "comes from another setting; write kubernetes.controllerManager.extraArgs instead",
  "kube-scheduler": "comes from another setting; write kubernetes.scheduler.extraArgs instead",
  etcd: kubeadms,
};
/**
 * Annotations of a static pod from which kubeadm reads the address of its API server or etcd
 * member.
 */
const annotations: Readonly<Partial<Record<Target, readonly string[]>>> = {
  "kube-apiserver": ["kubeadm.kubernetes.io~1kube-apiserver.advertise-address.endpoint"],
  etcd: ["kubeadm.kubernetes.io~1etcd.advertise-client-urls"],
};
const unnamed = (what: string): string => `has no ${what}, by which it is found; write it`;

/**
 * Returns the fields that patches must not change, each with its error message. kubeadm or another
 * argument sets these fields. Index 0 stands for all list entries in kubeadm's manifest. `?` stands
 * for an entry without the key by which patches match entries.
 */
const ownedOf = (target: Target): readonly (readonly [pointer: string, instead: string])[] => [
  ...["/apiVersion", "/kind", "/status", "/metadata/name", "/metadata/namespace"].map(
    (at) => [at, kubeadms] as const,
  ),
  ...(annotations[target] ?? []).map(
    (name) => [`/metadata/annotations/${name}`, kubeadms] as const,
  ),
  ["/metadata/labels/component", kubeadms],
  ["/metadata/labels/tier", kubeadms],
  ["/spec/hostNetwork", kubeadms],
  ["/spec/containers/0/command", flags[target]],
  ["/spec/containers/0/args", flags[target]],
  ["/spec/containers/0/name", kubeadms],
  [
    "/spec/containers/0/image",
    "comes from another setting; write kubernetes.registry or kubernetes.images instead",
  ],
  [
    "/spec/containers/0/volumeMounts/0",
    "is a mount of kubeadm, or the whole list of mounts; add your own mount with another path",
  ],
  [
    "/spec/volumes/0",
    "is a volume of kubeadm, or the whole list of volumes; add your own volume with another name",
  ],
  ["/spec/containers/?", unnamed("name")],
  ["/spec/containers/0/volumeMounts/?", unnamed("mountPath")],
  ["/spec/volumes/?", unnamed("name")],
];

const ownVolumes =
  /^((etc-)?ca-cert(s|ificates)|etc-pki.*|k8s-certs|kubeconfig|flexvolume-dir|usr-(local-)?share-ca-certificates|etcd-(certs|data)|stackadm-(files|encryption)|audit-log)$/;
const ownMounts =
  /^\/(etc\/kubernetes(\/(pki|stackadm(-encryption)?|(scheduler|controller-manager)\.conf)(\/.*)?)?|etc\/(ssl\/certs|ca-certificates|pki)(\/.*)?|usr\/(local\/)?share\/ca-certificates|usr\/libexec\/kubernetes.*|var\/lib\/etcd(\/.*)?|var\/log\/kubernetes\/audit)\/*$/;

/**
 * Returns the lists whose entries a strategic patch matches by a key. `there` returns whether
 * kubeadm's manifest already has an entry with this key.
 */
const keyed = (
  target: Target,
): Readonly<Record<string, { key: string; there: (key: string) => boolean }>> => ({
  "/spec/containers": { key: "name", there: (name) => name === target },
  "/spec/volumes": { key: "name", there: (name) => ownVolumes.test(name) },
  "/spec/containers/0/volumeMounts": { key: "mountPath", there: (path) => ownMounts.test(path) },
});

const escaped = (key: string): string => key.replace(/~/g, "~0").replace(/\//g, "~1");

/**
 * Returns every field that a strategic or merge patch sets. `lists` contains the lists whose
 * entries a strategic patch matches by a key. Any other list counts as one field. An empty object
 * counts as a new entry below `at`, because it changes no existing field.
 */
function fieldsIn(value: unknown, at: Touched, lists: ReturnType<typeof keyed>): Touched[] {
  const below = (key: string | number, segment: string): Touched => ({
    pointer: `${at.pointer}/${segment}`,
    path: [...at.path, key],
  });
  if (isPlainObject(value) && Object.keys(value).length === 0)
    return [{ ...at, pointer: `${at.pointer}/-` }];
  if (isPlainObject(value))
    return Object.entries(value).flatMap(([key, inner]) =>
      fieldsIn(inner, below(key, escaped(key)), lists),
    );
  const found = Array.isArray(value) ? lists[at.pointer] : undefined;
  if (found === undefined) return [at];
  return (value as unknown[]).flatMap((entry, index) => {
    const { [found.key]: key, ...others } = isPlainObject(entry) ? entry : {};
    if (typeof key !== "string") return [below(index, "?")];
    return fieldsIn(others, below(index, found.there(key) ? "0" : "-"), lists);
  });
}

/**
 * Returns the path with 0 instead of each index of a container, volume or mount. Index 0 stands for
 * all existing entries. The index in a patch may point to any existing entry, because earlier
 * strategic patches insert new entries before existing entries.
 */
const anyOfThem = (path: string): string =>
  path
    .replace(/^(\/spec\/(volumes|containers))\/\d+/, "$1/0")
    .replace(/^(\/spec\/containers\/0\/volumeMounts)\/\d+/, "$1/0");

function touchedBy(entry: StaticPodPatch, target: Target): Touched[] {
  if (entry.type !== "json")
    return fieldsIn(
      entry.patch,
      { pointer: "", path: ["patch"] },
      entry.type === "merge" ? {} : keyed(target),
    );
  return entry.patch.flatMap(({ op, path, from }, index) => [
    ...(op === "test" ? [] : [{ pointer: anyOfThem(path), path: ["patch", index, "path"] }]),
    ...(op === "move" && from !== undefined
      ? [{ pointer: anyOfThem(from), path: ["patch", index, "from"] }]
      : []),
  ]);
}

/**
 * Returns whether both pointers name the same field, or one of the two fields contains the other.
 */
const meets = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);

function problemOf({ pointer: at }: Touched, target: Target): string | undefined {
  if (/\/\$/.test(at))
    return "is a directive of a patch, which could delete any field; leave it out";
  return ownedOf(target).find(([owned]) => meets(at, owned))?.[1];
}

const patchesOf = (target: Target) =>
  list(patchSchema, 1, "a list of patches").check(({ value, issues }) => {
    const wrong = (path: (string | number)[], message: string): number =>
      issues.push({ code: "custom", path, input: value, message });
    if (JSON.stringify(value).length > mostBytes)
      wrong([], "is more than 64 KiB; write less, and put large files on the machines");
    for (const [index, entry] of value.entries())
      for (const touched of touchedBy(entry, target)) {
        const problem = problemOf(touched, target);
        if (problem !== undefined) wrong([index, ...touched.path], problem);
      }
  });

const component = (target: Target, more = "") =>
  patchesOf(target)
    .optional()
    .meta(
      doc(
        "restarts control plane",
        `Patches that kubeadm applies to ${target}'s static pod, one after the other. \`type\` is \`strategic\` (the default), \`merge\` or \`json\`; \`patch\` has fields of a Pod or, for \`json\`, a list of operations. Fields that follow another argument or that kubeadm sets are refused.${more}`,
      ),
    );

/** Patches of static pods, by kubeadm's names of the pods. */
export const patchesSchema = strictObject(
  {
    "kube-apiserver": component(
      "kube-apiserver",
      " Use such a patch to add volumes: a volume in `spec.volumes` and its mount in the container `kube-apiserver`.",
    ),
    "kube-controller-manager": component("kube-controller-manager"),
    "kube-scheduler": component("kube-scheduler"),
    etcd: patchesOf("etcd")
      .optional()
      .meta(
        doc(
          "refused",
          "Patches of etcd's static pod on each control plane, in the same form; not for `etcd` on separate machines. New control planes get them too.",
        ),
      ),
  },
  {
    kubeletconfiguration: "comes from another setting; write kubernetes.kubelet instead",
    corednsdeployment:
      "is not patched, because nothing would apply a change to an existing cluster; write kubernetes.images.coreDns for its image",
  },
).prefault({});

/** Reports patches of etcd's static pod when etcd runs on separate machines. */
export const findEtcdPatchConflicts = (written: {
  readonly etcd?: object | undefined;
  readonly kubernetes: { readonly patches: { readonly etcd?: unknown } };
}): z.core.$ZodRawIssue[] =>
  written.etcd && written.kubernetes.patches.etcd !== undefined
    ? [
        {
          code: "custom",
          path: ["kubernetes", "patches", "etcd"],
          input: written.kubernetes.patches.etcd,
          message:
            "etcd has dedicated machines, whose pod this program writes itself; leave the patches or `etcd` out",
        },
      ]
    : [];
