import type { CloudClient } from "./client.js";
import { problem, warning, type Finding } from "./finding.js";
import type { ClusterNeeds } from "./needs.js";

/** The ways of reaching the cloud that the operator has, and those who work besides or later have not. */
export function connectionFindings(
  { authUrl, connection }: Pick<CloudClient, "authUrl" | "connection">,
  { controllersVerify }: Pick<ClusterNeeds, "controllersVerify">,
): Finding[] {
  const { certified, verify } = connection;
  return [
    ...(certified
      ? [
          problem(
            "cert: you show the cloud a client certificate, which the cluster's controllers cannot have; use endpoints that ask for none, and leave cert and key out",
          ),
        ]
      : []),
    ...(controllersVerify && !verify && authUrl.startsWith("https:")
      ? [
          warning(
            "verify: you accept any certificate of the cloud, but the cluster's controllers check it; name its authority as `cacert` in clouds.yaml, or write cloudController.global.tlsInsecure: true",
          ),
        ]
      : []),
  ];
}
