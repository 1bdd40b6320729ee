import { changeEffects, type ChangeEffect } from "../../../components/schema/fields.js";
import type { Leaf } from "./config-schema.js";
import { anchorOf, generatedPage } from "./markdown.js";

/** Page of the configuration reference. */
export interface ConfigurationSection {
  /** File name without `.md`. */
  readonly file: string;
  readonly title: string;
  /** First parts of the paths of its keys. */
  readonly keys: readonly string[];
}

export const configurationSections: readonly ConfigurationSection[] = [
  {
    file: "cluster",
    title: "Cluster",
    keys: [
      ...["name", "image", "topology", "zones", "protect", "timeoutFactor", "securityUpdates"],
      ...["openstackPlugin", "metricsServer", "samples", "sampleServices"],
    ],
  },
  {
    file: "access",
    title: "SSH access and bastion",
    keys: ["allowedCidrs", "sshCidrs", "serviceCidrs", "ssh", "access", "bastion"],
  },
  { file: "control-plane", title: "Control planes", keys: ["controlPlane"] },
  { file: "workers", title: "Worker pools", keys: ["workers"] },
  { file: "etcd", title: "Dedicated etcd machines", keys: ["etcd"] },
  { file: "network", title: "Network", keys: ["externalNetwork", "network"] },
  { file: "api-endpoint", title: "API endpoint", keys: ["endpoint", "apiName"] },
  { file: "kubernetes", title: "Kubernetes", keys: ["kubernetes"] },
  { file: "addons", title: "Add-ons of the user", keys: ["addons"] },
  { file: "pod-network", title: "Pod network", keys: ["podNetwork"] },
  {
    file: "load-balancing",
    title: "Load balancers and ingress",
    keys: ["loadBalancer", "ingress"],
  },
  {
    file: "cloud-controller",
    title: "Cloud controller and its credential",
    keys: ["cloudController", "credential"],
  },
  { file: "storage", title: "Block storage", keys: ["blockStorage", "storageClasses"] },
];

/** Keys that most clusters set. The pages show the other keys after them, folded. */
export const coreKeys: readonly string[] = [
  ...["name", "image", "topology", "zones", "protect", "timeoutFactor", "samples"],
  ...["metricsServer", "securityUpdates", "allowedCidrs", "sshCidrs", "serviceCidrs"],
  ...["ssh.user", "ssh.publicKey", "ssh.loginKeys", "access", "bastion.flavor"],
  ...["controlPlane.flavor", "controlPlane.count", "controlPlane.generation"],
  ...["controlPlane.schedulable", "controlPlane.labels", "controlPlane.zones"],
  ...["controlPlane.etcdVolume.size", "controlPlane.etcdVolume.type"],
  ...["controlPlane.rootVolume.size", "controlPlane.rootVolume.type"],
  ...["workers.<pool>.flavor", "workers.<pool>.count", "workers.<pool>.generation"],
  ...["workers.<pool>.image", "workers.<pool>.zones", "workers.<pool>.labels"],
  ...["workers.<pool>.taints[].key", "workers.<pool>.taints[].effect"],
  ...["workers.<pool>.rootVolume.size", "workers.<pool>.rootVolume.type"],
  ...["workers.<pool>.runtimeVolume.size", "workers.<pool>.runtimeVolume.type"],
  ...["etcd.flavor", "etcd.count", "externalNetwork", "network.nodes", "network.pods"],
  ...["network.services", "network.dns", "network.existing.network", "network.nodePorts"],
  ...["endpoint.kind", "apiName", "kubernetes.version", "kubernetes.hardened"],
  ...["kubernetes.registry.prefix", "podNetwork.kind", "loadBalancer.provider"],
  ...["loadBalancer.network.range", "ingress.kind", "credential.id", "credential.secret"],
  ...["storageClasses[].name", "storageClasses[].type", "storageClasses[].default"],
  ...["blockStorage.snapshots", "addons[].name", "addons[].manifest", "addons[].yaml"],
  ...["addons[].after", "addons[].sha256"],
];

const meanings = {
  "in place": "The next `up` applies it. Nothing restarts.",
  "restarts kubelet":
    "The next `up` applies it on one machine after another. Pods keep running. If kubelet does not start, the machine gets the former value back.",
  "restarts control plane":
    "The next `up` applies it on one control plane after another. Connections to that API server drop for a moment. If a component does not start, it gets its former flags and patches back.",
  "replaces nodes":
    "Machines get the new value when you raise their `generation`, which replaces them.",
  refused: "An existing cluster keeps its value. `preview` and `up` report the change as an error.",
} as const satisfies Record<ChangeEffect, string>;

const firstPart = (path: string): string => path.split(/[.[]/)[0] ?? path;

const outputPage = "../../build/component.md#outputs-as-arguments";
const outputs = {
  value: "Accepts an [Output]",
  entries: "Each entry accepts an [Output]",
} as const;

const keyLines = ({
  path,
  description,
  change,
  default: value,
  type,
  acceptsOutput,
}: Leaf): string[] => [
  `### \`${path}\``,
  "",
  [
    ...(type === "" ? [] : [`Type: ${type}`]),
    `Default: ${value}`,
    `Change: [${change}](README.md#${anchorOf(change)})`,
    ...(acceptsOutput === undefined ? [] : [`${outputs[acceptsOutput]}(${outputPage})`]),
  ].join(" · "),
  "",
  description,
  "",
];

/** Returns the text of one page of the configuration reference. */
function sectionPage(section: ConfigurationSection, all: readonly Leaf[]): string {
  const own = all.filter(({ path }) => section.keys.includes(firstPart(path)));
  const core = own.filter(({ path }) => coreKeys.includes(path));
  const advanced = own.filter(({ path }) => !coreKeys.includes(path));
  return [
    ...generatedPage(`Configuration: ${section.title}`, "components/config/"),
    ...core.flatMap(keyLines),
    ...(advanced.length === 0
      ? []
      : [
          `## Advanced keys`,
          "",
          "<details>",
          `<summary>${advanced.length} more keys</summary>`,
          "",
          ...advanced.flatMap(keyLines),
          "</details>",
          "",
        ]),
  ].join("\n");
}

function overviewPage(all: readonly Leaf[]): string {
  const used = changeEffects.filter((change) => all.some((one) => one.change === change));
  const pageOf = (path: string): string =>
    configurationSections.find(({ keys }) => keys.includes(firstPart(path)))?.file ?? "";
  const link = ({ path }: Leaf): string => `[\`${path}\`](${pageOf(path)}.md#${anchorOf(path)})`;
  return [
    ...generatedPage("Configuration", "components/config/"),
    "The configuration is one object: `stackadm:cluster` in `Pulumi.<stack>.yaml`, or the arguments of `new Cluster`. `Pulumi.dev.yaml` is a commented example.",
    "",
    "- The program checks the whole object before the first request to the cloud, and lists all problems with their paths.",
    "- Values for all clusters of a site can be in a separate file: see [site defaults](../../set-up/site-defaults.md).",
    "- Secrets must be encrypted: see [encrypted settings](../../team/encrypted-settings.md).",
    "- Editors complete and check keys if the first line of the file is `# yaml-language-server: $schema=docs/config.schema.json` ([schema](../../config.schema.json)).",
    "",
    "## Effects of a change",
    "",
    "Each key states the effect of a change on an existing cluster.",
    "",
    ...used.flatMap((change) => [`### ${change}`, "", meanings[change], ""]),
    "## Pages",
    "",
    ...configurationSections.flatMap((section) => {
      const own = all.filter(({ path }) => section.keys.includes(firstPart(path)));
      const core = own.filter(({ path }) => coreKeys.includes(path));
      return [
        `- **[${section.title}](${section.file}.md)** (${own.length} keys): ${core.map(link).join(", ") || "advanced keys only"}`,
      ];
    }),
    "",
  ].join("\n");
}

/** Returns the pages of the configuration reference, with their file names. */
export function configurationPages(all: readonly Leaf[]): readonly (readonly [string, string])[] {
  const listed = configurationSections.flatMap(({ keys }) => keys);
  const missing = all.find(({ path }) => !listed.includes(firstPart(path)));
  if (missing) throw new Error(`${missing.path}: no page of the configuration reference has it`);
  const unknown = coreKeys.find((key) => !all.some(({ path }) => path === key));
  if (unknown !== undefined) throw new Error(`${unknown}: a core key that does not exist`);
  return [
    ["README.md", overviewPage(all)],
    ...configurationSections.map(
      (section) => [`${section.file}.md`, sectionPage(section, all)] as const,
    ),
  ];
}
