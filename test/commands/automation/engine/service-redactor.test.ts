import assert from "node:assert/strict";
import { inspect } from "node:util";
import { stringify } from "yaml";
import type { OperationEvent } from "../../../../automation/engine/operation-events.js";
import { createOrphanService } from "../../../../automation/orphans/orphan-service.js";
import { Embedder } from "../../../support/engine/embedder.js";
import { diagnostic, printed, urnOf, networkType } from "../../../support/engine/fake-engine.js";

const secrets = {
  PULUMI_CONFIG_PASSPHRASE: "canary-of-the-passphrase",
  AWS_SECRET_ACCESS_KEY: "canary/of+the/bucket",
  HTTPS_PROXY: "http://ann:canary-of-the-proxy@proxy.example:3128",
};
const inCloudsFile = 'canary "of" clouds.yaml';
/** Text that contains every secret, as an engine or a provider could quote them. */
const leak = [...Object.values(secrets), inCloudsFile, JSON.stringify(inCloudsFile)].join(" and ");

const requireNoCanary = (text: string): void => {
  assert.match(text, /\[secret\]/);
  assert.doesNotMatch(text, /canary/);
};

describe("a service's secrets", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let env: Record<string, string>;
  beforeEach(async () => {
    embedder = await Embedder.start("config: {}\n");
    const { OS_AUTH_URL: auth_url } = embedder.cloud.environment();
    const auth = { auth_url, username: "u", password: inCloudsFile, project_name: "demo" };
    embedder.write("clouds.yaml", stringify({ clouds: { mine: { auth } } }));
    env = {
      ...secrets,
      OS_CLOUD: "mine",
      OS_CLIENT_CONFIG_FILE: `${embedder.directory}/clouds.yaml`,
    };
  });
  afterEach(() => embedder.stop());
  const failureOf = async (work: Promise<unknown>): Promise<Error> => {
    const error: unknown = await work.then(
      () => assert.fail("ended well"),
      (failed: unknown) => failed,
    );
    assert.ok(error instanceof Error);
    return error;
  };

  it("are in no event and no error of an operation", async () => {
    embedder.engine.runs({
      refresh: {
        events: [
          printed(leak, urnOf(networkType, "net")),
          diagnostic(leak, "warning"),
          diagnostic(leak, "error"),
        ],
        stdout: `${leak}\n`,
        stderr: `error: ${leak}\n`,
        code: 255,
      },
    });
    const operation = embedder.service(env).start("refresh", "dev");
    const events: OperationEvent[] = [];
    for await (const event of operation.events()) events.push(event);
    const error = await failureOf(operation.result);
    for (const type of ["log", "diagnostic", "done"])
      assert.ok(
        events.some((event) => event.type === type),
        type,
      );
    requireNoCanary(JSON.stringify(events));
    requireNoCanary(JSON.stringify(error));
    requireNoCanary(inspect(error, { depth: 6 }));
  });

  it("are in no error of a request that only reads", async () => {
    embedder.engine.refuses({ "stack export": `error: cannot open ${leak}\n` });
    requireNoCanary(inspect(await failureOf(embedder.service(env).state("dev")), { depth: 6 }));
  });

  it("are in no error of the orphan service", async () => {
    embedder.cloud.on("GET /compute/servers/detail", { status: 400, body: leak });
    const orphans = createOrphanService({ env: { ...embedder.cloud.environment(), ...env } });
    requireNoCanary(inspect(await failureOf(orphans.find({ cluster: "dev" })), { depth: 6 }));
  });
});
