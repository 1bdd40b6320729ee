import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { Cluster } from "../../../components/cluster.js";
import type { ClusterArgs, ClusterSpec } from "../../../components/config/cluster-spec.js";
import { cloudAnswers } from "../cloud/cloud-answers.js";
import { programFile } from "../config/examples.js";
import { graph, type Row } from "./graph.js";

/** Resources that an example's program registers, and the specification of its cluster. */
export interface ProgramGraph {
  readonly rows: readonly Row[];
  readonly spec: ClusterSpec;
}

/** Map from the name of an example to the result of its program, if the program has run. */
const ran = new Map<string, Promise<ProgramGraph>>();

export function programGraph(name: string): Promise<ProgramGraph> {
  const known = ran.get(name) ?? run(name);
  ran.set(name, known);
  return known;
}

/** Module of an example. Its default export is the program. */
interface Module {
  readonly default: () => Promise<unknown>;
}

interface Checking {
  check: (...args: readonly ClusterArgs[]) => ClusterSpec;
}

/** Sets a file with site defaults that contain a login key. Returns a function that undoes it. */
function setSite(): () => void {
  const directory = mkdtempSync(join(tmpdir(), "stackadm-site-"));
  const file = join(directory, "site.yaml");
  writeFileSync(file, "ssh: {publicKey: ssh-ed25519 AAAALOGIN}\n");
  const before = process.env["STACKADM_SITE"];
  process.env["STACKADM_SITE"] = file;
  return () => {
    if (before === undefined) delete process.env["STACKADM_SITE"];
    else process.env["STACKADM_SITE"] = before;
    rmSync(directory, { recursive: true });
  };
}

async function run(name: string): Promise<ProgramGraph> {
  const unsetSite = setSite();
  pulumi.runtime.setAllConfig({ "stackadm:workers": "2" });
  const specs: ClusterSpec[] = [];
  // Replaces `check` to get the specification of the cluster, which is otherwise visible only
  // inside the component.
  const cluster = Cluster.prototype as unknown as Checking;
  const { check } = cluster;
  cluster.check = function (this: unknown, ...given) {
    const spec = check.call(this, ...given);
    specs.push(spec);
    return spec;
  };
  try {
    const program = async (): Promise<void> => {
      const { default: made } = (await import(programFile(name))) as Module;
      await made();
    };
    const rows = await graph(program, { ...cloudAnswers, stack: name });
    const [spec] = specs;
    assert.ok(spec);
    return { rows, spec };
  } finally {
    unsetSite();
    cluster.check = check;
  }
}
