import assert from "node:assert/strict";
import { openstackPluginVersions } from "../../../base/versions/pulumi-openstack-versions.js";
import { recogniseError } from "../../../base/failures/failure.js";
import { refusals } from "../../support/cloud/cloud-error-texts.js";
import { startFakeCloud, type FakeCloud } from "../../support/cloud/fake-openstack.js";
import { usePlugin } from "../support/openstack-plugins.js";
import { importOf } from "../support/machine-program.js";
import { Project } from "../support/project.js";

const type = "openstack:networking/secGroup:SecGroup";

/** Program that creates a security group for each answer of the cloud. */
const program = `
import { ComponentResource } from "@pulumi/pulumi";
import * as openstack from "@pulumi/openstack";
${importOf("createPluginVersionOptions", "pulumi/openstack-plugin.ts")}

export = async () => {
  const parent = new ComponentResource("stackadm:index:Cluster", "dev", {}, createPluginVersionOptions(process.env.PLUGIN));
  for (const name of ${JSON.stringify(refusals.map(({ status }) => `answer-${String(status)}`))})
    new openstack.networking.SecGroup(name, { name }, { parent });
};
`;

interface EngineEvent {
  readonly diagnosticEvent?: { readonly urn?: string; readonly message: string };
}

for (const version of openstackPluginVersions)
  describe(`the error of OpenStack plugin ${version} for a refused request`, function () {
    this.timeout(20 * 60_000);
    let cloud: FakeCloud;
    let project: Project;
    let diagnostics: readonly { readonly name: string; readonly message: string }[];

    before(async () => {
      cloud = await startFakeCloud();
      cloud.on("POST /network/v2.0/security-groups", ({ body }) => {
        const { name } = (body as { security_group: { name: string } }).security_group;
        return refusals.find(({ status }) => name === `answer-${String(status)}`) ?? {};
      });
      project = await Project.create({ program, file: "index.ts" });
      const place = { OS_AUTH_URL: `${cloud.authUrl}/v3`, OS_DOMAIN_NAME: "Default" };
      Object.assign(project.environment, cloud.environment(place), { PLUGIN: version });
      await usePlugin(project, version);
      const { code } = await project.up("--continue-on-error");
      assert.notEqual(code, 0);
      diagnostics = project
        .events()
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as EngineEvent)
        .flatMap(({ diagnosticEvent: event }) =>
          event?.urn?.includes(`${type}::`)
            ? [{ name: event.urn.split("::").at(-1) ?? "", message: event.message }]
            : [],
        );
    });
    after(async () => {
      await cloud.close();
      project.remove();
    });

    for (const { status, code, words } of refusals)
      it(`has the recorded text and error code: ${String(status)}`, () => {
        const messages = diagnostics
          .filter(({ name }) => name === `answer-${String(status)}`)
          .map(({ message }) => message);
        assert.ok(messages.length > 0, "no diagnostic");
        const origin = cloud.authUrl.replace(/\/identity$/, "");
        const plain = messages.map((message) => message.replaceAll(origin, "http://cloud"));
        assert.ok(
          plain.some((message) => message.includes(words[version])),
          plain.join("\n"),
        );
        const codes = messages.map((message) => recogniseError(message, type)?.code);
        assert.ok(codes.includes(code), `${String(codes)}: ${messages.join("\n")}`);
      });
  });
