import { join } from "node:path";
import { describeGoldens, describeWorkloads } from "../../../support/kubernetes-objects.js";
import { objects } from "./objects.js";

describe("addons", () => {
  describeGoldens(join(__dirname, "golden"), objects);
  describeWorkloads(objects);
});
