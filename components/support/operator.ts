import { cacheDirectoryIn } from "../../base/paths.js";
import { connectCloud, type CloudClient } from "../../cloud/client.js";
import { CloudError } from "../../cloud/cloud-error.js";
import type { CloudSettings } from "../../cloud/clouds-file.js";
import { findCloud } from "../../cloud/clouds-file.js";
import type { Credential } from "../../cloud/credential.js";
import type { PinnedFiles } from "./pinned-file.js";

/**
 * Environment of the user who runs the program. The program uses it to find out why a machine fails
 * and which machines must be replaced one after another. It does not change which resources exist.
 */
export interface Operator {
  /** Signs in to the cloud, with a credential for the project in which the provider works. */
  readonly connect: () => Promise<CloudClient>;
  /**
   * Signs in to the same cloud with another credential: the one of a user that the settings name.
   * @default that credential is not tested
   */
  readonly connectWith?: (credential: Credential) => Promise<CloudClient>;
  /**
   * Path of the socket of the ssh-agent with the login key. @default machines are not checked by
   * SSH
   */
  readonly agentSocket?: string;
  /**
   * PEM certificate of the cloud's own CA, `cacert` in clouds.yaml. The cluster's controllers and
   * machines get it, too.
   * @default the cloud's certificate is signed by a public CA
   */
  readonly caCertificate?: string;
  /**
   * Client certificate that the cloud requires, `cert` and `key` in clouds.yaml. The cluster's
   * controllers present it, too.
   * @default the cloud requires none
   */
  readonly clientCertificate?: ClientCertificate;
  /**
   * Directories of files that the settings name. @default relative paths start at the process's
   * directory, and downloads are not cached
   */
  readonly files?: PinnedFiles;
}

/**
 * Client certificate and private key for TLS, as PEM. Both may be the same file that contains both.
 */
export interface ClientCertificate {
  readonly certificate: string;
  readonly privateKey: string;
}

/**
 * Returns the directories of an environment's files. Relative paths start at `directory`, or at the
 * process's directory.
 */
export const filesOf = (env: NodeJS.ProcessEnv, directory?: string): PinnedFiles => ({
  directory,
  cache: cacheDirectoryIn(env, "manifests"),
});

/** Returns the operator of an environment: OS_* or `clouds.yaml`, SSH_AUTH_SOCK, XDG_CACHE_HOME. */
export const operatorOf = (env: NodeJS.ProcessEnv): Operator => ({
  connect: () => connectCloud({ env }),
  connectWith: (credential) => connectCloud({ env, credential }),
  agentSocket: env["SSH_AUTH_SOCK"],
  ...certificatesOf(env),
  files: filesOf(env),
});

/**
 * Returns the certificates of the environment's cloud. Without a valid cloud there are none;
 * `connect` reports the error.
 */
function certificatesOf(
  env: NodeJS.ProcessEnv,
): Pick<Operator, "caCertificate" | "clientCertificate"> {
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
