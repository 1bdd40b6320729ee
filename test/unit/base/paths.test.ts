import assert from "node:assert/strict";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { getCachePath, getStatePath } from "../../../base/paths.js";

const places = [
  ["XDG_CACHE_HOME", getCachePath, join(homedir(), ".cache", "stackadm")],
  ["XDG_STATE_HOME", getStatePath, join(homedir(), ".local", "state", "stackadm")],
] as const;

for (const [variable, directory, usual] of places)
  describe(`directory in ${variable}`, () => {
    const before = process.env[variable];
    afterEach(() => {
      if (before === undefined) Reflect.deleteProperty(process.env, variable);
      else process.env[variable] = before;
    });

    it("contains the program's own directory", () => {
      process.env[variable] = "/somewhere";
      assert.equal(directory("a", "b"), "/somewhere/stackadm/a/b");
    });

    it("is the default if the variable is unset", () => {
      Reflect.deleteProperty(process.env, variable);
      assert.equal(directory(), usual);
    });

    it("is the default for values that the XDG specification ignores", () => {
      for (const value of ["", "relative", "./here"]) {
        process.env[variable] = value;
        assert.equal(directory(), usual, JSON.stringify(value));
        assert.ok(isAbsolute(directory("x")));
      }
    });
  });
