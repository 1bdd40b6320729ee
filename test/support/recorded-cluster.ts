import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ClusterArgs } from "../../components/spec/cluster-spec.js";
import type { CloudFacts } from "../../components/support/catalog.js";

/** What the cluster of a recorded state was made of. */
export interface RecordedCluster {
  readonly args: ClusterArgs;
  readonly cloud: CloudFacts;
}

export interface RecordedState extends RecordedCluster {
  readonly release: string;
  /** What `pulumi stack export --show-secrets` said; stack dev of the project stackadm. */
  readonly state: string;
}

const directory = join(__dirname, "..", "fixtures", "state");

/** The states of the releases before this one. */
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
