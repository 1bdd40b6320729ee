import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Sandbox } from "../../../support/machine/sandbox.js";

const read = (path: string): string =>
  readFileSync(join(__dirname, "../../../../components", path), "utf8");
const scripts = [
  read("remote-scripts/scripts/common.sh"),
  read("machine/scripts/prepare/measure-disk-latency.sh"),
  "measured() { measure_disk; echo done >&4; }\nrun_step measured measured\n",
];

describe("measure-disk-latency.sh", () => {
  let machine: Sandbox;
  const run = (disk: string) => machine.run(scripts, { ETCD_DISK: disk });
  const notes = (stderr: string): string[] =>
    stderr.split("\n").filter((line) => /^note: /.test(line));
  beforeEach(() => {
    machine = new Sandbox({ hostname: "echo machine", python3: 'exec /usr/bin/python3 "$@"' });
  });
  afterEach(() => {
    machine.close();
  });

  it("measures the disk of etcd's directory, and leaves no file there", () => {
    machine.stub("python3", 'exec /usr/bin/python3 "$@" | tee $root/took');
    machine.stub("tee", 'exec /usr/bin/tee "$@"');
    const { code, stderr } = machine.run(scripts, { ETCD_DISK: `${machine.root}/var/lib/etcd` });
    assert.equal(code, 0, stderr);
    assert.match(machine.file("took") ?? "", /^\d+\n$/);
    assert.equal(machine.file("var/lib/etcd/.latency"), undefined);
  });

  it("prints a note for a slow disk, and succeeds", () => {
    machine.stub("python3", "printf 34");
    const { code, stdout, stderr } = run(`${machine.root}/etcd`);
    assert.deepEqual([code, stdout], [0, "done\n"]);
    assert.match(
      notes(stderr).join(),
      /^note: the disk of machine is slow .* takes 34 ms or longer/,
    );
  });

  it("prints no note for a fast disk or a failed measurement", () => {
    for (const body of ["printf 10", "exit 1", "echo nonsense"]) {
      machine.stub("python3", body);
      const { code, stderr } = run(`${machine.root}/etcd`);
      assert.deepEqual([code, notes(stderr)], [0, []], body);
    }
  });

  it("measures nothing if etcd has data already or if the machine has no etcd", () => {
    machine.put("etcd/member/wal");
    for (const disk of [`${machine.root}/etcd`, ""])
      assert.ok(!run(disk).calls.some((call) => call.startsWith("python3")), disk);
  });
});
