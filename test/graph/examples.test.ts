import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Cluster } from "../../components/cluster.js";
import { cloudAnswers } from "../support/cloud/cloud-answers.js";
import {
  exampleArgs,
  exampleNames,
  programFile,
  programNames,
} from "../support/config/examples.js";
import { golden } from "../support/golden.js";
import { graph, type Row } from "../support/graph/graph.js";
import { programGraph } from "../support/graph/program-graph.js";

describe("the graph of an example", () => {
  const review = (name: string, rows: readonly Row[]): void => {
    const lines = rows.map((row) => `${row.type} ${row.name}`).sort();
    golden(`graph/${name}.txt`, `${lines.join("\n")}\n`);
  };
  for (const name of exampleNames())
    it(`matches the golden file: ${name}`, async () => {
      review(name, await graph(() => new Cluster(name, exampleArgs(name)), cloudAnswers));
    });

  for (const name of programNames())
    it(`matches the golden file, from at most 20 lines: the program ${name}`, async () => {
      const file = programFile(name);
      assert.ok(readFileSync(file, "utf8").trim().split("\n").length <= 20);
      review(name, (await programGraph(name)).rows);
    });
});
