import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { z } from "zod";
import {
  isMissingFileError,
  isInvalidFormatError,
  isSystemError,
} from "../../../../base/failures/expected-errors.js";

function errorOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("no error");
}

describe("expected errors", () => {
  const missing = errorOf(() => readFileSync("/no/such/file"));
  const directory = errorOf(() => readFileSync("/"));
  const json = errorOf(() => JSON.parse("{") as unknown);
  const shape = errorOf(() => z.string().parse(1));
  const defect = errorOf(() => (undefined as unknown as string[]).length);

  it("include as system errors only those of refused system calls", () => {
    const all = [missing, directory, json, shape, defect, "text"];
    assert.deepEqual(all.map(isSystemError), [true, true, false, false, false, false]);
  });

  it("include as missing file only ENOENT", () => {
    assert.deepEqual([missing, directory, defect].map(isMissingFileError), [true, false, false]);
  });

  it("include as invalid format only JSON and schema errors", () => {
    const all = [json, shape, missing, defect];
    assert.deepEqual(all.map(isInvalidFormatError), [true, true, false, false]);
  });
});
