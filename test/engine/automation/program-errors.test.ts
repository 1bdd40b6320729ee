import assert from "node:assert/strict";
import { resolve } from "node:path";
import { Failure } from "../../../base/failures/failure.js";
import type { OperationEvent } from "../../../automation/engine/operation-events.js";
import { createListeningService } from "../../support/engine/listening-service.js";
import {
  emptyProject,
  startFakeCloud,
  type FakeCloud,
} from "../../support/cloud/fake-openstack.js";
import { ServiceProject } from "../support/service-project.js";

const modules = resolve(__dirname, "..", "..", "..", "node_modules");
const requirePackage = (name: string): string =>
  `require(${JSON.stringify(resolve(modules, name))})`;

/** Program whose resource `a` throws in `apply`. The resource `b` depends on `a`. */
const throwing = `
const pulumi = ${requirePackage("@pulumi/pulumi")};
const command = ${requirePackage("@pulumi/command")};
module.exports = async () => {
  const first = new command.local.Command("first", { create: "echo first" });
  const create = first.stdout.apply((text) => { throw new TypeError("the input of a is invalid"); });
  const a = new command.local.Command("a", { create });
  new command.local.Command("b", { create: "echo b", environment: { A: a.stdout } });
};
`;

/** Program that keeps a timer after its resources. */
const unending = `
const command = ${requirePackage("@pulumi/command")};
module.exports = async () => {
  setInterval(() => undefined, 1000);
  new command.local.Command("first", { create: "echo first" });
};
`;

/** Skips preflight and verification, because neither settings nor outputs describe a cluster. */
const bare = { preflight: false, verify: false };

describe("a program on the real engine", function () {
  this.timeout(120_000);
  let project: ServiceProject;
  let cloud: FakeCloud;
  beforeEach(async () => {
    cloud = await startFakeCloud();
    emptyProject(cloud);
  });
  afterEach(async () => {
    await cloud.close();
    project.remove();
  });
  const begin = (program: string): void => {
    const environment = { ...cloud.environment(), OS_CLOUD: undefined };
    project = new ServiceProject("service", program, environment);
  };
  const service = () => createListeningService(project.service);
  const failure = async (work: Promise<unknown>): Promise<Failure> => {
    const error: unknown = await work.then(
      () => assert.fail("ended well"),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof Failure, String(error));
    return error;
  };

  for (const operation of ["up", "preview"] as const)
    it(`fails \`${operation}\` with the error if an input throws in apply`, async () => {
      begin(operation === "up" ? throwing : throwing.replace("first.stdout", 'pulumi.output("")'));
      const began = Date.now();
      const { code, message } = await failure(service()[operation]("dev", bare));
      assert.equal(code, "FAILED");
      assert.match(message, /the input of a is invalid/);
      assert.ok(Date.now() - began < 60_000);
      assert.deepEqual(project.engines(), []);
    });

  it("fails with the error of the program if the user then stops the operation", async () => {
    begin(throwing);
    const stop = new AbortController();
    const onEvent = (event: OperationEvent): void => {
      if (event.type === "diagnostic" && event.severity === "error") stop.abort();
    };
    const work = service().up("dev", { ...bare, onEvent, signal: stop.signal });
    assert.match((await failure(work)).message, /the input of a is invalid/);
  });

  it("ends `up` although the program keeps a timer", async () => {
    begin(unending);
    const began = Date.now();
    await service().up("dev", bare);
    assert.ok(Date.now() - began < 60_000);
  });
});
