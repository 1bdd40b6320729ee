import type { CloudClient } from "../client/cloud-client.js";
import { checkExpiry } from "./cluster-credential-check.js";
import { createProblem, createWarning, type Finding } from "./finding.js";
import type { ClusterRequirements } from "./cluster-requirements.js";

type Way = Pick<CloudClient, "authUrl" | "connection">;
type Needs = Pick<ClusterRequirements, "controllersVerify" | "asksKeystone">;

/**
 * Reports the consequences of the user's client certificate. The cluster's controllers use the same
 * certificate, and the certificate may expire soon.
 */
function certificateFindings(
  { connection: { certified, certificateEnd } }: Way,
  { asksKeystone }: Needs,
  now?: number,
): Finding[] {
  if (!certified) return [];
  const what = "client certificate";
  return [
    ...(asksKeystone
      ? [
          createProblem(
            "kubernetes.keystone: the cloud asks for a client certificate, and k8s-keystone-auth supports none; leave kubernetes.keystone out, or write as its url the address of a Keystone that asks for none",
          ),
        ]
      : []),
    createWarning(
      "cert: the cluster's controllers use your client certificate, too: it is in the cluster's Secret cloud-config with its key; name as cert and key in clouds.yaml a certificate issued for this cluster, not for a person",
    ),
    ...checkExpiry("cert", certificateEnd, { remedy: "name a new one", now, what }),
  ];
}

/**
 * Reports connection settings of the user that do not work for the cluster's controllers. The
 * controllers use the same settings.
 */
export function checkControllerConnection(way: Way, needs: Needs, now?: number): Finding[] {
  const { authUrl, connection } = way;
  return [
    ...certificateFindings(way, needs, now),
    ...(needs.controllersVerify && !connection.verify && authUrl.startsWith("https:")
      ? [
          createWarning(
            "verify: you accept any certificate of the cloud, but the cluster's controllers check it; name its authority as `cacert` in clouds.yaml, or write cloudController.global.tlsInsecure: true",
          ),
        ]
      : []),
  ];
}
