import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import { AfterLine } from "../../../../automation/backup/after-line.js";

const line = "0123456789abcdef0123456789abcdef";
const bytes = fc.uint8Array({ maxLength: 100 });

/** Splits data into parts of a size, as a connection may do. */
const partsOf = (data: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(data.length / size) }, (_, part) =>
    data.subarray(part * size, (part + 1) * size),
  );

describe("AfterLine", () => {
  it("passes on exactly the bytes after the line, for every division into parts", async () => {
    await fc.assert(
      fc.asyncProperty(
        bytes,
        bytes,
        fc.integer({ min: 1, max: 50 }),
        async (before, data, size) => {
          const all = Buffer.concat([before, Buffer.from(`${line}\n`), data]);
          const after = new AfterLine(line);
          const passed = await buffer(Readable.from(partsOf(all, size)).pipe(after));
          assert.ok(passed.equals(data));
          assert.ok(after.hasBegun);
        },
      ),
    );
  });

  it("passes on nothing without the line", async () => {
    const after = new AfterLine(line);
    assert.equal((await buffer(Readable.from(["Welcome\n", line]).pipe(after))).length, 0);
    assert.equal(after.hasBegun, false);
  });
});
