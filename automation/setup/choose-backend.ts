import { mkdirSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { quoteForShell } from "../../components/remote-scripts/shell-quoting.js";
import { Failure } from "../../base/failures/failure.js";
import { getLabFolderName, getStatePath } from "../../base/paths.js";
import { removeUrlPassword } from "../../base/url-passwords.js";
import { backendVariable, normalizeBackend, requireBackendUrl } from "../pulumi/backend.js";
import { readLogin, type Login } from "../pulumi/pulumi-internals.js";

/*
 * Chooses the state backend, for every command and for programs that name none. `pulumi` uses the
 * same order. See docs/decisions/0070-one-backend-rule.md.
 */

/**
 * Setting that chose the backend: PULUMI_BACKEND_URL, `backend.url` in Pulumi.yaml, `pulumi login`, or none
 * of them.
 */
export type BackendSource = "environment" | "project" | "login" | "default";

export interface BackendChoice {
  readonly url: string;
  readonly chosenBy: BackendSource;
  /** Name of the setting that chose the backend, for messages. */
  readonly setting: string;
}

export interface BackendRuleOptions {
  /** Environment of the user. */
  readonly env: NodeJS.ProcessEnv;
  /** `backend.url` in Pulumi.yaml. */
  readonly project?: string | undefined;
  /** Whether the operation uses the lab's cloud. */
  readonly onLab: boolean;
}

const isSet = (value: string | undefined): value is string => value !== undefined && value !== "";

const urlOf = (directory: string): string => pathToFileURL(directory).href;

const getLocalDirectory = (): string => getStatePath("pulumi");
/** Returns the directory for the stacks of the lab, which is deleted with the lab. */
const getLabDirectory = (): string => getStatePath(getLabFolderName(), "pulumi");

const getDefaultDirectory = (onLab: boolean): string =>
  onLab ? getLabDirectory() : getLocalDirectory();

/** Returns whether the backend is a directory of stackadm, however it was chosen. */
export const isDefaultBackend = (backend: string): boolean =>
  [getLocalDirectory(), getLabDirectory()].includes(normalizeBackend(backend));

/**
 * Returns the backend with the state: PULUMI_BACKEND_URL, else `backend.url` in Pulumi.yaml, else
 * the backend that `pulumi login` selected, else a directory of stackadm, which is created. Throws
 * if the chosen backend cannot be used.
 */
export function chooseBackend({ env, project, onLab }: BackendRuleOptions): BackendChoice {
  const named = env[backendVariable];
  if (isSet(named))
    return { url: requireBackendUrl(named), chosenBy: "environment", setting: backendVariable };
  if (isSet(project)) {
    const url = requireBackendUrl(project, "Pulumi.yaml: backend.url");
    return { url, chosenBy: "project", setting: "backend.url in Pulumi.yaml" };
  }
  const login = readLogin(env);
  if (login) return { url: requireLoginUrl(login), chosenBy: "login", setting: login.by };
  const directory = getDefaultDirectory(onLab);
  makeDirectory(directory);
  const setting = onLab ? "the lab's directory" : "stackadm's directory";
  return { url: urlOf(directory), chosenBy: "default", setting };
}

/** Throws if the backend of a login cannot be used. The error also says how to log out. */
function requireLoginUrl({ url, by }: Login): string {
  try {
    return requireBackendUrl(url, by);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const instead =
      by === "pulumi login"
        ? "Or select another backend with `pulumi login`; after `pulumi logout`, stackadm uses its own directory."
        : `Or set ${backendVariable} to another backend.`;
    throw new Failure(error.code, error.sentence, `${error.hint} ${instead}`);
  }
}

/**
 * Creates a directory. The error names XDG_STATE_HOME, because a wrong value of this variable may
 * be the cause.
 */
function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw new Failure(
      "INVALID_USAGE",
      `The directory ${directory} for the state cannot be created (${code}).`,
      "Set XDG_STATE_HOME to a directory that you may write into, or unset it.",
    );
  }
}

/** Returns the login. Returns undefined if the login is unknown. */
function findLogin(env: NodeJS.ProcessEnv): string | undefined {
  try {
    return readLogin(env)?.url;
  } catch {
    return undefined;
  }
}

/**
 * Returns the URLs of the backends that another setting chooses, or that no setting chooses. A stack
 * that the chosen backend does not have may be in one of them.
 */
export function listOtherBackends(
  chosen: string,
  { env, project, onLab }: BackendRuleOptions,
): string[] {
  const all = [project, findLogin(env), urlOf(getDefaultDirectory(onLab))].filter(isSet);
  const places = new Map(all.flatMap((url) => normalizedEntry(url)));
  for (const [place] of normalizedEntry(chosen)) places.delete(place);
  return [...places.values()];
}

/** Returns place and URL of a backend. Returns no place if the URL is not valid. */
function normalizedEntry(url: string): readonly [string, string][] {
  try {
    return [[normalizeBackend(url), url]];
  } catch {
    return [];
  }
}

/** Returns the line about the chosen backend, without passwords. */
export const renderBackendLine = ({ url, setting }: BackendChoice): string =>
  `State: ${removeUrlPassword(url)} (${setting})`;

/** Returns the shell command that selects a backend, without its password. */
export const renderBackendExport = (url: string): string =>
  `export ${backendVariable}=${quoteForShell(removeUrlPassword(url))}`;
