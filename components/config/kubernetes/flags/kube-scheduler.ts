import { free, type Decisions } from "./decision.js";
import { exits, flagsOfAll, flagsOfLeaders } from "./shared-flags.js";

/** Decisions about the flags of kube-scheduler 1.36. */
export const schedulerDecisions = {
  config: free,
  "pod-max-in-unschedulable-pods-duration": free,
  "write-config-to": exits,
  ...flagsOfAll,
  ...flagsOfLeaders,
} satisfies Decisions;
