import { findCloud } from "./clouds-file.js";

/*
 * OpenStack's provider reads clouds.yaml and the variables by itself, in another directory and by other rules. It has to come to the same
 * project of the same cloud as we do, who look there for what is in the way and for what is left.
 */

/** Variables of an openrc file that say who and where. The provider fills with them what a named cloud's entry leaves out; we do not. */
const identity = new RegExp(
  `^OS_(${[
    ...["AUTH_URL", "AUTH_TYPE", "(AUTH_)?TOKEN", "USERNAME", "USER_ID", "PASSWORD", "PASSCODE"],
    ...["(TENANT|PROJECT)_(ID|NAME)", "(USER_|PROJECT_)?DOMAIN_(ID|NAME)", "DEFAULT_DOMAIN"],
    ...["APPLICATION_CREDENTIAL_(ID|NAME|SECRET)", "SYSTEM_SCOPE", "TRUST_ID"],
  ].join("|")})$`,
);

/** The environment in which the provider reaches what `findCloud` finds in this one; the same where that is nothing. */
export function providerEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const cloud = foundIn(env);
  if (cloud === undefined) return env;
  const { file, unseen } = cloud;
  if (file === undefined) return { ...env, ...unseen };
  const kept = Object.entries(env).filter(([name]) => !identity.test(name));
  return { ...Object.fromEntries(kept), OS_CLIENT_CONFIG_FILE: file, ...unseen };
}

/** Who signs in says what is wrong with it. */
function foundIn(env: NodeJS.ProcessEnv): ReturnType<typeof findCloud> | undefined {
  try {
    return findCloud(undefined, env);
  } catch {
    return undefined;
  }
}
