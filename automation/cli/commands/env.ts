import { ensureCommands } from "../../../base/host-packages.js";
import { readOpenstackPluginVersion } from "../../engine/stack-settings.js";
import { hasStackSettings, readStackSettings } from "../../pulumi/project-files.js";
import { readProviderSettings } from "../../pulumi/provider-config.js";
import { usesPassphrase } from "../../pulumi/workspace.js";
import { readAgentKeys, ensureKey, createNewKeyReporter } from "../../setup/ssh-agent.js";
import {
  getBackendRule,
  getLoginKeyPath,
  prepareEnvironment,
  sshCommandPackages,
} from "../../setup/operation-environment.js";
import { explainMissingStackFile } from "../../setup/stack-places.js";
import { findPulumiProject } from "../pulumi-project.js";
import { createBackendReporter, type StackOptions } from "../stack-context.js";
import type { CommandSession } from "../../../base/terminal/session.js";

/** Returns `value` quoted as one word for a POSIX shell. */
export const quoteShellWord = (value: string): string =>
  /^[A-Za-z0-9_./:=@%+,-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;

export const renderExportLines = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, value]) => `export ${name}=${quoteShellWord(value)}`)
    .join("\n");

/**
 * Returns shell lines that start an ssh-agent and load stackadm's key. The agent runs until the
 * user calls `ssh-agent -k`.
 */
export const renderSshAgentLines = (keyFile: string): string =>
  `eval "$(ssh-agent -s)" >/dev/null\nssh-add -q ${quoteShellWord(keyFile)}`;

/** Returns whether the ssh-agent at SSH_AUTH_SOCK has at least one key. */
async function agentIsReady(env: NodeJS.ProcessEnv): Promise<boolean> {
  const socket = env["SSH_AUTH_SOCK"];
  return socket !== undefined && (await readAgentKeys(socket)).length > 0;
}

/** Returns the text of the stack's settings file. Returns "" if the file does not exist. */
function settingsOf(directory: string, stack: string): string {
  return hasStackSettings(directory, stack) ? readStackSettings(directory, stack) : "";
}

export async function runEnvCommand(
  session: CommandSession,
  options: StackOptions,
): Promise<number> {
  const { progress, signal } = session;
  const { directory: projectDirectory } = findPulumiProject(options.cwd);
  const settings = settingsOf(projectDirectory, options.stack);
  const environment = await prepareEnvironment({
    progress,
    signal,
    agent: false,
    projectDirectory,
    stack: options.stack,
    onBackend: createBackendReporter(session, options.stack),
    // Pulumi reads these settings itself. The variables of the lab must not be added to them.
    provider: readProviderSettings({
      stack: options.stack,
      settings,
      directory: projectDirectory,
    }),
    // A missing passphrase is no error here, because some stacks need no passphrase. An error would
    // leave the shell without any variables.
    passphrase: usesPassphrase(settings) && "optional",
    openstackPlugin: readOpenstackPluginVersion({
      settings,
      siteFile: process.env["STACKADM_SITE"],
    }),
  });
  const variables = environment.changes;
  const elsewhere = explainMissingStackFile(environment.backend, {
    rule: getBackendRule(process.env, projectDirectory),
    stack: options.stack,
    projectDirectory,
  });
  if (elsewhere) progress.note(`! ${elsewhere.sentence} ${elsewhere.hint}`);
  const ready = await agentIsReady(process.env);
  if (!ready) {
    await ensureCommands(sshCommandPackages, progress);
    const note = (text: string): void => {
      progress.note(text);
    };
    await ensureKey(getLoginKeyPath(), createNewKeyReporter(note));
  }
  session.printData(renderExportLines(variables));
  if (!ready) session.printData(renderSshAgentLines(getLoginKeyPath()));
  session.emit({ type: "result", ok: true, variables });
  return 0;
}
