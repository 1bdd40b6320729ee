import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import {
  createListeningService,
  type ListeningService,
} from "../../support/engine/listening-service.js";
import { StackOperation } from "../../../automation/engine/operation-context.js";
import { ServiceProject } from "../support/service-project.js";
import { TransitServer } from "../support/transit-server.js";

const pulumi = resolve(__dirname, "..", "..", "..", "node_modules", "@pulumi", "pulumi");
/** Program whose state contains a secret. */
const program = `
const pulumi = require(${JSON.stringify(pulumi)});
module.exports = async () => {
  new pulumi.ComponentResource("stackadm:index:Cluster", "dev");
  return { token: pulumi.secret("hidden-word") };
};
`;

describe("a new stack whose settings name a secrets provider", function () {
  this.timeout(120_000);
  const bare = { preflight: false, verify: false };
  let project: ServiceProject;
  let service: ListeningService;
  const start = (environment: NodeJS.ProcessEnv, settings: string): void => {
    project = new ServiceProject("secrets", program, environment);
    writeFileSync(join(project.directory, "Pulumi.dev.yaml"), settings);
    service = createListeningService(project.service);
  };
  /** Returns the stack's settings, with what the engine has added. */
  const settings = (): Readonly<Record<string, unknown>> => {
    const { directory } = new StackOperation(project.service, "dev").access.workspace;
    return parse(readFileSync(join(directory, "Pulumi.dev.yaml"), "utf8")) as Record<
      string,
      unknown
    >;
  };
  afterEach(() => {
    project.remove();
  });

  it("encrypts its secrets with this key service, and keeps the key in later runs", async () => {
    const keys = await TransitServer.start();
    try {
      start(keys.environment, "secretsprovider: hashivault://stackadm\nconfig: {}\n");
      Reflect.deleteProperty(project.service.env, "PULUMI_CONFIG_PASSPHRASE");
      await service.up("dev", bare);
      const { encryptedkey, encryptionsalt, secretsprovider } = settings();
      assert.equal(secretsprovider, "hashivault://stackadm");
      assert.equal(typeof encryptedkey, "string");
      assert.equal(encryptionsalt, undefined);
      const checkpoint = readFileSync(project.checkpoint, "utf8");
      assert.match(checkpoint, /"type": ?"cloud"/);
      assert.doesNotMatch(checkpoint, /hidden-word/);
      const encrypted = keys.requests.filter((path) => path.includes("encrypt")).length;
      assert.ok(encrypted > 0);
      await service.up("dev", { ...bare, expectNoChanges: true });
      assert.equal(settings()["encryptedkey"], encryptedkey);
      assert.equal(keys.requests.filter((path) => path.includes("encrypt")).length, encrypted);
    } finally {
      keys.stop();
    }
  });

  it("encrypts its secrets with the passphrase, and keeps the salt in later runs", async () => {
    start({}, "secretsprovider: passphrase\nconfig: {}\n");
    await service.up("dev", bare);
    const { encryptionsalt } = settings();
    assert.equal(typeof encryptionsalt, "string");
    await service.up("dev", { ...bare, expectNoChanges: true });
    assert.equal(settings()["encryptionsalt"], encryptionsalt);
    assert.match(readFileSync(project.checkpoint, "utf8"), /"type": ?"passphrase"/);
  });
});
