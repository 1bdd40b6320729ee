import { join } from "node:path";
import { connectCloud, type CloudClient } from "../../cloud/client.js";

/**
 * What a run has of the person who starts it: with it the program finds out why a machine fails, and which machines have
 * to wait for their turn. Nothing of it changes which resources there are.
 */
export interface Operator {
  /** Signs in to the cloud, with a credential for the project in which the provider works. */
  readonly connect: () => Promise<CloudClient>;
  /** Directory that remembers machines that never answered until the next run, which replaces them. It need not exist. */
  readonly markers: string;
  /** Path of the socket of the ssh-agent with the login key. @default nobody logs in to look */
  readonly agentSocket?: string;
}

/** Where the markers of a stack are whose program runs in `directory`. */
export const markersOf = (directory: string, stack: string): string =>
  join(directory, ".stackadm", stack);

/** The operator that an environment describes: OS_* or `clouds.yaml`, SSH_AUTH_SOCK. */
export const operatorOf = (env: NodeJS.ProcessEnv, markers: string): Operator => ({
  connect: () => connectCloud({ env }),
  markers,
  agentSocket: env["SSH_AUTH_SOCK"],
});
