import assert from "node:assert/strict";
import {
  readOwner,
  readOwnerRecord,
  writeOwnerRecord,
} from "../../../../../automation/pulumi/locks/owner-record.js";
import { Failure } from "../../../../../base/failures/failure.js";
import { Engine } from "../../../../support/engine/fake-engine.js";

describe("readOwner", () => {
  it("returns the name, and undefined if the variable is missing or empty", () => {
    for (const owner of ["prod", "gitlab.example.org/infra/prod:up", "a", "x".repeat(100)])
      assert.equal(readOwner({ STACKADM_OWNER: owner }), owner);
    assert.equal(readOwner({}), undefined);
    assert.equal(readOwner({ STACKADM_OWNER: "" }), undefined);
  });

  it("refuses a text that is not a name", () => {
    for (const owner of [" prod", "prod\n", "-f", "two words", '{"a":1}', "x".repeat(101), "é"])
      assert.throws(
        () => readOwner({ STACKADM_OWNER: owner }),
        (error) => {
          assert.ok(error instanceof Failure && error.code === "INVALID_USAGE", owner);
          assert.ok(error.message.includes(`STACKADM_OWNER: ${JSON.stringify(owner)} is not`));
          return true;
        },
      );
  });
});

describe("the record of an owner", function () {
  this.timeout(30_000);
  let engine: Engine;
  const record = { owner: "prod", lock: "4cbf2a0e", run: "b7d1", beat: 3 };
  beforeEach(() => {
    engine = new Engine();
  });
  afterEach(() => {
    engine.remove();
  });

  it("is read as it was written, with commands that take no lock", async () => {
    engine.state({});
    await writeOwnerRecord(engine.access(), record);
    assert.deepEqual(await readOwnerRecord(engine.access()), record);
    const [written = "", read = ""] = engine.calls();
    assert.match(written, /^stack tag set stackadm:heartbeat \{"owner":"prod",/);
    assert.match(read, /^stack tag get stackadm:heartbeat /);
  });

  it("is undefined without a stack, without a tag, and if the tag is no record", async () => {
    assert.equal(await readOwnerRecord(engine.access()), undefined);
    engine.state({});
    assert.equal(await readOwnerRecord(engine.access()), undefined);
    for (const text of ["", "prod", "{}", JSON.stringify({ ...record, beat: "3" })]) {
      engine.tag("stackadm:heartbeat", text);
      assert.equal(await readOwnerRecord(engine.access()), undefined, text);
    }
  });

  it("cannot be read or written if the backend does not answer", async () => {
    engine.state({});
    engine.refuses({ "stack tag": "error: dial tcp: connection refused\n" });
    await assert.rejects(readOwnerRecord(engine.access()), /tags .* cannot be read: .*dial tcp/);
    await assert.rejects(writeOwnerRecord(engine.access(), record), /dial tcp/);
  });
});
