import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import { parse } from "yaml";
import { parseClusterSpec, type ClusterSpec } from "./components/cluster-spec.js";
import { isFields, merge, preferredKey } from "./components/spec/defaults.js";
import { ConfigError } from "./components/support/errors.js";

/** The only reader of the stack's configuration: `cluster`, over the site's defaults, checked as a whole. */
export function readConfig(): ClusterSpec {
  const stack = pulumi.getStack();
  const written = new pulumi.Config().getObject<unknown>("cluster") ?? {};
  const site = readSite(process.env["STACKADM_SITE"]);
  const args = merge(merge({ name: stack }, site), written);
  const result = parseClusterSpec(withLoginKey(args));
  if ("problems" in result) throw new ConfigError(`Pulumi.${stack}.yaml`, result.problems);
  return result.spec;
}

/** Defaults of the place where clusters are made (repositories, registry), kept apart from the stacks. */
function readSite(file: string | undefined): unknown {
  if (file === undefined || file === "") return {};
  try {
    return parse(readFileSync(file, "utf8")) ?? {};
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError("The environment", [
      { path: "STACKADM_SITE", message: `${reason}; name a readable YAML file, or unset it` },
    ]);
  }
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
