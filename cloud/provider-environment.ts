import { findCloud } from "./clouds-file.js";

/*
 * Environment of OpenStack's provider. It reads clouds.yaml and the variables itself, in another
 * directory and by other rules. It must reach the same project of the same cloud as this program,
 * which searches that project for conflicting and leftover objects.
 */

/**
 * Variables of an openrc file for login and project. The provider uses them for what a named
 * cloud's entry leaves out; this program does not.
 */
const identity = new RegExp(
  `^OS_(${[
    ...["AUTH_URL", "AUTH_TYPE", "(AUTH_)?TOKEN", "USERNAME", "USER_ID", "PASSWORD", "PASSCODE"],
    ...["(TENANT|PROJECT)_(ID|NAME)", "(USER_|PROJECT_)?DOMAIN_(ID|NAME)", "DEFAULT_DOMAIN"],
    ...["APPLICATION_CREDENTIAL_(ID|NAME|SECRET)", "SYSTEM_SCOPE", "TRUST_ID"],
  ].join("|")})$`,
);

/**
 * Returns the environment in which the provider reaches the cloud that `findCloud` finds in `env`.
 * Returns `env` itself if it finds none.
 */
export function providerEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const cloud = foundIn(env);
  if (cloud === undefined) return env;
  const { file, unseen } = cloud;
  if (file === undefined) return { ...env, ...unseen };
  const kept = Object.entries(env).filter(([name]) => !identity.test(name));
  return { ...Object.fromEntries(kept), OS_CLIENT_CONFIG_FILE: file, ...unseen };
}

/** Returns the cloud, or undefined on any error: the sign-in reports it. */
function foundIn(env: NodeJS.ProcessEnv): ReturnType<typeof findCloud> | undefined {
  try {
    return findCloud(undefined, env);
  } catch {
    return undefined;
  }
}
