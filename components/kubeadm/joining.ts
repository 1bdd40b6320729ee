import * as pulumi from "@pulumi/pulumi";
import type { ClusterSpec } from "../spec/cluster-spec.js";
import { serverCertificate, type ServerCertificate } from "../identity/webhook-certificate.js";
import type { MachineSettings } from "../machine/machine.js";
import { apiPort } from "../../base/ports.js";
import type { Member } from "../machine/machine-group.js";
import { poolLabel, roleTable } from "../plan/roles.js";
import type { RemoteScript } from "../support/remote-script.js";
import { joinDocument } from "./documents.js";
import { keystoneWebhook } from "./keystone-webhook.js";
import { patchesBlock } from "./patches.js";

/** What only a living cluster knows. */
export interface ClusterFacts {
  /** kubeadm's own kubeconfig of the administrator. */
  readonly adminConf: pulumi.Output<string>;
  /** `sha256:...` of the cluster's certificate authority. */
  readonly caCertHash: pulumi.Output<string>;
  /** UID of the namespace kube-system. */
  readonly uid: pulumi.Output<string>;
  /** The name that kubeadm made the cluster under: for its cloud controller and storage driver, for ever. */
  readonly name: pulumi.Output<string>;
  /** What Keystone's webhook proves itself by, secret. Absent: there is none. */
  readonly webhook?: pulumi.Output<ServerCertificate>;
}

/** The facts that a control plane's script ends with. */
export const factsOf = (script: RemoteScript, earlierName: string): ClusterFacts => ({
  adminConf: script
    .result("kubeconfig")
    .apply((encoded) => Buffer.from(encoded, "base64").toString("utf8")),
  caCertHash: script.result("caCertHash"),
  uid: pulumi.unsecret(script.result("uid")),
  // Before there were identities, the cluster was called as it is in the specification.
  name: pulumi.unsecret(script.result("name", earlierName)),
});

/** The version of Kubernetes that a node's script has left there; nothing where one of an earlier release did not say so. */
export const versionIn = (script: RemoteScript): pulumi.Output<string> =>
  pulumi.unsecret(script.result("kubernetes", ""));

/** What the webhook on each control plane proves itself by to the API server beside it. */
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

/** How the machine joins, where it is not the one that the cluster begins on, or not any more: by its role's row. */
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
          ...{ name: plan.name, serverId, address, ipv6Address },
          ...(label === poolLabel && { pool: plan.pool }),
        },
        {
          ...{ endpoint: `${apiName}:${String(apiPort)}`, grant },
          cloudController: cloudController.enabled !== false,
          ignorePreflightErrors: kubernetes.ignorePreflightErrors,
          // Of the static pods that serve the API.
          ...(grant === "certificates" && patchesBlock(kubernetes.patches, timeoutFactor)),
        },
      ),
    );
}
