import type { z } from "zod";
import { rangesOverlap } from "../../base/ip-addresses.js";

interface Ranges {
  readonly nodes: string;
  readonly pods: string;
  readonly services: string;
}

const apart = [
  ["pods", "nodes"],
  ["services", "nodes"],
  ["services", "pods"],
] as const;

/**
 * Reports overlaps between the ranges of nodes, pods and Services of one IP family. `path` is the
 * path of the object with the three ranges, such as `network.ipv6`.
 */
export const findRangeOverlapConflicts = (path: string, ranges: Ranges): z.core.$ZodRawIssue[] =>
  apart
    .filter(([one, other]) => rangesOverlap(ranges[one], ranges[other]))
    .map(([one, other]) => ({
      code: "custom",
      path: [...path.split("."), one],
      input: ranges[one],
      message: `${ranges[one]} overlaps ${path}.${other} (${ranges[other]}); choose another range`,
    }));
