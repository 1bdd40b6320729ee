import { cacheDirectoryIn } from "../../base/paths.js";
import { connectCloud, type CloudClient } from "../../cloud/client.js";
import { CloudError } from "../../cloud/cloud-error.js";
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
  /** Where files that the settings name are, and are kept. @default relative paths count from the process's own directory, nothing is kept */
  readonly files?: PinnedFiles;
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
  caCertificate: certificateOf(env),
  files: filesOf(env),
});

/** Without a cloud there is no certificate either; `connect` says what is wrong with it. */
function certificateOf(env: NodeJS.ProcessEnv): string | undefined {
  try {
    return findCloud(undefined, env).ca;
  } catch (error) {
    if (error instanceof CloudError) return undefined;
    throw error;
  }
}
