import { execFileSync } from "node:child_process";

/** Time in which the ssh-agent must answer. A forwarded agent hangs if its connection does. */
const agentMilliseconds = 15_000;

/** Returns the public keys of the ssh-agent that the environment variables name. */
export function listAgentKeys(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    const output = execFileSync("ssh-add", ["-L"], {
      env,
      encoding: "utf8",
      stdio: "pipe",
      timeout: agentMilliseconds,
    });
    return output.split("\n").filter((line) => line.includes(" AAAA"));
  } catch {
    // `ssh-add` fails without an agent, a key or OpenSSH, and if the agent hangs. The schema reports
    // the missing login key.
    return [];
  }
}
