import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import type { CloudFacts } from "../../../components/lookup/cloud-lookup.js";

/** Arguments and cloud facts from which the recorded state was made. */
export interface RecordedCluster {
  readonly args: ClusterArgs;
  readonly cloud: CloudFacts;
}

export interface RecordedState extends RecordedCluster {
  readonly release: string;
  /** Output of `pulumi stack export --show-secrets`, for the stack dev of the project stackadm. */
  readonly state: string;
}

const directory = join(__dirname, "..", "..", "fixtures", "state");

/** Returns the recorded states of earlier releases. */
export const recordedStates = (): RecordedState[] =>
  readdirSync(directory)
    .filter((file) => file.endsWith(".args.json"))
    .map((file) => {
      const release = file.slice(0, -".args.json".length);
      const read = (name: string): string => readFileSync(join(directory, name), "utf8");
      return {
        release,
        state: read(`${release}.json`),
        ...(JSON.parse(read(file)) as RecordedCluster),
      };
    });
