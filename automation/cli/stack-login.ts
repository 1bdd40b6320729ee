import { StackOperation } from "../engine/operation-context.js";
import { hasStackSettings, readStackSettings } from "../pulumi/project-files.js";
import { readProviderSettings } from "../pulumi/provider-config.js";
import { applyProviderSettings, selectCloudEnvironment } from "../setup/operation-environment.js";
import type { CommandSession } from "../../base/terminal/session.js";
import { findPulumiProject } from "./pulumi-project.js";
import { withStack, type StackOptions } from "./stack-context.js";

/**
 * Returns the environment with the login of a stack, for a command that needs only the cloud. Needs
 * a backend and an engine only if the settings of the stack contain an encrypted login. Without
 * settings of the stack, the environment names the cloud.
 */
export async function readStackLogin(
  session: CommandSession,
  { stack, cwd }: StackOptions,
): Promise<NodeJS.ProcessEnv> {
  const { directory } = findPulumiProject(cwd);
  const settings = hasStackSettings(directory, stack) ? readStackSettings(directory, stack) : "";
  const provider = readProviderSettings({ stack, settings, directory });
  if (provider.encrypted.length > 0) return decryptLogin(session, { stack, cwd });
  const env = applyProviderSettings(process.env, { provider, progress: session.progress });
  return { ...env, ...selectCloudEnvironment(env) };
}

const decryptLogin = (session: CommandSession, options: StackOptions): Promise<NodeJS.ProcessEnv> =>
  withStack(session, options, async ({ environment, project, stack }) => {
    const { env, backend } = environment;
    const { redactor, signal } = session;
    const service = { env, backend, projectDirectory: project.directory };
    const run = new StackOperation(service, stack, { signal, redactor });
    try {
      return await run.connection.login();
    } finally {
      run.close();
    }
  });
