import { changes } from "../../support/stack/lab-cluster.js";
import { Stack } from "../../support/stack/stack.js";
import { writeReporterLine } from "../../../../packages/tools/json-lines-reporter.js";

const minutes = 60_000;
/** Number of clusters that the test creates and destroys, one after another. */
const cycles = Number(process.env["STACKADM_CYCLES"] ?? 3);

const secondsSince = (begun: number): number => Math.round((Date.now() - begun) / 1000);

// OpenStack refuses some requests only now and then: Neutron's and Octavia's objects are locked
// for moments. The program has to survive every one of these refusals.
describe(`${cycles} clusters that are created and destroyed, on the lab`, function () {
  this.timeout(15 * minutes);
  const stack = new Stack("cycles");
  before(async () => {
    await stack.open();
  });
  after(async () => {
    await stack.cluster.close();
  });

  for (let cycle = 1; cycle <= cycles; cycle += 1)
    it(`creates cluster ${cycle}, and destroys it without leftovers`, async () => {
      const begun = Date.now();
      await stack.up();
      const up = secondsSince(begun);
      const created = changes(stack.cluster.seen.events)["create"] ?? 0;
      const deletionBegun = Date.now();
      await stack.destroyAndLookAround();
      const seen = `up ${up} s (${created} resources), destroy ${secondsSince(deletionBegun)} s`;
      writeReporterLine({ type: "evidence", example: "cycles", point: `${cycle}`, seen });
    });
});
