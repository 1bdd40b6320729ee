import { Cluster } from "../../components/cluster.js";
import { cloudAnswers } from "../support/cloud-answers.js";
import { exampleArgs, exampleNames } from "../support/examples.js";
import { golden } from "../support/golden.js";
import { graph } from "../support/graph.js";

describe("the graph of an example", () => {
  for (const name of exampleNames())
    it(`is the one that a person reviewed: ${name}`, async () => {
      const rows = await graph(() => new Cluster(name, exampleArgs(name)), cloudAnswers);
      const lines = rows.map((row) => `${row.type} ${row.name}`).sort();
      golden(`graph/${name}.txt`, `${lines.join("\n")}\n`);
    });
});
