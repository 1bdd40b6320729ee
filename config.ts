import { execFileSync } from "node:child_process";
import * as pulumi from "@pulumi/pulumi";
import * as pulumiConfig from "@pulumi/pulumi/runtime/config.js";
import { checkClusterSpec } from "./components/checked-spec.js";
import type { ClusterSpec } from "./components/spec/cluster-spec.js";
import { isFields, merge, preferredKey } from "./components/spec/defaults.js";
import { openSecrets } from "./components/spec/secrets.js";
import { filesOf, operatorOf, type Operator } from "./components/support/operator.js";
import { ConfigError } from "./components/support/errors.js";
import { withSiteDefaults } from "./components/site.js";

/** Where the stack's configuration is written. */
export const settingsFile = (): string => `Pulumi.${pulumi.getStack()}.yaml`;

/** The only reader of the stack's configuration: `cluster`, over the site's defaults, checked as a whole. */
export function readConfig(): ClusterSpec {
  const stack = pulumi.getStack();
  const written = new pulumi.Config().getObject<unknown>("cluster") ?? {};
  const args = merge({ name: stack }, withSiteDefaults(written, process.env));
  const result = checkClusterSpec(withLoginKey(args), filesOf(process.env));
  if ("problems" in result) throw new ConfigError(settingsFile(), result.problems);
  // The SDK has decrypted them: what is text by now was encrypted, or nothing of the cluster was.
  const open = openSecrets(result.spec, pulumi.getProject());
  if (open.length > 0 && !isEncrypted("cluster")) throw new ConfigError(settingsFile(), open);
  return result.spec;
}

/** Whoever runs the program: the cloud and the ssh-agent of the environment. */
export const operator = (): Operator => operatorOf(process.env);

/** Whether a value of the stack's settings is kept encrypted, or something in it: the SDK knows, and has no type for it. */
function isEncrypted(key: string): boolean {
  const { isConfigSecret } = pulumiConfig as unknown as {
    readonly isConfigSecret: (of: string) => boolean;
  };
  return isConfigSecret(`${pulumi.getProject()}:${key}`);
}

/** Without a configured login key, the agent's is taken: the one that the SSH connections will use. */
function withLoginKey(args: unknown): unknown {
  const configured = isFields(args) && isFields(args["ssh"]) ? args["ssh"]["publicKey"] : undefined;
  const publicKey = configured ?? preferredKey(agentKeys());
  return publicKey === undefined ? merge({ ssh: {} }, args) : merge({ ssh: { publicKey } }, args);
}

function agentKeys(): readonly string[] {
  try {
    const output = execFileSync("ssh-add", ["-L"], { encoding: "utf8", stdio: "pipe" });
    return output.split("\n").filter((line) => line.includes(" AAAA"));
  } catch {
    // No agent, no key in it, or no ssh at all: the schema says what to do when the key is missing.
    return [];
  }
}
