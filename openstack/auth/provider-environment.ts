import { findCloud } from "./clouds-file.js";

/*
 * Environment variables for OpenStack's provider. The provider reads clouds.yaml and the variables
 * in another directory and by other rules than this program. Both must use the same project of the
 * same cloud, because this program searches the project for conflicting and orphaned objects.
 */

/**
 * Variables of an openrc file for login and project. If an entry in clouds.yaml lacks a value, the
 * provider takes it from these variables; this program does not.
 */
const identity = new RegExp(
  `^OS_(${[
    ...["AUTH_URL", "AUTH_TYPE", "(AUTH_)?TOKEN", "USERNAME", "USER_ID", "PASSWORD", "PASSCODE"],
    ...["(TENANT|PROJECT)_(ID|NAME)", "(USER_|PROJECT_)?DOMAIN_(ID|NAME)", "DEFAULT_DOMAIN"],
    ...["APPLICATION_CREDENTIAL_(ID|NAME|SECRET)", "SYSTEM_SCOPE", "TRUST_ID"],
  ].join("|")})$`,
);

/**
 * Returns the environment variables with which the provider uses the cloud that `findCloud` finds
 * in `env`. Returns `env` itself if `findCloud` finds no cloud.
 */
export function providerEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const cloud = foundIn(env);
  if (cloud === undefined) return env;
  const { file, unseen } = cloud;
  if (file === undefined) return { ...env, ...unseen };
  const kept = Object.entries(env).filter(([name]) => !identity.test(name));
  return { ...Object.fromEntries(kept), OS_CLIENT_CONFIG_FILE: file, ...unseen };
}

/** Returns the cloud. Returns undefined on any error: the sign-in reports the error later. */
function foundIn(env: NodeJS.ProcessEnv): ReturnType<typeof findCloud> | undefined {
  try {
    return findCloud(undefined, env);
  } catch {
    return undefined;
  }
}
