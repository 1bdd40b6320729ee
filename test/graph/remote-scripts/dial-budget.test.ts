import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import * as pulumi from "@pulumi/pulumi";
import { ApplicationCredential } from "../../../components/identity/application-credential.js";
import { Component } from "../../../components/pulumi/component.js";
import { createArgumentError, createConfigError } from "../../../components/pulumi/errors.js";
import { UnreachableServers } from "../../../components/lifecycle/unreachable-servers.js";
import type { ExistingServer } from "../../../components/lookup/server-metadata.js";
import { localContextOf } from "../../../components/lookup/local-context.js";
import {
  dialLimits,
  longestDialSeconds,
  ClusterIdentity,
  RandomSeed,
} from "../../../components/remote-scripts/remote-script.js";
import { Machine } from "../../../components/machine/machine.js";
import { canarySeed, cloudAnswers, sampleIdentity } from "../../support/cloud/cloud-answers.js";
import { graph, type Row } from "../../support/graph/graph.js";
import { specOf } from "../../support/config/spec.js";
import { secret, value } from "../../support/graph/output-value.js";
import { knownObjects } from "../../support/graph/known-objects.js";

/** Returns the total time of dialing: the plugin's pauses grow from 0.1 s by half to 5 s. */
const seconds = (perDial: number): number => {
  let [total, wait] = [0, 0.1];
  for (let dial = 0; dial < dialLimits.dialErrorLimit; dial++) {
    total += perDial + wait;
    wait = Math.min(wait * 1.5, 5);
  }
  return total;
};

describe("the time limit for dialing a machine", () => {
  it("exceeds 100 seconds if the machine refuses connections", () => {
    assert.ok(seconds(0) > 100, String(seconds(0)));
  });

  it("is below four minutes if packets are dropped", () => {
    assert.ok(seconds(dialLimits.perDialTimeout) < 240, String(seconds(dialLimits.perDialTimeout)));
    assert.equal(Math.round(seconds(dialLimits.perDialTimeout)), longestDialSeconds);
  });
});

class Parent extends Component {
  static readonly type = "test:test:Parent";
  readonly child: pulumi.Resource;
  constructor(name: string, childOptions: pulumi.CustomResourceOptions = {}) {
    super(Parent.type, name);
    this.child = this.make(RandomSeed, "child", {}, childOptions);
    this.registerOutputs({});
  }
}

describe("a component", () => {
  it("names its children after itself and is their parent", async () => {
    const rows = await graph(() => new Parent("a"), cloudAnswers);
    const child = rows.find(({ custom }) => custom);
    assert.ok(child);
    assert.equal(child.name, "a-child");
    assert.match(child.parent, /test:test:Parent::a$/);
  });

  it("keeps all options of a child", async () => {
    const rows = await graph(
      () => new Parent("a", { ignoreChanges: ["stdin"], protect: true }),
      cloudAnswers,
    );
    const child = rows.find(({ custom }) => custom);
    assert.ok(child);
    assert.ok(child.ignoreChanges.includes("stdin"));
    assert.equal(child.protect, true);
  });

  it("records no arguments in the state", async () => {
    const rows = await graph(() => new Parent("a"), cloudAnswers);
    assert.deepEqual(rows.find(({ type }) => type === Parent.type)?.inputs, {});
  });
});

describe("configuration errors", () => {
  const problems = [
    { path: "cluster.image", message: "is missing; write one" },
    { path: "cluster.name", message: "is long; write less" },
  ];

  it("list every problem of a configuration, without a stack trace", () => {
    const error = createConfigError("Pulumi.dev.yaml", problems);
    assert.ok(pulumi.RunError.isInstance(error));
    assert.equal(
      error.message,
      "[INVALID_CONFIG] Pulumi.dev.yaml is not valid:\n  cluster.image: is missing; write one\n  cluster.name: is long; write less",
    );
  });

  it("list every problem of arguments, with the component", async () => {
    let error: pulumi.ResourceError | undefined;
    await graph(() => {
      error = createArgumentError(new Parent("a"), problems);
    }, cloudAnswers);
    assert.ok(pulumi.ResourceError.isInstance(error));
    assert.equal(error.hideStack, true);
    assert.match(error.message, /^\[INVALID_CONFIG\] .*\n.*cluster\.image: .*\n.*cluster\.name: /);
  });
});

describe("the seed", () => {
  it("is random, created on the local machine, and secret", async () => {
    let seed: pulumi.Output<string> | undefined;
    const rows = await graph(() => {
      ({ seed } = new RandomSeed("seed", {}));
    }, cloudAnswers);
    assert.ok(seed);
    assert.equal(await value(seed), canarySeed);
    assert.equal(await secret(seed), true);
    const row = rows.find(({ type }) => type === "command:local:Command");
    assert.match(String(row?.inputs["create"]), /urandom/);
    assert.equal(row?.inputs["logging"], "none");
    assert.deepEqual([...row.secretOutputs].sort(), ["stderr", "stdout"]);
  });
});

const mark = { name: "dev", identity: sampleIdentity };

describe("the identity", () => {
  it("is random, created once, and not secret", async () => {
    let identity: pulumi.Output<string> | undefined;
    const rows = await graph(() => {
      ({ identity } = new ClusterIdentity("c-identity", {}));
    }, cloudAnswers);
    assert.ok(identity);
    assert.equal(await value(identity), sampleIdentity);
    assert.equal(await secret(identity), false);
    const row = rows.find(({ type }) => type === "command:local:Command");
    // A changed command in a later release must not create another identity.
    assert.deepEqual(row?.ignoreChanges, ["create"]);
    const made = () => execFileSync("/bin/sh", ["-c", String(row.inputs["create"])]).toString();
    assert.match(made(), /^[0-9a-f]{12}$/);
    assert.notEqual(made(), made());
  });
});

describe("the application credential", () => {
  const rolesOf = async (roles: string[], named?: string[], ref?: string): Promise<unknown> => {
    const scope = { authUrl: "https://k/v3", region: "r", projectId: "p", roles };
    const spec = specOf({
      credential: named && { roles: named },
      loadBalancer: { defaultTlsContainerRef: ref },
    });
    const program = () => new ApplicationCredential("c", { mark, scope, spec });
    const rows = await graph(program, cloudAnswers);
    return rows.find(({ custom }) => custom)?.inputs["roles"];
  };

  it("has only the required roles of the operator", async () => {
    assert.deepEqual(await rolesOf(["admin", "member", "reader"]), ["member"]);
  });

  it("requests the default role if the operator has no known role", async () => {
    assert.deepEqual(await rolesOf(["admin", "tenant-user"]), ["member"]);
  });

  it("has the creator role for a TLS container if the operator has that role", async () => {
    const ref = "https://barbican.example.org/v1/containers/1";
    assert.deepEqual(await rolesOf(["member", "creator"], undefined, ref), ["member", "creator"]);
    assert.deepEqual(await rolesOf(["member", "creator"]), ["member"]);
    assert.deepEqual(await rolesOf(["member"], undefined, ref), ["member"]);
    assert.deepEqual(await rolesOf(["member", "creator"], ["member"], ref), ["member"]);
  });

  it("has the roles that the user names for a cloud with other role names", async () => {
    assert.deepEqual(await rolesOf(["admin", "tenant-user"], ["tenant-user"]), ["tenant-user"]);
  });
});

describe("Machine with an unreachable server", () => {
  const server = async (failed: string, marks: Partial<ExistingServer> = {}): Promise<Row> => {
    const rows = await graph(
      () =>
        new Machine("m", {
          mark,
          plan: {
            name: "dev-general-0",
            role: "worker",
            pool: "general",
            position: 0,
            flavor: "f",
            image: "i",
            generation: 0,
            tags: [],
            metadata: {},
            schedulerHints: {},
            volumes: [],
            cloudInit: [],
          },
          generation: 0,
          objects: knownObjects({ imageIds: { i: "image" }, flavorIds: { f: "flavor" } }),
          networkId: "n",
          subnetId: "s",
          securityGroupIds: ["g"],
          serverGroupId: "sg",
          routedRanges: [],
          routesOfCloud: false,
          portSecurity: true,
          allowedAddresses: [],
          login: { user: "debian", publicKey: "ssh-ed25519 AAAA" },
          seed: pulumi.secret(canarySeed),
          failed: new UnreachableServers(localContextOf({}), {
            [failed]: { id: "5ee5a1c4", generation: "0", failed: true, ...marks },
          }),
        }),
      cloudAnswers,
    );
    const [row] = rows.filter(({ type }) => type.includes("Instance"));
    assert.ok(row);
    return row;
  };
  const userData = ({ inputs }: Row): string => (inputs["userData"] as { value: string }).value;

  it("changes its user data to name the replaced server", async () => {
    const row = await server("dev-general-0");
    assert.ok(!row.ignoreChanges.includes("userData"));
    assert.match(userData(row), /^#cloud-config\n# replaces 5ee5a1c4\n/);
  });

  it("keeps the user data of other machines", async () => {
    const row = await server("dev-general-1");
    assert.ok(row.ignoreChanges.includes("userData"));
    assert.doesNotMatch(userData(row), /replaces/);
  });

  it("ignores the power state, except a state that the provider refuses", async () => {
    for (const [machine, marks, ignores] of [
      ["dev-general-0", {}, true],
      ["dev-general-0", { powerRefused: true, failed: false }, false],
    ] as const) {
      const { ignoreChanges } = await server(machine, marks);
      assert.equal(ignoreChanges.includes("powerState"), ignores);
    }
  });

  it("has a hook that explains a failed create", async () => {
    const { hooks } = await server("dev-general-1");
    assert.deepEqual(hooks, ["explain-dev-general-0"]);
  });
});
