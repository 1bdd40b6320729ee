import { cacheDirectoryIn } from "../../base/paths.js";
import { connectCloud, type CloudClient } from "../../openstack/client/cloud-client.js";
import { CloudError } from "../../openstack/http/cloud-error.js";
import type { CloudSettings } from "../../openstack/auth/clouds-file.js";
import { findCloud } from "../../openstack/auth/clouds-file.js";
import type { Credential } from "../../openstack/auth/credential.js";
import type { PinnedFileDirectories } from "./pinned-files.js";

/**
 * Environment of the user who runs the program: access to the cloud and the ssh-agent. The program
 * finds out with it why a machine fails, and which machines must be replaced one after another. The
 * operator has no influence on which resources exist.
 */
export interface LocalContext {
  /** Signs in to the cloud. The credential must be for the project in which the provider works. */
  readonly connect: () => Promise<CloudClient>;
  /**
   * Signs in to the same cloud with another credential, whose user the settings name.
   * @default the program does not test that credential
   */
  readonly connectWith?: (credential: Credential) => Promise<CloudClient>;
  /**
   * Path of the socket of the ssh-agent with the login key. @default the program makes no login
   * tests
   */
  readonly agentSocket?: string;
  /**
   * PEM certificate of the cloud's private CA (`cacert` in clouds.yaml). The cluster's controllers
   * and machines also trust this CA.
   * @default a public CA has signed the cloud's certificate
   */
  readonly caCertificate?: string;
  /**
   * Client certificate that the cloud requires (`cert` and `key` in clouds.yaml). The cluster's
   * controllers also use this certificate.
   * @default the cloud requires no client certificate
   */
  readonly clientCertificate?: ClientCertificate;
  /**
   * Directories for files that the settings name. @default relative paths begin at the process's
   * working directory, and downloads are not cached
   */
  readonly files?: PinnedFileDirectories;
  /**
   * Whether a value of the settings is encrypted. Pulumi does not say which one, so no plan shows
   * settings of Kubernetes that may have any. @default no
   */
  readonly encrypted?: boolean;
}

/**
 * Client certificate and private key for TLS, as PEM. Both fields may contain the same text, with
 * certificate and key.
 */
export interface ClientCertificate {
  readonly certificate: string;
  readonly privateKey: string;
}

/**
 * Returns the directories for files that the settings name. Relative paths begin at `directory`;
 * default: the process's working directory.
 */
export const filesOf = (env: NodeJS.ProcessEnv, directory?: string): PinnedFileDirectories => ({
  directory,
  cache: cacheDirectoryIn(env, "manifests"),
});

/**
 * Returns the operator in these environment variables: OS_* or `clouds.yaml`, SSH_AUTH_SOCK,
 * XDG_CACHE_HOME.
 */
export const localContextOf = (env: NodeJS.ProcessEnv): LocalContext => ({
  connect: () => connectCloud({ env }),
  connectWith: (credential) => connectCloud({ env, credential }),
  agentSocket: env["SSH_AUTH_SOCK"],
  ...certificatesOf(env),
  files: filesOf(env),
});

/**
 * Returns the certificates of the cloud in the environment variables. Returns none for an invalid
 * cloud: `connect` reports the error.
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

/** Returns the client certificate if both of its parts are set. */
const pairOf = ({
  cert: certificate,
  key: privateKey,
}: Pick<CloudSettings, "cert" | "key">): ClientCertificate | undefined =>
  certificate === undefined || privateKey === undefined ? undefined : { certificate, privateKey };
