/** Images that a machine pulls before its pods need them (pure functions). */
import {
  createImageTable,
  kubeadmImages,
  type KubeadmImage,
} from "../../base/versions/container-images.js";
import { getRoleTable, type MachineRole } from "../config/roles.js";
import { getPodNetworkTraits } from "../pod-network/pod-network-kinds.js";
import type { ClusterSpec } from "../config/cluster-spec.js";

/**
 * Returns the images that a machine of this role pulls early, in addition to images in kubeadm's
 * list.
 */
export function getEarlyImages(
  spec: Pick<ClusterSpec, "kubernetes" | "podNetwork" | "etcd">,
  role: MachineRole,
): string[] {
  const { kubernetes, podNetwork } = spec;
  const { node, addonImages } = getRoleTable(spec)[role];
  const own = replaced(spec, role).flatMap((name) => kubernetes.images[name] ?? []);
  if (!node) return own;
  const images = createImageTable(kubernetes.version, kubernetes.registry, kubernetes.images);
  // The images of Cinder CSI come last, because a node becomes Ready without Cinder CSI. A node
  // does not become Ready without the pod network and the cloud controller.
  const wanted = [
    ...getPodNetworkTraits(podNetwork).images,
    ...addonImages,
    ...(["cinderCsi", "csiNodeDriverRegistrar"] as const),
  ];
  return [...own, ...wanted.map((name) => images[name])];
}

type Listed = Pick<ClusterSpec, "kubernetes" | "etcd">;

/** Returns whether pods on a machine of this role need an image of kubeadm's list. */
const needs = (spec: Listed, role: MachineRole, image: string): boolean => {
  const { kubeadmImages: names } = getRoleTable(spec)[role];
  return names === "all" || names.includes(image);
};

/** Returns the images of kubeadm's list that this role needs and that the user has replaced. */
const replaced = (spec: Listed, role: MachineRole): KubeadmImage[] =>
  (Object.keys(kubeadmImages) as KubeadmImage[]).filter(
    (name) => spec.kubernetes.images[name] !== undefined && needs(spec, role, kubeadmImages[name]),
  );

/**
 * Returns a regular expression (grep -E) that matches the images of kubeadm's list that the machine
 * pulls early.
 */
export function getEarlyImagesPattern(spec: Listed, role: MachineRole): string {
  const names = getRoleTable(spec)[role].kubeadmImages;
  const others = replaced(spec, role).map((name): string => kubeadmImages[name]);
  if (names === "all" && others.length === 0) return ".";
  const all = names === "all" ? ["kube-[a-z-]+", ...Object.values(kubeadmImages)] : names;
  return `/(${all.filter((name) => !others.includes(name)).join("|")}):`;
}
