import type { PulumiOpenstackVersion } from "../../base/versions/pulumi-openstack-versions.js";
import { findCloudSecrets } from "../../openstack/auth/cloud-secrets.js";
import { createClusterService, type ClusterService } from "../cluster-service.js";
import type { StopSignals, WhichCluster } from "../engine/operation-options.js";
import type { StartedOperation } from "../engine/operation-events.js";
import { silentProgress } from "../../base/progress.js";
import { removeUrlPassword } from "../../base/url-passwords.js";
import { addEnvironmentSecrets } from "../../base/terminal/redact-secrets.js";
import { describesCluster, readOpenstackPluginVersion } from "../engine/stack-settings.js";
import { readStackSettings } from "../pulumi/project-files.js";
import { readProviderSettings } from "../pulumi/provider-config.js";
import { usesPassphrase } from "../pulumi/workspace.js";
import { RunView, type RunViewOptions } from "../render/run-progress.js";
import { renderClusterLine } from "../render/cluster-line.js";
import { renderBackendLine, type BackendChoice } from "../setup/choose-backend.js";
import { prepareEnvironment, type OperationEnvironment } from "../setup/operation-environment.js";
import { findPulumiProject, type PulumiProject } from "./pulumi-project.js";
import type { CommandSession } from "../../base/terminal/session.js";

/** Options that every command about a stack has. */
export interface StackOptions {
  readonly stack: string;
  /** Directory of the stack's project. Default: the current directory. */
  readonly cwd?: string;
}

/** Everything that a command about a stack needs. */
export interface StackContext {
  readonly stack: string;
  readonly project: PulumiProject;
  /**
   * Whether the stack's settings describe the cluster. False if a custom program defines the
   * cluster in code.
   */
  readonly described: boolean;
  readonly session: CommandSession;
  readonly environment: OperationEnvironment;
  readonly service: ClusterService;
}

/**
 * Returns the version of the OpenStack plugin that the stack's settings or the site select. Returns
 * undefined if neither selects a version.
 */
export const readStackPluginVersion = (settings: string): PulumiOpenstackVersion | undefined =>
  readOpenstackPluginVersion({ settings, siteFile: process.env["STACKADM_SITE"] });

/**
 * Returns a callback that reports the chosen backend: in the first line that the command prints, or
 * in an event with `--json`.
 */
export const createBackendReporter =
  (session: CommandSession, stack: string) =>
  (choice: BackendChoice): void => {
    const { url, chosenBy } = choice;
    session.emit({ type: "backend", stack, url: removeUrlPassword(url), chosenBy });
    if (!session.json) session.progress.note(renderBackendLine(choice));
  };

/** Prepares the context of a command about a stack, runs the command, and cleans up. */
export async function withStack<T>(
  session: CommandSession,
  { stack, cwd }: StackOptions,
  work: (context: StackContext) => Promise<T>,
): Promise<T> {
  const project = findPulumiProject(cwd);
  const settings = readStackSettings(project.directory, stack);
  const environment = await prepareEnvironment({
    progress: session.progress,
    signal: session.signal,
    passphrase: usesPassphrase(settings),
    projectDirectory: project.directory,
    stack,
    onBackend: createBackendReporter(session, stack),
    provider: readProviderSettings({ stack, settings, directory: project.directory }),
    openstackPlugin: readStackPluginVersion(settings),
  });
  addEnvironmentSecrets(session.redactor, environment.env);
  session.redactor.add(findCloudSecrets(environment.env));
  try {
    const { env, backend } = environment;
    const { directory: projectDirectory, program } = project;
    const service = createClusterService({
      env,
      backend,
      projectDirectory,
      program,
    });
    const { name } = project;
    const described = name === undefined || describesCluster({ project: name, settings });
    return await work({ stack, project, described, session, environment, service });
  } finally {
    await environment.close();
  }
}

/**
 * Returns a callback that reports the clusters on which the command works. Prints a line, or an
 * event with `--json`.
 */
export const createClusterReporter = ({
  session,
  stack,
}: StackContext): { readonly onCluster: (which: WhichCluster) => void } => ({
  onCluster: (which) => {
    session.emit({ type: "cluster", stack, ...which });
    if (!session.json) session.progress.note(renderClusterLine(which));
  },
});

/** Returns the session's stop signals, for a request to the service. */
export const getStopSignals = ({ session }: StackContext): StopSignals => ({
  signal: session.signal,
  killSignal: session.killSignal,
});

/**
 * Creates the view that shows an operation. With `--json`, the view shows nothing, because the
 * events are printed.
 */
export const createRunView = (
  { session }: StackContext,
  options: Pick<RunViewOptions, "direction" | "showsCluster"> = {},
): RunView =>
  new RunView({
    progress: session.json ? silentProgress : session.progress,
    ...options,
  });

/**
 * Shows or prints the events of an operation until it ends. Returns the result of the operation.
 */
export async function followOperation<Result>(
  context: StackContext,
  operation: StartedOperation<Result>,
  view: RunView = createRunView(context),
): Promise<Result> {
  const { session } = context;
  const cancel = (): void => {
    operation.cancel();
  };
  const kill = (): void => {
    operation.cancel({ now: true });
  };
  session.signal.addEventListener("abort", cancel);
  session.killSignal.addEventListener("abort", kill);
  if (session.signal.aborted) cancel();
  try {
    for await (const event of operation.events()) {
      session.emit({ ...event });
      view.processEvent(event);
    }
    return await operation.result;
  } finally {
    session.signal.removeEventListener("abort", cancel);
    session.killSignal.removeEventListener("abort", kill);
  }
}
