import { findUsableCloud } from "./clouds-file.js";
import type { Credential } from "./credential.js";

/*
 * Environment variables for OpenStack's provider. The provider runs in another directory, and reads
 * clouds.yaml and the variables by other rules than this program. The provider and this program
 * must use the same project of the same cloud, because this program searches this project for
 * conflicting and orphaned objects.
 */

/**
 * Variables of an openrc file for login and project. The provider uses these variables for values
 * that are missing in clouds.yaml. This program ignores these variables when it uses clouds.yaml.
 */
const identity = new RegExp(
  `^OS_(${[
    ...["AUTH_URL", "AUTH_TYPE", "(AUTH_)?TOKEN", "USERNAME", "USER_ID", "PASSWORD", "PASSCODE"],
    ...["(TENANT|PROJECT)_(ID|NAME)", "(USER_|PROJECT_)?DOMAIN_(ID|NAME)", "DEFAULT_DOMAIN"],
    ...["APPLICATION_CREDENTIAL_(ID|NAME|SECRET)", "SYSTEM_SCOPE", "TRUST_ID"],
  ].join("|")})$`,
);

/** Returns whether the provider may take a part of the login from the variable. */
export const isLoginVariable = (name: string): boolean =>
  identity.test(name) && !/^OS_(AUTH_URL|AUTH_TYPE|PASSCODE|DEFAULT_DOMAIN|TRUST_ID)$/.test(name);

/**
 * Variables that make the provider sign in or create load balancers in another way. The program
 * relies on the defaults. With OS_ALLOW_REAUTH=false, a run would fail when its token expires.
 */
const modes = /^OS_(SWAUTH|DELAYED_AUTH|ALLOW_REAUTH|USE_OCTAVIA)$/;

const applicationVariables = /^OS_APPLICATION_CREDENTIAL_(ID|NAME|SECRET)$/;
const userVariables =
  /^OS_(USERNAME|USER_ID|USER_DOMAIN_(ID|NAME)|DOMAIN_(ID|NAME)|DEFAULT_DOMAIN)$/;

/**
 * Returns whether the credential needs the login variable. The provider would combine other
 * variables, for example of a former openrc file, with the credential: it would ask for a project
 * together with an application credential, which Keystone refuses.
 */
function isUsedBy(credential: Credential, variable: string): boolean {
  if (/^OS_AUTH_(URL|TYPE)$/.test(variable)) return true;
  switch (credential.kind) {
    case "application":
      return (
        applicationVariables.test(variable) ||
        (credential.id === undefined && userVariables.test(variable))
      );
    case "token":
      return !applicationVariables.test(variable) && !/^OS_(PASSWORD|PASSCODE)$/.test(variable);
    case "password":
      return !applicationVariables.test(variable) && !/^OS_(AUTH_)?TOKEN$/.test(variable);
  }
}

/**
 * Returns whether this program prefers another variable of the project. The provider would prefer
 * the old name, OS_TENANT_ID or OS_TENANT_NAME.
 */
const isOutranked = (env: NodeJS.ProcessEnv, name: string): boolean =>
  /^OS_TENANT_(ID|NAME)$/.test(name) && (env[name.replace("TENANT", "PROJECT")] ?? "") !== "";

/**
 * Returns the environment with which the provider uses the same cloud as `findCloud`. Returns `env`
 * unchanged if `findCloud` finds no cloud.
 */
export function getProviderEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const cloud = findUsableCloud(env);
  if (cloud === undefined) return env;
  const { file, unseen, credential } = cloud;
  const isKept = (name: string): boolean =>
    identity.test(name)
      ? file === undefined && isUsedBy(credential, name) && !isOutranked(env, name)
      : !modes.test(name);
  const kept = Object.entries(env).filter(([name]) => isKept(name));
  const added = Object.entries(unseen).filter(
    ([name]) => !identity.test(name) || isUsedBy(credential, name),
  );
  return {
    ...Object.fromEntries(kept),
    ...(file !== undefined && { OS_CLIENT_CONFIG_FILE: file }),
    ...Object.fromEntries(added),
  };
}
