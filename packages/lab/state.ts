import { readFile } from "node:fs/promises";
import { z } from "zod";
import { replacePrivateFile } from "../../base/atomic-files.js";
import { readLabSettings, type LabPaths, type LabSettings } from "./settings.js";

const network = z.object({ cidr: z.string(), host: z.string(), prefixLength: z.number() });
const externalNetwork = network.extend({ first: z.string(), last: z.string() });

/** State of the running lab that is needed to check the lab and to remove it. */
const schema = z.object({
  /** Key of the golden cloud from which the lab was started. */
  key: z.string(),
  startedAt: z.string(),
  settings: z.object({
    name: z.string(),
    devices: z.object({ management: z.string(), external: z.string(), services: z.string() }),
    hostname: z.string(),
    region: z.string(),
    management: network.extend({ cloud: z.string(), front: z.string() }),
    external: externalNetwork,
    services: externalNetwork,
    mtu: z.number(),
    zones: z.array(z.object({ name: z.string(), host: z.string() })),
  }),
});

export type RunningLabRecord = z.infer<typeof schema>;

/**
 * Returns the running lab's state. Returns undefined if there is no state, or if another version
 * wrote it.
 */
export async function readState(paths: LabPaths): Promise<RunningLabRecord | undefined> {
  try {
    return schema.parse(JSON.parse(await readFile(paths.stateFile, "utf8")));
  } catch {
    return undefined;
  }
}

export const writeState = (paths: LabPaths, state: RunningLabRecord): void => {
  replacePrivateFile(paths.stateFile, JSON.stringify(state, null, 2));
};

/**
 * Returns the settings with which the lab was started. Without a state, returns the settings in the
 * environment.
 */
export const getRunningSettings = (state: RunningLabRecord | undefined): LabSettings =>
  state?.settings ?? readLabSettings();
