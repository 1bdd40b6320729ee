import { strict as assert } from "node:assert";
import { prepareScripts } from "../../components/machine/preparation.js";
import { freshDebian, workerValues } from "../support/fresh-debian.js";
import { Sandbox, type Outcome } from "../support/sandbox.js";

const run = (machine: Sandbox, over: Record<string, string> = {}): Outcome =>
  machine.run(prepareScripts, { ...workerValues(), ...over });

describe("how fast a machine is", () => {
  let machine: Sandbox;
  const factor = (): string | undefined => machine.file("var/lib/stackadm/timeout-factor");
  const takes = (milliseconds: string): void => {
    machine.stub("python3", `echo measured >>$root/measured; echo ${milliseconds}`);
  };
  beforeEach(() => {
    machine = new Sandbox(freshDebian);
  });
  afterEach(() => {
    machine.close();
  });

  for (const [milliseconds, asked, wanted] of [
    ["12", "1", "1"],
    ["99", "1", "1"],
    ["165", "1", "2"],
    ["165", "4", "4"],
    ["420", "4", "5"],
    ["9000", "1", "5"],
    ["", "3", "3"],
    ["no such thing", "1", "1"],
  ] as const)
    it(`makes of ${milliseconds || "no"} ms and a factor of ${asked} one of ${wanted}`, () => {
      takes(milliseconds);
      const { code, stderr } = run(machine, { TIMEOUT_FACTOR: asked });
      assert.equal(code, 0, stderr);
      assert.equal(factor(), `${wanted}\n`);
      assert.equal(/machine is slow: .* waits \d times as long\n/.test(stderr), wanted > asked);
    });

  it("is measured once, and never on a machine that lives; what is asked for counts at once", () => {
    takes("165");
    run(machine);
    run(machine, { TIMEOUT_FACTOR: "7" });
    assert.equal(factor(), "7\n");
    assert.equal(machine.file("measured"), "measured\n");
    run(machine);
    assert.equal(factor(), "2\n");
    machine.close();
    machine = new Sandbox(freshDebian);
    takes("165");
    machine.put("var/lib/stackadm/join.done");
    run(machine);
    assert.deepEqual([factor(), machine.file("measured")], ["1\n", undefined]);
  });

  it("restarts nothing when another factor is asked for", () => {
    run(machine);
    const changed = (outcome: Outcome): string[] =>
      outcome.calls.filter((call) => /^(systemctl (re)?start |apt-get |modprobe )/.test(call));
    const same = changed(run(machine));
    assert.deepEqual(changed(run(machine, { TIMEOUT_FACTOR: "3" })), same);
    assert.ok(!same.some((call) => call.includes("restart")), same.join("\n"));
  });
});
