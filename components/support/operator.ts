import { cacheDirectoryIn } from "../../base/paths.js";
import { connectCloud, type CloudClient } from "../../cloud/client.js";
import { CloudError } from "../../cloud/cloud-error.js";
import type { CloudSettings } from "../../cloud/clouds-file.js";
import { findCloud } from "../../cloud/clouds-file.js";
import type { Credential } from "../../cloud/credential.js";
import type { PinnedFiles } from "./pinned-file.js";

/**
 * What a run has of the person who starts it: with it the program finds out why a machine fails, and which machines have
 * to wait for their turn. Nothing of it changes which resources there are.
 */
export interface Operator {
  /** Signs in to the cloud, with a credential for the project in which the provider works. */
  readonly connect: () => Promise<CloudClient>;
  /**
   * Signs in to the same cloud with another credential: that of a user whom the settings supply.
   * @default nobody tries whether it works
   */
  readonly connectWith?: (credential: Credential) => Promise<CloudClient>;
  /** Path of the socket of the ssh-agent with the login key. @default nobody logs in to look */
  readonly agentSocket?: string;
  /**
   * PEM certificate of the cloud's own authority, `cacert` in clouds.yaml: the cluster's controllers and machines have
   * to know it, too.
   * @default the cloud is known to the public authorities
   */
  readonly caCertificate?: string;
  /**
   * Client certificate that the cloud asks for, `cert` and `key` in clouds.yaml: the cluster's controllers show it, too.
   * @default the cloud asks for none
   */
  readonly clientCertificate?: ClientCertificate;
  /** Where files that the settings name are, and are kept. @default relative paths count from the process's own directory, nothing is kept */
  readonly files?: PinnedFiles;
}

/** What one proves oneself by in TLS, as PEM. Both may be the whole file that has them. */
export interface ClientCertificate {
  readonly certificate: string;
  readonly privateKey: string;
}

/** Where those of an environment are kept; relative paths count from where the program runs. */
export const filesOf = (env: NodeJS.ProcessEnv, directory?: string): PinnedFiles => ({
  directory,
  cache: cacheDirectoryIn(env, "manifests"),
});

/** The operator that an environment describes: OS_* or `clouds.yaml`, SSH_AUTH_SOCK, XDG_CACHE_HOME. */
export const operatorOf = (env: NodeJS.ProcessEnv): Operator => ({
  connect: () => connectCloud({ env }),
  connectWith: (credential) => connectCloud({ env, credential }),
  agentSocket: env["SSH_AUTH_SOCK"],
  ...certificatesOf(env),
  files: filesOf(env),
});

/** Without a cloud there is no certificate either; `connect` says what is wrong with it. */
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

/** Who has one has the other. */
const pairOf = ({
  cert: certificate,
  key: privateKey,
}: Pick<CloudSettings, "cert" | "key">): ClientCertificate | undefined =>
  certificate === undefined || privateKey === undefined ? undefined : { certificate, privateKey };
