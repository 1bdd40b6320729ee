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

  it("of the operating system are those of calls that it refused", () => {
    const all = [missing, directory, json, shape, defect, "text"];
    assert.deepEqual(all.map(isSystemError), [true, true, false, false, false, false]);
  });

  it("of a missing file are no other errors of the file", () => {
    assert.deepEqual([missing, directory, defect].map(isMissingFileError), [true, false, false]);
  });

  it("of a format are those of JSON and of its shape", () => {
    const all = [json, shape, missing, defect];
    assert.deepEqual(all.map(isInvalidFormatError), [true, true, false, false]);
  });
});
