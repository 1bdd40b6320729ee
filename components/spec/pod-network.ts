import { z } from "zod";
import { podNetworkKinds, podNetworks } from "../pod-network/kinds.js";
import { doc, kindOrWord, noKind, oneOf, record } from "./values.js";

const kubeRouter = record({ kind: z.literal("kube-router") });

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

const none = record({ kind: z.literal("none") });

/** What connects the pods. A closed union: components/pod-network has a folder per kind. */
export const podNetwork = kindOrWord(
  z.discriminatedUnion("kind", [kubeRouter, flannel, none], {
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
