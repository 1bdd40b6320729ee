import assert from "node:assert/strict";
import { defaultOpenstackPlugin } from "../../../../../base/versions/pulumi-openstack-versions.js";
import type { BenchRecord } from "../../../../bench/support/records.js";
import { selectNumbers } from "../../../documentation/benchmark-numbers.js";
import {
  insertNumbers,
  performanceChart,
  performancePage,
} from "../../../documentation/performance-page.js";

const plugin = "pulumi-resource-openstack";
const common = {
  at: "2026-01-02T03:04:05Z",
  commit: "abc1234",
  processors: 2,
  gibibytes: 8,
  versions: { [plugin]: "3.15.2" },
};
const bare: BenchRecord = {
  ...common,
  bench: "oracle",
  options: { controlPlanes: 1, workers: 2, more: 1 },
  columns: [
    { name: "bare calls", runs: [{ up: 12, "one more worker": 4, destroy: 2 }, { up: 10 }] },
    { name: "stackadm", runs: [{ up: 15, "one more worker": 5, destroy: 8 }, { up: 16 }] },
  ],
};
const terraform: BenchRecord = {
  ...common,
  commit: "def5678-dirty",
  bench: "terraform",
  options: { controlPlanes: 1, workers: 2, latency: 0, serverLatency: 0, stages: 0 },
  versions: { [plugin]: "3.15.2", terraform: "1.11.4" },
  columns: [
    { name: "Terraform", runs: [{ up: 20, "nothing to do": 2 }] },
    { name: "stackadm", runs: [{ up: 10, "nothing to do": 3 }] },
  ],
};
const slow = { ...terraform, options: { ...terraform.options, latency: 150 } };

describe("selectNumbers", () => {
  it("returns five numbers: the least of the runs in the last record with the chosen options", () => {
    const older = { ...bare, columns: [] };
    const numbers = selectNumbers([older, bare, terraform, slow]);
    assert.deepEqual(
      numbers.map(({ other, seconds }) => [other.name, other.seconds, seconds]),
      [
        ["bare calls", 10, 15],
        ["bare calls", 4, 5],
        ["bare calls", 2, 8],
        ["Terraform", 20, 10],
        ["Terraform", 2, 3],
      ],
    );
  });

  it("refuses records that lack a comparison or one of its figures", () => {
    assert.throws(() => selectNumbers([bare, slow]), /No record of the benchmark 'terraform'/);
    const [, column = { name: "", runs: [] }] = bare.columns;
    const alone = { ...bare, columns: [column] };
    assert.throws(() => selectNumbers([alone, terraform]), /'oracle' lacks 'up'/);
  });
});

describe("performancePage", () => {
  const page = performancePage([bare, terraform]);

  it("has ratio, seconds, date and commit of each number", () => {
    assert.match(
      page,
      /^\| `up` of 1 \+ 2 \| bare calls \| \*\*1\.50\*\* \| 15 to 10 \| 2026-01-02, abc1234 \|$/m,
    );
    assert.match(page, /\| \*\*0\.50\*\* \| 10 to 20 \| 2026-01-02, def5678 with changes \|$/m);
  });

  it("names the versions, the number of runs and the machine of each comparison", () => {
    assert.match(
      page,
      /^- Against bare calls: .*openstack 3\.15\.2; 2 runs of each tool; 2 processors, 8 GiB\.$/m,
    );
    assert.match(page, /^- Against Terraform: .*openstack 3\.15\.2, terraform 1\.11\.4; /m);
  });

  it("says that the default plugin was not compared, only if the records have another version", () => {
    const warning = /The numbers are of OpenStack plugin 3\.15\.2, and the default is/;
    assert.match(page, warning);
    const versions = { [plugin]: defaultOpenstackPlugin };
    const current = performancePage([
      { ...bare, versions },
      { ...terraform, versions },
    ]);
    assert.doesNotMatch(current, /The numbers are of OpenStack plugin/);
  });

  it("has a chart of the moments of `up` in the record of bare calls", () => {
    const chart = performanceChart([bare, terraform]);
    assert.match(chart, />bare calls, s<[^]*>up</);
    assert.doesNotMatch(chart, /Terraform|destroy|one more worker/);
  });
});

describe("insertNumbers", () => {
  it("replaces only the part between the comments", () => {
    const readme = "# A\n\n<!-- numbers -->\n\nold\n\n<!-- end of numbers -->\n\nB\n";
    const written = insertNumbers(readme, [bare, terraform]);
    assert.match(
      written,
      /^# A\n\n<!-- numbers -->\n\n\| what .*[^]*\n<!-- end of numbers -->\n\nB\n$/,
    );
    assert.doesNotMatch(written, /old/);
    assert.equal(insertNumbers(written, [bare, terraform]), written);
    assert.throws(() => insertNumbers("# A\n", [bare, terraform]), /no comments/);
  });
});
