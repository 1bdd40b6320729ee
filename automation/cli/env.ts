import { existsSync } from "node:fs";
import { join } from "node:path";
import { ensureCommands } from "../../base/host-packages.js";
import { openstackPluginIn } from "../cluster/spec.js";
import { readStackFile, usesPassphrase } from "../cluster/workspace.js";
import { agentKeys, ensureKey, madeKey } from "../setup/ssh-agent.js";
import { ownKeyFile, prepareEnvironment, sshCommands } from "../setup/environment.js";
import { findProject } from "./project.js";
import type { Session, StackOptions } from "./session.js";

/** `value` as one word of a POSIX shell. */
export const shellWord = (value: string): string =>
  /^[A-Za-z0-9_./:=@%+,-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;

/** Lines that a shell evaluates. */
export const exportLines = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, value]) => `export ${name}=${shellWord(value)}`)
    .join("\n");

/** Lines that give the shell an agent with our own key; the agent lives until `ssh-agent -k`. */
export const agentLines = (keyFile: string): string =>
  `eval "$(ssh-agent -s)" >/dev/null\nssh-add -q ${shellWord(keyFile)}`;

/** Does the environment's agent hold a key to log in with? */
async function agentIsReady(env: NodeJS.ProcessEnv): Promise<boolean> {
  const socket = env["SSH_AUTH_SOCK"];
  return socket !== undefined && (await agentKeys(socket)).length > 0;
}

/** Returns the text of the stack's settings; nothing where there are none yet. */
function settingsOf({ stack, cwd }: StackOptions): string {
  const { directory } = findProject(cwd);
  return existsSync(join(directory, `Pulumi.${stack}.yaml`)) ? readStackFile(directory, stack) : "";
}

export async function env(session: Session, options: StackOptions): Promise<number> {
  const { progress, signal } = session;
  const settings = settingsOf(options);
  const environment = await prepareEnvironment({
    ...{ progress, signal, agent: false, backend: findProject(options.cwd).backend },
    // A shell would evaluate nothing at all, also for stacks whose secrets another provider keeps.
    passphrase: usesPassphrase(settings) && "optional",
    openstackPlugin: openstackPluginIn({ settings, siteFile: process.env["STACKADM_SITE"] }),
  });
  const variables = environment.changes;
  const ready = await agentIsReady(process.env);
  if (!ready) {
    await ensureCommands(sshCommands, progress);
    const note = (text: string): void => {
      progress.note(text);
    };
    await ensureKey(ownKeyFile(), madeKey(note));
  }
  session.print(exportLines(variables));
  if (!ready) session.print(agentLines(ownKeyFile()));
  session.emit({ type: "result", ok: true, variables });
  return 0;
}
