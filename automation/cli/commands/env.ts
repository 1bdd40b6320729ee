import { existsSync } from "node:fs";
import { join } from "node:path";
import { ensureCommands } from "../../../base/host-packages.js";
import { openstackPluginIn } from "../../engine/stack-settings.js";
import { readStackFile, usesPassphrase } from "../../pulumi/workspace.js";
import { agentKeys, ensureKey, reportNewKey } from "../../setup/ssh-agent.js";
import {
  loginKeyFile,
  prepareEnvironment,
  sshCommandPackages,
} from "../../setup/operation-environment.js";
import { findProject } from "../pulumi-project.js";
import type { StackOptions } from "../stack-context.js";
import type { Session } from "../../../base/terminal/session.js";

/** Returns `value` quoted as one word for a POSIX shell. */
export const shellWord = (value: string): string =>
  /^[A-Za-z0-9_./:=@%+,-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;

/** Returns shell lines that export the variables. */
export const exportLines = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, value]) => `export ${name}=${shellWord(value)}`)
    .join("\n");

/**
 * Returns shell lines that start an ssh-agent and load stackadm's key. The agent runs until the
 * user calls `ssh-agent -k`.
 */
export const agentLines = (keyFile: string): string =>
  `eval "$(ssh-agent -s)" >/dev/null\nssh-add -q ${shellWord(keyFile)}`;

/** Returns whether the ssh-agent at SSH_AUTH_SOCK has at least one key. */
async function agentIsReady(env: NodeJS.ProcessEnv): Promise<boolean> {
  const socket = env["SSH_AUTH_SOCK"];
  return socket !== undefined && (await agentKeys(socket)).length > 0;
}

/** Returns the text of the stack's settings file. Returns "" if the file does not exist. */
function settingsOf({ stack, cwd }: StackOptions): string {
  const { directory } = findProject(cwd);
  return existsSync(join(directory, `Pulumi.${stack}.yaml`)) ? readStackFile(directory, stack) : "";
}

export async function envCommand(session: Session, options: StackOptions): Promise<number> {
  const { progress, signal } = session;
  const settings = settingsOf(options);
  const environment = await prepareEnvironment({
    progress,
    signal,
    agent: false,
    backend: findProject(options.cwd).backend,
    // A missing passphrase is no error here. Otherwise the shell would get no variables at all,
    // even for stacks that need no passphrase.
    passphrase: usesPassphrase(settings) && "optional",
    openstackPlugin: openstackPluginIn({ settings, siteFile: process.env["STACKADM_SITE"] }),
  });
  const variables = environment.changes;
  const ready = await agentIsReady(process.env);
  if (!ready) {
    await ensureCommands(sshCommandPackages, progress);
    const note = (text: string): void => {
      progress.note(text);
    };
    await ensureKey(loginKeyFile(), reportNewKey(note));
  }
  session.print(exportLines(variables));
  if (!ready) session.print(agentLines(loginKeyFile()));
  session.emit({ type: "result", ok: true, variables });
  return 0;
}
