import assert from "node:assert/strict";
import { inspect } from "node:util";
import { writeReporterLine } from "../../packages/tools/json-lines-reporter.js";
import { foreignObjects, type ForeignObjects } from "./support/cloud/foreign.js";
import { labCluster, type LabCluster } from "./support/stack/lab-cluster.js";
import { RandomRun, stackName, type Figures } from "./support/faults/random-run.js";
import { faultRunOf, faults, repeatedBy, seedsIn, type FaultRun } from "./support/faults/seed.js";

const minutes = 60_000;
const seeds = seedsIn(process.env);

/** Adds a row to the table that is printed at the end of the run. */
const seen = (point: string, what: string): void => {
  writeReporterLine({ type: "evidence", example: "random faults", point, seen: what });
};

const lineOf = ({ moment, hit, ended, seconds }: Figures): string =>
  `${moment}: ${hit ?? "nothing was there to be hit"}; ups: ${ended.join(", ")}; ${seconds} s`;

describe(`a cluster with random faults on the lab, from seed ${seeds[0] ?? 0}`, function () {
  this.timeout(120 * minutes);
  let neighbor: LabCluster;
  let foreign: ForeignObjects;
  let hit = 0;
  let converged = 0;

  before(async () => {
    seen("seeds", `${seeds[0] ?? 0} to ${seeds.at(-1) ?? 0}`);
    neighbor = await labCluster(stackName);
    foreign = await foreignObjects(neighbor.cloud, `${stackName}-general-foreign`);
  });
  after(async () => {
    seen("all", `${converged} of ${seeds.length} converged, ${hit} of them were hit`);
    await foreign.remove();
    await neighbor.close();
  });

  /** Creates a cluster while the fault occurs, repairs it and destroys it. */
  const goThrough = async (run: RandomRun): Promise<void> => {
    await run.beginWithFault();
    await run.converge();
    await run.lookAround();
    await run.destroy();
    assert.deepEqual(await foreign.state(), foreign.initial, "objects of other owners");
  };

  const survives = async (draw: FaultRun): Promise<void> => {
    const run = await RandomRun.open(draw);
    try {
      await goThrough(run);
      converged += 1;
      if (run.figures.hit !== undefined) hit += 1;
    } catch (error) {
      const repeat = `Repeat it with \`${repeatedBy(draw.seed)}\`.`;
      throw new Error(`${lineOf(run.figures)}\n${repeat}\n${inspect(error)}`, { cause: error });
    } finally {
      seen(`${draw.seed}: ${faults[draw.fault].says}`, lineOf(run.figures));
      await run.close();
    }
  };

  for (const seed of seeds) {
    const draw = faultRunOf(seed);
    it(`converges in two more runs, and is destroyed without leftovers: ${faults[draw.fault].says} (seed ${seed})`, () =>
      survives(draw));
  }
});
