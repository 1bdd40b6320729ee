import { connectCloud, type CloudClient } from "../../openstack/client/cloud-client.js";
import { CloudError } from "../../openstack/http/cloud-error.js";
import type { CloudSettings } from "../../openstack/auth/clouds-file.js";
import { findCloud } from "../../openstack/auth/clouds-file.js";
import type { ProviderSettings } from "../../openstack/auth/provider-settings.js";
import {
  requireSameConnection,
  resolveConnection,
} from "../../openstack/auth/resolve-connection.js";
import type { Credential } from "../../openstack/auth/credential.js";
import { getPinnedFileDirectories, type PinnedFileDirectories } from "./pinned-files.js";
import { readProviderValues } from "./provider-values.js";

/**
 * Access of the user who runs the program: login to the cloud, ssh-agent and local files. With this
 * access, the program finds out why a machine fails, and which machines must be replaced. The
 * context never decides which resources exist.
 */
export interface LocalContext {
  /**
   * Signs in to the cloud. The credential must be for the same project as the provider's
   * credential.
   */
  readonly connect: () => Promise<CloudClient>;
  /**
   * Signs in to the same cloud with another credential, for a test of the credential in the
   * settings.
   * @default the program does not test this credential
   */
  readonly connectWith?: (credential: Credential) => Promise<CloudClient>;
  /**
   * Path of the socket of the ssh-agent, which has the login key.
   * @default the program does not test logins
   */
  readonly agentSocket?: string;
  /**
   * PEM certificate of the cloud's private CA (`cacert` in clouds.yaml). The cluster's controllers
   * and machines also trust this CA.
   * @default the certificate of the cloud comes from a public CA
   */
  readonly caCertificate?: string;
  /**
   * Client certificate that the cloud requires (`cert` and `key` in clouds.yaml). The cluster's
   * controllers also use this certificate.
   * @default the cloud requires no client certificate
   */
  readonly clientCertificate?: ClientCertificate;
  /**
   * Directories for files that the settings name.
   * @default paths are relative to the current directory, and downloads are not cached
   */
  readonly files?: PinnedFileDirectories;
  /**
   * Whether the settings contain an encrypted value. Pulumi does not report which value is
   * encrypted. The plan therefore hides all Kubernetes settings that may contain an encrypted
   * value. @default false
   */
  readonly encrypted?: boolean;
}

/**
 * Client certificate and its private key, in PEM. If one text contains both certificate and key,
 * both fields may contain this text.
 */
export interface ClientCertificate {
  readonly certificate: string;
  readonly privateKey: string;
}

/**
 * Returns the context for these environment variables: OS_* or `clouds.yaml`, SSH_AUTH_SOCK,
 * XDG_CACHE_HOME. Throws if OpenStack's provider would use another cloud or login.
 *
 * @param settings settings of the OpenStack provider that the cluster gets, which override the
 *   variables: the plain arguments of an explicit `openstack.Provider`. Default: `openstack:*` in the
 *   stack's configuration, which the default provider uses
 */
export function localContextOf(env: NodeJS.ProcessEnv, settings?: ProviderSettings): LocalContext {
  const provider = settings ?? readProviderValues();
  requireSameConnection(provider, env);
  const { env: resolved } = resolveConnection(provider, env);
  const connect = (credential?: Credential): Promise<CloudClient> =>
    connectCloud({ env: resolved, credential });
  return {
    connect: () => connect(),
    connectWith: connect,
    agentSocket: env["SSH_AUTH_SOCK"],
    ...certificatesOf(resolved),
    files: getPinnedFileDirectories(env),
  };
}

/**
 * Returns the cloud's CA certificate and client certificate for these environment variables.
 * Returns no certificates if the cloud's settings are invalid, because `connect` reports the error.
 */
function certificatesOf(
  env: NodeJS.ProcessEnv,
): Pick<LocalContext, "caCertificate" | "clientCertificate"> {
  try {
    const { ca, cert, key } = findCloud(undefined, env);
    return { caCertificate: ca, clientCertificate: pairOf({ cert, key }) };
  } catch (error) {
    if (error instanceof CloudError) return {};
    throw error;
  }
}

/** Returns the client certificate. Returns undefined if the certificate or its key is missing. */
const pairOf = ({
  cert: certificate,
  key: privateKey,
}: Pick<CloudSettings, "cert" | "key">): ClientCertificate | undefined =>
  certificate === undefined || privateKey === undefined ? undefined : { certificate, privateKey };
