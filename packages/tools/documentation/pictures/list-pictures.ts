import { drawCast } from "../recording/cast-picture.js";
import { readCast, readEvents } from "../recording/recordings.js";
import { readNetwork } from "./network-data.js";
import { drawNetwork } from "./network-picture.js";
import { listPicturedClusters, upgradedCluster, smallCluster } from "./picture-clusters.js";
import { registerCluster, specOf } from "./registered-cluster.js";
import { groupResources } from "./resource-groups.js";
import { drawResourceGraph } from "./resource-picture.js";
import { renderPicture } from "./svg.js";
import { drawUpRun } from "./up-picture.js";
import { readUpRun } from "./up-run.js";
import { drawUpgrade } from "./upgrade-picture.js";
import { findUpgradeSteps } from "./upgrade-steps.js";

/** Picture that a command draws from the program's data. */
export interface GeneratedPicture {
  /** File name in docs/pictures. */
  readonly file: string;
  readonly draw: () => Promise<string>;
}

const resources: GeneratedPicture = {
  file: "resources.svg",
  draw: async () => {
    const { rows } = await registerCluster(smallCluster);
    return renderPicture(drawResourceGraph("Resources of a small cluster", groupResources(rows)));
  },
};

const upgrade: GeneratedPicture = {
  file: "upgrade.svg",
  draw: async () => {
    const steps = await findUpgradeSteps(upgradedCluster);
    return renderPicture(
      drawUpgrade("Order of an upgrade of Kubernetes", specOf(upgradedCluster), steps),
    );
  },
};

const timeline: GeneratedPicture = {
  file: "up-timeline.svg",
  draw: () => {
    const run = readUpRun(readEvents());
    return Promise.resolve(renderPicture(drawUpRun(`Timeline of an up on ${run.day}`, run)));
  },
};

const recording: GeneratedPicture = { file: "up.svg", draw: () => drawCast(readCast()) };

/** Returns all pictures. Those of recordings come last, because a recording can be missing. */
export const listPictures = (): readonly GeneratedPicture[] => [
  ...listPicturedClusters().map(({ file, title, register }): GeneratedPicture => ({
    file: `${file}.svg`,
    draw: async () => renderPicture(drawNetwork(title, readNetwork(await register()))),
  })),
  resources,
  upgrade,
  timeline,
  recording,
];
