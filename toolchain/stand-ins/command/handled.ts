/** The input properties this stand-in acts on, by resource type; anything else is refused in Check. */

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

/** Resource type to the names of its input properties. */
export const handled: Readonly<Record<string, readonly string[]>> = {
  "command:remote:Command": ["connection", ...command],
  "command:remote:CopyToRemote": ["connection", "source", "remotePath", "triggers"],
  "command:local:Command": [...command, "dir", "interpreter"],
};

/** Properties of `connection`; `proxy` has the same but no `proxy`. */
export const handledConnection: readonly string[] = [...connection, "proxy"];
export const handledProxy: readonly string[] = connection;

/** Functions of the package that this stand-in answers: none. */
export const handledFunctions: readonly string[] = [];
