import type { RootHookObject } from "mocha";
import { evidenceVariable } from "../../tools/evidence/record.js";
import { recordAfterEach } from "./evidence.js";

/** Mocha's hooks around every test: none, unless this run records what it sees. */
export const mochaHooks: RootHookObject =
  process.env[evidenceVariable] === "1" ? { afterEach: recordAfterEach } : {};
