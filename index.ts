import { Cluster } from "./components/index.js";
import { prepareSpec } from "./components/prepare.js";
import { refuseClusterRename } from "./components/refuse-cluster-rename.js";
import { getOperatorContext, readConfig, getStackConfigFile } from "./config.js";

// Pulumi program for `pulumi up` and the Automation API. Importing this file creates nothing.
async function program(): Promise<Record<string, unknown>> {
  const spec = await readConfig();
  const where = getStackConfigFile();
  await refuseClusterRename(spec.name, where);
  const args = await prepareSpec(spec, { operator: getOperatorContext(), where });
  return new Cluster(spec.name, args).stackOutputs;
}

export = program;
