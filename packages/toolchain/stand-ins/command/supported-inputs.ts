/**
 * Defines the input properties that this stand-in supports, by resource type. Check refuses all
 * other properties.
 */

const connection = [
  "host",
  "port",
  "user",
  "password",
  "privateKey",
  "privateKeyPassword",
  "agentSocketPath",
  "hostKey",
  "dialErrorLimit",
  "perDialTimeout",
] as const;

const command = [
  "create",
  "update",
  "delete",
  "stdin",
  "environment",
  "logging",
  "triggers",
  "addPreviousOutputInEnv",
] as const;

/** Map from a resource type to the names of its supported input properties. */
export const supportedProperties: Readonly<Record<string, readonly string[]>> = {
  "command:remote:Command": ["connection", ...command],
  "command:remote:CopyToRemote": ["connection", "source", "remotePath", "triggers"],
  "command:local:Command": [...command, "dir", "interpreter"],
};

/** Properties of `connection`. `proxy` has the same properties, except `proxy`. */
export const supportedConnectionProperties: readonly string[] = [...connection, "proxy"];
export const supportedProxyProperties: readonly string[] = connection;

/** Functions of the package that this stand-in supports: none. */
export const supportedFunctions: readonly string[] = [];
