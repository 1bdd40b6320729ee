import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import {
  createListeningService,
  type ListeningService,
} from "../../support/engine/listening-service.js";
import {
  emptyProject,
  startFakeCloud,
  type FakeCloud,
} from "../../support/cloud/fake-openstack.js";
import { ServiceProject } from "../support/service-project.js";

const modules = resolve(__dirname, "..", "..", "..", "node_modules");
const program = `
const pulumi = require(${JSON.stringify(join(modules, "@pulumi/pulumi"))});
const openstack = require(${JSON.stringify(join(modules, "@pulumi/openstack"))});
module.exports = async () => {
  const parent = new pulumi.ComponentResource("stackadm:index:Cluster", "dev");
  const rule = new openstack.networking.SecGroupRule("rule", {
    securityGroupId: "group", direction: "ingress", ethertype: "IPv4", protocol: "tcp", portRangeMin: 22, portRangeMax: 22,
  }, { parent });
  return { rule: rule.id };
};
`;
const bare = { preflight: false, verify: false };
const path = "/network/v2.0/security-group-rules";

describe("an immutable object whose read after the create failed", function () {
  this.timeout(240_000);
  let project: ServiceProject;
  let cloud: FakeCloud;
  let service: ListeningService;
  let made: string[];
  /** Whether the cloud returns objects that it has created. */
  let shows: boolean;

  before(async () => {
    cloud = await startFakeCloud();
    project = new ServiceProject("unread", program, {
      ...cloud.environment({ OS_AUTH_URL: `${cloud.authUrl}/v3`, OS_DOMAIN_NAME: "Default" }),
      OS_CLOUD: undefined,
    });
    service = createListeningService(project.service);
  });
  after(async () => {
    await cloud.close();
    project.remove();
  });
  beforeEach(async () => {
    emptyProject(cloud);
    made = [];
    shows = false;
    cloud.on(`POST ${path}`, ({ body }) => {
      const id = `rule-${String(made.length)}`;
      const { security_group_rule: asked } = body as { security_group_rule: object };
      const rule = { body: { security_group_rule: { ...asked, id } } };
      made.push(id);
      cloud.on(`GET ${path}/${id}`, () => (shows ? rule : { status: 500, body: {} }));
      cloud.on(`DELETE ${path}/${id}`, () => {
        cloud.on(`GET ${path}/${id}`, { status: 404 });
        return { status: 204 };
      });
      return { status: 201, ...rule };
    });
    await assert.rejects(service.up("dev", bare), /500|Internal Server Error/);
    shows = true;
  });
  afterEach(async () => {
    await service.destroy("dev");
  });

  it("is read by the next up without a second create", async () => {
    const notes: string[] = [];
    const { outputs } = await service.up("dev", { ...bare, onNote: (text) => notes.push(text) });
    assert.deepEqual([made, outputs["rule"]?.value], [["rule-0"], "rule-0"]);
    assert.match(notes.join("\n"), /could not read them; .*: SecGroupRule 'rule'/);
    await service.up("dev", { ...bare, expectNoChanges: true });
  });

  it("is recreated by the next up if missing in the cloud", async () => {
    cloud.on(`GET ${path}/rule-0`, { status: 404 });
    const { outputs } = await service.up("dev", bare);
    assert.deepEqual([made, outputs["rule"]?.value], [["rule-0", "rule-1"], "rule-1"]);
  });
});
