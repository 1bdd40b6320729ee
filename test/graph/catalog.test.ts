import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import { lookUpCloud, type CloudFacts } from "../../components/support/catalog.js";
import { cloudAnswers } from "../support/cloud-answers.js";
import { graph } from "../support/graph.js";

describe("the catalog", () => {
  const wanted = { image: "debian", externalNetwork: "public", flavors: ["m", "l", "m"] };
  const look = async (lookups: typeof cloudAnswers.lookups): Promise<CloudFacts> => {
    let found: Promise<CloudFacts> | undefined;
    const program = (): Promise<CloudFacts> => (found = lookUpCloud(wanted));
    await graph(program, { ...cloudAnswers, lookups: { ...cloudAnswers.lookups, ...lookups } });
    assert.ok(found);
    return found;
  };
  const refuse = (reason: string) => () => {
    const details = `invocation returned an error: 1 error occurred:\n\t* ${reason}\n`;
    throw Object.assign(new Error(details), { code: 2, details });
  };
  const image = "openstack:images/getImage:getImage";
  const flavor = "openstack:compute/getFlavor:getFlavor";
  const scope = "openstack:identity/getAuthScope:getAuthScope";

  it("knows Keystone's public address with its version, and the operator's roles", async () => {
    assert.deepEqual((await look({})).scope, {
      authUrl: "https://keystone.example/v3",
      region: "region-one",
      roles: ["admin", "load-balancer_member", "member"],
    });
  });

  it("asks for a flavor once, however many machines have it", async () => {
    const asked: unknown[] = [];
    const { flavorIds } = await look({
      [flavor]: ({ name }) => {
        asked.push(name);
        return { id: `id-of-${String(name)}` };
      },
    });
    assert.deepEqual(asked, ["m", "l"]);
    assert.deepEqual(flavorIds, { m: "id-of-m", l: "id-of-l" });
  });

  it("says of everything that is missing or ambiguous that it is, in one error", async () => {
    const lookups = {
      [image]: refuse("Your query returned no results. Please change your search criteria"),
      [flavor]: refuse("Your query returned more than one result."),
    };
    await assert.rejects(look(lookups), (error: Error) => {
      assert.ok(pulumi.RunError.isInstance(error));
      assert.equal(
        error.message,
        [
          "This project of the cloud lacks what the cluster needs:",
          '  the image "debian" does not exist; write the name of another',
          '  the flavor "m" is not unique; write the name of another',
          '  the flavor "l" is not unique; write the name of another',
        ].join("\n"),
      );
      return true;
    });
  });

  it("says once, and in the cloud's words, that the credential is no good", async () => {
    const lookups = { [scope]: refuse("Authentication failed"), [image]: refuse("Forbidden") };
    await assert.rejects(look(lookups), /^Error: The cloud cannot be used: Authentication failed$/);
  });

  it("does not take a service that is down for a name that is wrong", async () => {
    await assert.rejects(
      look({ [image]: refuse("connection refused") }),
      /^Error: The cloud cannot be asked: connection refused$/,
    );
  });

  it("needs a catalog in which Keystone is", async () => {
    const lookups = { [scope]: () => ({ region: "r", roles: [], serviceCatalogs: [] }) };
    await assert.rejects(look(lookups), /no public identity endpoint/);
  });
});
