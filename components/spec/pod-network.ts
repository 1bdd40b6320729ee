import { z } from "zod";
import { publishedManifests } from "../../base/manifests.js";
import { podNetworkKinds, podNetworks, routedByCloud } from "./traits/pod-network.js";
import { kubeRouter } from "./kube-router.js";
import { doc, kindOrWord, noKind, oneOf, present, record, text } from "../arguments/values.js";

const cloudRoutes = record({ kind: z.literal("cloud-routes") });

const flannel = record({
  kind: z.literal("flannel"),
  backend: oneOf(["vxlan", "host-gw"])
    .default("vxlan")
    .meta(
      doc(
        "refused",
        "With `flannel`: `vxlan` wraps packets, 50 bytes more each; `host-gw` routes them as they are, which the machines' ports then allow.",
      ),
    ),
});

const manifestOf = (kind: keyof typeof publishedManifests) =>
  record({
    source: present("a manifest").meta(
      doc(
        "in place",
        "With `calico` and `canal`: address, or path against the project's directory, of the manifest that is deployed.",
        "the release that this one was made with",
      ),
    ),
    sha256: text(
      (value) => /^[0-9a-f]{64}$/.test(value),
      "is not a SHA-256; write 64 hexadecimal digits, as `sha256sum` shows them",
      "write the SHA-256 of the manifest, as `sha256sum` shows it",
    ).meta(
      doc(
        "in place",
        "With `calico` and `canal`: digest of that manifest. Another one is refused before anything is done.",
        "that of the release",
      ),
    ),
  }).default(publishedManifests[kind]);

const calico = record({
  kind: z.literal("calico"),
  encapsulation: oneOf(["vxlan", "vxlan-cross-subnet", "ipip", "none"])
    .default("vxlan")
    .meta(
      doc(
        "refused",
        "With `calico`: `vxlan` wraps packets, 50 bytes more each; `vxlan-cross-subnet` only those between subnets; `ipip` with 20 bytes; `none` routes them as they are, by BGP. The machines' ports allow what is not wrapped.",
      ),
    ),
  manifest: manifestOf("calico"),
});

const canal = record({ kind: z.literal("canal"), manifest: manifestOf("canal") });

const none = record({ kind: z.literal("none") });

/** What connects the pods. A closed union: components/pod-network has a folder per kind. */
export const podNetwork = kindOrWord(
  z.discriminatedUnion("kind", [kubeRouter, cloudRoutes, flannel, calico, canal, none], {
    error: noKind("pod network", podNetworkKinds),
  }),
)
  .prefault({ kind: "kube-router" })
  .meta({
    ...doc(
      "refused",
      `What connects the pods, as a word or with options. ${podNetworkKinds.map((kind) => `\`${kind}\` ${podNetworks[kind].summary}`).join("; ")}.`,
    ),
    word: true,
  });

/** A pod network with every default filled in. */
export type PodNetworkSpec = z.output<typeof podNetwork>;

interface Written {
  readonly podNetwork: PodNetworkSpec;
  readonly cloudController: { readonly enabled?: boolean | undefined };
  readonly network: { readonly existing?: object | undefined };
  readonly endpoint?: { readonly kind: string } | undefined;
}

/** What keeps the cloud from routing pods. */
export function withoutRoutes(of: Written): z.core.$ZodRawIssue[] {
  const { podNetwork: chosen, cloudController, network, endpoint } = of;
  if (!routedByCloud(chosen)) return [];
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
            message: `${chosen.kind} ${reason}; write another one, like kube-router`,
          },
        ],
  );
}
