import * as pulumi from "@pulumi/pulumi";
import type { ClusterSpec } from "../config/cluster-spec.js";
import { serverCertificate, type ServerCertificate } from "../identity/webhook-certificate.js";
import type { MachineSettings } from "../machine/machine.js";
import { apiPort } from "../../base/ports.js";
import type { Member } from "../machine/machine-group.js";
import { poolLabel, roleTable } from "../config/roles.js";
import type { RemoteScript } from "../remote-scripts/remote-script.js";
import { joinDocument } from "./kubeadm-documents.js";
import { keystoneWebhook } from "./keystone-webhook.js";
import { patchesBlock } from "./static-pod-patches.js";

/** Facts that are known only when the cluster exists. */
export interface ClusterFacts {
  /** Kubeconfig of the administrator, as kubeadm wrote it. */
  readonly adminConf: pulumi.Output<string>;
  /** Hash of the cluster CA's public key, as kubeadm pins it: `sha256:...`. */
  readonly caCertHash: pulumi.Output<string>;
  /** UID of the namespace kube-system, which identifies the cluster. */
  readonly uid: pulumi.Output<string>;
  /** Name with which kubeadm created the cluster; cloud controller and Cinder CSI keep using it. */
  readonly name: pulumi.Output<string>;
  /** Key and certificate of the Keystone webhook, secret. @default no webhook */
  readonly webhook?: pulumi.Output<ServerCertificate>;
}

/** Returns the facts in the result of a control plane's script. */
export const factsOf = (script: RemoteScript, earlierName: string): ClusterFacts => ({
  adminConf: script
    .fact("kubeconfig")
    .apply((encoded) => Buffer.from(encoded, "base64").toString("utf8")),
  caCertHash: pulumi.unsecret(script.fact("caCertHash")),
  uid: pulumi.unsecret(script.fact("uid")),
  // Scripts of releases without identities report no name: the specification's was used.
  name: pulumi.unsecret(script.fact("name", earlierName)),
});

/** Returns the key and certificate of the Keystone webhook; empty without `kubernetes.keystone`. */
export const webhookOf = (
  { kubernetes }: Pick<ClusterSpec, "kubernetes">,
  { seed }: Pick<MachineSettings, "seed">,
): Pick<ClusterFacts, "webhook"> =>
  kubernetes.keystone
    ? {
        webhook: pulumi.secret(
          pulumi
            .output(seed)
            .apply((text) =>
              serverCertificate(text, { ...keystoneWebhook, purpose: "keystone-auth" }),
            ),
        ),
      }
    : {};

/**
 * Returns a machine's document for `kubeadm join`. The first control plane has one as well: after
 * its server was recreated it joins the others.
 */
export function joinDocumentOf(
  { plan, machine }: Member,
  { apiName, cloudController, kubernetes, timeoutFactor }: ClusterSpec,
): pulumi.Output<string> {
  const { label, grant } = roleTable[plan.role];
  return pulumi
    .all([machine.serverId, machine.address, machine.ipv6Address])
    .apply(([serverId, address, ipv6Address]) =>
      joinDocument(
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
          // Patches apply to the static pods of control planes.
          ...(grant === "certificates" && patchesBlock(kubernetes.patches, timeoutFactor)),
        },
      ),
    );
}
