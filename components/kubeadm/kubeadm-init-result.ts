import * as pulumi from "@pulumi/pulumi";
import type { ClusterSpec } from "../config/cluster-spec.js";
import {
  deriveServerCertificate,
  type ServerCertificate,
} from "../identity/webhook-certificate.js";
import type { CommonMachineSettings } from "../machine/machine.js";
import { apiPort } from "../../base/ports.js";
import type { MachineGroupMember } from "../machine/machine-group.js";
import { poolLabel, roleTable } from "../config/roles.js";
import type { RemoteScript } from "../remote-scripts/remote-script.js";
import { renderJoinDocument } from "./kubeadm-documents.js";
import { keystoneWebhookAddress } from "./keystone-webhook-kubeconfig.js";
import { buildPatchesBlock } from "./static-pod-patches.js";

/** Facts about the cluster that are known only after kubeadm has created it. */
export interface KubeadmInitResult {
  /** Kubeconfig of the administrator, as kubeadm wrote it. */
  readonly adminConf: pulumi.Output<string>;
  /** Hash of the cluster CA's public key, in kubeadm's format: `sha256:...`. */
  readonly caCertHash: pulumi.Output<string>;
  /** UID of the namespace kube-system, which identifies the cluster. */
  readonly uid: pulumi.Output<string>;
  /**
   * Cluster name with which kubeadm created the cluster. The cloud controller and Cinder CSI always
   * use this name.
   */
  readonly name: pulumi.Output<string>;
  /** Key and certificate of the Keystone webhook. Secret. @default no webhook */
  readonly webhook?: pulumi.Output<ServerCertificate>;
}

/** Returns the facts in the result of a control plane's script. */
export const getKubeadmInitResult = (script: RemoteScript): KubeadmInitResult => ({
  adminConf: script
    .getStableResult("kubeconfig")
    .apply((encoded) => Buffer.from(encoded, "base64").toString("utf8")),
  caCertHash: pulumi.unsecret(script.getStableResult("caCertHash")),
  uid: pulumi.unsecret(script.getStableResult("uid")),
  name: pulumi.unsecret(script.getStableResult("name")),
});

/**
 * Returns the key and certificate of the Keystone webhook. Returns no webhook if the specification
 * contains no `kubernetes.keystone`.
 */
export const deriveWebhookCertificate = (
  { kubernetes }: Pick<ClusterSpec, "kubernetes">,
  { seed }: Pick<CommonMachineSettings, "seed">,
): Pick<KubeadmInitResult, "webhook"> =>
  kubernetes.keystone
    ? {
        webhook: pulumi.secret(
          pulumi.output(seed).apply((text) =>
            deriveServerCertificate(text, {
              ...keystoneWebhookAddress,
              purpose: "keystone-auth",
            }),
          ),
        ),
      }
    : {};

/**
 * Returns a machine's document for `kubeadm join`. The first control plane also has such a
 * document. After its server was recreated, the first control plane joins the other control planes.
 */
export function renderMachineJoinDocument(
  { plan, machine }: MachineGroupMember,
  { apiName, cloudController, kubernetes, timeoutFactor }: ClusterSpec,
): pulumi.Output<string> {
  const { label, grant } = roleTable[plan.role];
  return pulumi
    .all([machine.serverId, machine.address, machine.ipv6Address])
    .apply(([serverId, address, ipv6Address]) =>
      renderJoinDocument(
        {
          name: plan.name,
          serverId,
          address,
          ipv6Address,
          ...(label === poolLabel && { pool: plan.pool }),
        },
        {
          endpoint: `${apiName}:${String(apiPort)}`,
          grant,
          cloudController: cloudController.enabled !== false,
          ignorePreflightErrors: kubernetes.ignorePreflightErrors,
          // Patches change static pods, which exist only on control planes.
          ...(grant === "certificates" && buildPatchesBlock(kubernetes.patches, timeoutFactor)),
        },
      ),
    );
}
