import assert from "node:assert/strict";
import type { OperationEvent } from "../../../../automation/engine/operation-events.js";
import { Embedder } from "../../../support/engine/embedder.js";
import { diagnostic, type Engine } from "../../../support/engine/fake-engine.js";

describe("the environment of the engine", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let engine: Engine;
  beforeEach(async () => {
    embedder = await Embedder.start("config: {}\n");
    ({ engine } = embedder);
    engine.state({ resources: [] });
    engine.runs({ refresh: { events: [diagnostic("the engine works", "warning")] } });
  });
  afterEach(() => embedder.stop());
  /** Runs `refresh` and returns the texts of its messages. */
  const refresh = async (env: NodeJS.ProcessEnv): Promise<string[]> => {
    const operation = embedder.service(env).start("refresh", "dev");
    const seen: OperationEvent[] = [];
    for await (const event of operation.events()) seen.push(event);
    await operation.result;
    return seen.flatMap((event) => (event.type === "diagnostic" ? [event.text] : []));
  };

  it("has the variables of the user's program, and no proxy between the engine and its processes", async () => {
    const texts = await refresh({
      MY_PROGRAM: "1",
      http_proxy: "http://127.0.0.1:9",
      https_proxy: "http://127.0.0.1:9",
      no_proxy: "localhost, 127.0.0.1",
    });
    assert.deepEqual(texts, ["the engine works"]);
    assert.equal(engine.environmentOf("refresh").get("MY_PROGRAM"), "1");
  });

  it("lacks variables that change what an operation does, and a warning names them", async () => {
    const [dropped = "", ...others] = await refresh({
      PULUMI_OPTION_TARGET: "a",
      PULUMI_K8S_DELETE_UNREACHABLE: "true",
    });
    assert.match(
      dropped,
      /^Not passed on to Pulumi: PULUMI_K8S_DELETE_UNREACHABLE, PULUMI_OPTION_TARGET\. /,
    );
    assert.deepEqual(others, ["the engine works"]);
    for (const subcommand of ["refresh", "stack"]) {
      const seen = engine.environmentOf(subcommand);
      assert.deepEqual(
        [seen.has("PATH"), seen.has("PULUMI_OPTION_TARGET")],
        [true, false],
        subcommand,
      );
    }
  });
});
