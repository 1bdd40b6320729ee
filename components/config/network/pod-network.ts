import { z } from "zod";
import { doc, unionOrKindName, unknownKindError } from "../../schema/fields.js";
import {
  suggestedPodNetworks,
  podNetworkKinds,
  podNetworkTable,
  getPodNetworkTraits,
  isRoutedByCloud,
  type PodNetworkKind,
  type PodNetworkSpec,
} from "../../pod-network/pod-network-kinds.js";

type Options = (typeof podNetworkTable)[PodNetworkKind]["options"];
const options = Object.values(podNetworkTable).map((row) => row.options) as [Options, ...Options[]];

/** Network that connects the pods. Each `kind` has a folder in components/pod-network. */
export const podNetworkSchema = unionOrKindName(
  z.discriminatedUnion("kind", options, {
    error: unknownKindError("pod network", podNetworkKinds),
  }),
)
  .prefault({ kind: suggestedPodNetworks.usual })
  .meta({
    ...doc(
      "refused",
      `Network that connects the pods, as a word or with options. ${podNetworkKinds.map((kind) => `\`${kind}\` ${podNetworkTable[kind].summary}`).join("; ")}.`,
    ),
    word: true,
  });

interface Written {
  readonly podNetwork: PodNetworkSpec;
  readonly cloudController: { readonly enabled?: boolean | undefined };
  readonly network: { readonly existing?: object | undefined };
  readonly endpoint?: { readonly kind: string } | undefined;
}

/**
 * Reports settings that contradict the pod network `cloud-routes`. With this pod network, the cloud
 * controller sets routes on the cluster's router.
 */
export function findCloudRoutesConflicts(of: Written): z.core.$ZodRawIssue[] {
  const { podNetwork: chosen, cloudController, network, endpoint } = of;
  if (!isRoutedByCloud(chosen)) return [];
  const reasons = [
    cloudController.enabled === false &&
      "has its routes from the cloud controller, and cloudController.enabled is false",
    network.existing !== undefined &&
      "needs a router of the cluster's own for its routes, and of network.existing nothing is changed",
    endpoint?.kind === "virtual-ip" &&
      "leaves what the machines' ports allow to the cloud controller, and virtual-ip needs an address there",
  ];
  return reasons.flatMap((reason) =>
    reason === false
      ? []
      : [
          {
            code: "custom",
            path: ["podNetwork"],
            input: chosen.kind,
            message: `${chosen.kind} ${reason}; write another one, like ${suggestedPodNetworks.usual}`,
          },
        ],
  );
}

/** Reports fields in `kubernetes.kubeProxy` if the pod network replaces kube-proxy. */
export function findKubeProxyConflicts({
  podNetwork: chosen,
  kubernetes: { kubeProxy },
}: Pick<Written, "podNetwork"> & {
  readonly kubernetes: { readonly kubeProxy: object };
}): z.core.$ZodRawIssue[] {
  const { replacesKubeProxy } = getPodNetworkTraits(chosen);
  if (!replacesKubeProxy || Object.keys(kubeProxy).length === 0) return [];
  return [
    {
      code: "custom",
      path: ["kubernetes", "kubeProxy"],
      input: kubeProxy,
      message: "has no effect where podNetwork.serviceProxy leaves kube-proxy out; leave it out",
    },
  ];
}

type Scalar = string | number | boolean;

const deniesExternalIps = "DenyServiceExternalIPs";

/**
 * Reports that the pod network advertises external IPs of Services although `kubernetes.hardened`
 * forbids such IPs.
 */
export function findAdvertisedIpConflicts({
  podNetwork: chosen,
  kubernetes: { hardened, apiServer },
}: Pick<Written, "podNetwork"> & {
  readonly kubernetes: {
    readonly hardened: boolean;
    readonly apiServer: { readonly extraArgs: Readonly<Record<string, Scalar | Scalar[]>> };
  };
}): z.core.$ZodRawIssue[] {
  const announced = "advertiseServices" in chosen ? chosen.advertiseServices : [];
  const off = [apiServer.extraArgs["disable-admission-plugins"] ?? []]
    .flat()
    .flatMap((one) => String(one).split(","));
  if (!hardened || !announced.includes("external-ip") || off.includes(deniesExternalIps)) return [];
  return [
    {
      code: "custom",
      path: ["podNetwork", "advertiseServices"],
      input: announced,
      message: `external-ip are addresses that kubernetes.hardened lets no Service have; leave it out, or turn the plugin off by \`disable-admission-plugins: ${deniesExternalIps}\` in kubernetes.apiServer.extraArgs`,
    },
  ];
}

/**
 * Reports `samples` if the program deploys no pod network. The samples' pods would wait until the
 * user deploys a pod network.
 */
export function findSamplesConflicts({
  podNetwork: chosen,
  samples,
}: Pick<Written, "podNetwork"> & { readonly samples: boolean }): z.core.$ZodRawIssue[] {
  if (!samples || getPodNetworkTraits(chosen).deployedByUser !== true) return [];
  return [
    {
      code: "custom",
      path: ["samples"],
      input: samples,
      message: `the samples' pods need a pod network, and \`podNetwork: ${chosen.kind}\` deploys none; leave \`samples\` out, or choose another pod network`,
    },
  ];
}
