import { readFileSync } from "node:fs";
import { join } from "node:path";
import { imageTable } from "../addons/images.js";
import type { ClusterSpec } from "../cluster-spec.js";
import type { Role } from "../network/firewall-rules.js";
import { minorOf } from "../support/versions.js";
import { containerdConfig, registryConfig, registryHost } from "./containerd-documents.js";

/** What scripts/prepare.sh reads, in the same order. */
export const prepareValues = [
  "ROLE",
  "KUBERNETES_VERSION",
  "PACKAGES_URL",
  "PACKAGES_KEY_FINGERPRINT",
  "IMAGE_REPOSITORY",
  "CONTAINERD_CONFIG",
  "REGISTRY_HOST",
  "REGISTRY_CONFIG",
  "EXTRA_IMAGES",
] as const;

/** The script that makes a machine ready for kubeadm. */
export const prepareScripts = [
  readFileSync(join(__dirname, "../support/scripts/common.sh"), "utf8"),
  readFileSync(join(__dirname, "scripts/prepare.sh"), "utf8"),
] as const;

/** Images that pods on a machine of this role need first: pulled before anything asks for them. */
export function earlyImages(
  { version, registry }: ClusterSpec["kubernetes"],
  role: Role,
): string[] {
  const images = imageTable(version, registry);
  const everywhere = [images.kubeRouter, images.cinderCsi, images.csiNodeDriverRegistrar];
  return role === "worker"
    ? [...everywhere, images.livenessProbe, images.agnhost]
    : [...everywhere, images.livenessProbe, images.cloudControllerManager];
}

/** The cgroup driver that kubelet is told to use; kubeadm's default otherwise. */
export const cgroupDriver = ({ kubelet }: ClusterSpec["kubernetes"]): "systemd" | "cgroupfs" =>
  kubelet["cgroupDriver"] === "cgroupfs" ? "cgroupfs" : "systemd";

/** The values for {@link prepareScripts}. */
export function preparation(
  kubernetes: ClusterSpec["kubernetes"],
  role: Role,
): Record<(typeof prepareValues)[number], string> {
  const { version, packages, registry } = kubernetes;
  return {
    ROLE: role,
    KUBERNETES_VERSION: version,
    PACKAGES_URL: packages.url.replaceAll("{minor}", minorOf(version)),
    PACKAGES_KEY_FINGERPRINT: packages.keyFingerprint,
    IMAGE_REPOSITORY: registry.prefix,
    CONTAINERD_CONFIG: containerdConfig({ cgroupDriver: cgroupDriver(kubernetes) }),
    REGISTRY_HOST: registryHost(registry.prefix),
    REGISTRY_CONFIG: registryConfig(registry),
    EXTRA_IMAGES: earlyImages(kubernetes, role).join("\n"),
  };
}
