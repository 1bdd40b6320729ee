import type { PinnedManifest } from "../../base/versions/pod-network-manifests.js";
import type { ArgumentProblem } from "../pulumi/errors.js";
import { readPinnedFile, type PinnedFileDirectories } from "../lookup/pinned-files.js";
import { getCalicoRequiredParts } from "./calico/manifests.js";
import { canalRequiredParts } from "./canal/manifests.js";
import type { PodNetworkSpec } from "./pod-network-kinds.js";
import {
  readManifest,
  type RequiredManifestParts,
  type ManifestReadResult,
} from "./manifest-objects.js";

type ByManifest = Extract<PodNetworkSpec, { readonly manifest: PinnedManifest }>["kind"];

/**
 * Parts that the manifest of each pod network must contain. The compiler reports a pod network that
 * uses a manifest but is missing here.
 */
const anchors: Readonly<
  Record<ByManifest, (network: Checked["network"]) => RequiredManifestParts>
> = {
  calico: getCalicoRequiredParts,
  canal: () => canalRequiredParts,
};

/**
 * Returns the objects of a pinned manifest. Returns an error message if the manifest is unreadable
 * or does not contain all parts in `wanted`.
 */
export function readPinnedManifest(
  pinned: PinnedManifest,
  wanted: RequiredManifestParts,
  files?: PinnedFileDirectories,
): ManifestReadResult {
  const read = readPinnedFile(pinned, files);
  if ("problem" in read) return read;
  const manifest = readManifest(read.text, wanted);
  return "problem" in manifest
    ? {
        problem: `${pinned.source} is no manifest for this pod network: ${manifest.problem}; write another one with its digest`,
      }
    : manifest;
}

interface Checked {
  readonly podNetwork: PodNetworkSpec;
  readonly network: { readonly ipv6?: object | undefined };
}

/**
 * Returns the problem with a pod network's manifest, or an empty list. Called before anything is
 * changed.
 */
export function findManifestProblems(
  { podNetwork: spec, network }: Checked,
  files?: PinnedFileDirectories,
): readonly ArgumentProblem[] {
  if (!("manifest" in spec)) return [];
  const found = readPinnedManifest(spec.manifest, anchors[spec.kind](network), files);
  return "problem" in found
    ? [{ path: "cluster.podNetwork.manifest", message: found.problem }]
    : [];
}
