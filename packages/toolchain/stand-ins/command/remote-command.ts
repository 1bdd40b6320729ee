/** Implements `command:remote:Command`: one command over SSH at create, update and delete. */
import type { ResourceOperation } from "./context.js";
import type { RemoteCommandInputs } from "./inputs.js";
import { OutputCollector, createCommandError } from "./output.js";
import { dial } from "./ssh-connection.js";
import { RemoteShell } from "./ssh-session.js";

export interface CommandOutput {
  readonly stdout: string;
  readonly stderr: string;
}

export interface SshEnvironment {
  /** Socket of the user's SSH agent, `SSH_AUTH_SOCK`. */
  readonly agentSocket: string | undefined;
}

/**
 * Runs `command` with the settings in `inputs`. `inputs.stdout` and `stderr` are the outputs of the
 * previous run.
 */
export async function runRemote(
  command: string,
  inputs: RemoteCommandInputs,
  operation: ResourceOperation,
  { agentSocket }: SshEnvironment,
): Promise<CommandOutput> {
  const session = await dial(inputs.connection, operation, agentSocket);
  try {
    const shell = await RemoteShell.open(session.client);
    await setEnvironment(shell, inputs, operation);
    const output = new OutputCollector(inputs.logging, (line) => {
      operation.status(line);
    });
    const stdin = inputs.stdin === "" ? undefined : inputs.stdin;
    const failed = await shell.run(command, stdin, output);
    if (failed !== undefined) throw createCommandError(failed, command, output);
    return { stdout: output.of("stdout"), stderr: output.of("stderr") };
  } finally {
    session.close();
  }
}

async function setEnvironment(
  shell: RemoteShell,
  inputs: RemoteCommandInputs,
  operation: ResourceOperation,
): Promise<void> {
  for (const [name, value] of Object.entries(inputs.environment)) {
    if (await shell.setEnvironment(name, value)) continue;
    operation.diagnostic("error", refused(name));
    throw new Error(`could not set environment variable "${name}": ssh: setenv failed`);
  }
  if (!inputs.addPreviousOutputInEnv) return;
  const previous = [
    ["PULUMI_COMMAND_STDOUT", inputs.stdout],
    ["PULUMI_COMMAND_STDERR", inputs.stderr],
  ] as const;
  for (const [name, value] of previous) {
    if (value === "" || (await shell.setEnvironment(name, value))) continue;
    operation.diagnostic("warning", refused(name));
  }
}

/**
 * Returns the official plugin's error for an environment variable that the SSH server refuses. The
 * text suggests a solution.
 */
function refused(name: string): string {
  return [
    `Unable to set '${name}'. This only works if your SSH server is configured to accept`,
    "\tthese variables via AcceptEnv. Alternatively, if a Bash-like shell runs the command on the remote host, you could",
    "\tprefix the command itself with the variables in the form 'VAR=value command'",
  ].join("\n");
}
