import { X509Certificate } from "node:crypto";
import type { CloudSettings } from "./clouds-file.js";

/** Properties of the connection to a cloud, see {@link CloudSettings}. */
export interface ConnectionProperties extends Pick<CloudSettings, "verify"> {
  /** Whether the program uses a client certificate. */
  readonly certified: boolean;
  /** Expiry of the client certificate, as ISO 8601. Undefined without a client certificate. */
  readonly certificateEnd: string | undefined;
}

/** Returns the properties of the connection that also affect the cluster's controllers. */
export const getConnectionProperties = ({
  verify,
  cert,
}: Pick<CloudSettings, "verify" | "cert">): ConnectionProperties => ({
  verify,
  certified: cert !== undefined,
  certificateEnd:
    cert === undefined ? undefined : new Date(new X509Certificate(cert).validTo).toISOString(),
});
