import type { RootHookObject } from "mocha";
import { evidenceVariable } from "../../packages/tools/evidence/record.js";
import { recordAfterEach } from "./evidence.js";

/** Mocha root hooks. Empty unless this run records evidence. */
export const mochaHooks: RootHookObject =
  process.env[evidenceVariable] === "1" ? { afterEach: recordAfterEach } : {};
