import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getPackageRoot } from "../../../base/paths.js";
import { run } from "../../../base/run-command.js";
import { declarationsOf } from "../../support/cloud/openstack-declarations.js";
import { schemaOf } from "../../support/cloud/openstack-schemas.js";

/** Inputs that SDK 3.15.2 takes and 5.5.1 does not: the compiler has to refuse both. */
const former = `import * as openstack from "@pulumi/openstack";
new openstack.compute.ServerGroup("list", { policies: ["affinity"] });
new openstack.networking.Subnet("removed", { hostRoutes: [] });
`;

describe("the program with the SDK of OpenStack plugin 5.5.1", function () {
  this.timeout(300_000);
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "stackadm-sdk-"));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  it("compiles, and the compiler refuses inputs that only SDK 3.15.2 accepts", async () => {
    const root = getPackageRoot();
    const write = (name: string, text: string): void => {
      writeFileSync(join(directory, name), text);
    };
    write("sdk.d.ts", declarationsOf(schemaOf("5.5.1")));
    write("former.ts", former);
    const sdk = join(root, "node_modules/@pulumi/pulumi/index.d.ts");
    const compilerOptions = {
      incremental: false,
      tsBuildInfoFile: null,
      rootDir: "/",
      types: ["node"],
      typeRoots: [join(root, "node_modules/@types")],
      paths: { "@pulumi/openstack": ["./sdk.d.ts"], "@pulumi/pulumi": [sdk] },
    };
    const files = ["former.ts", join(root, "components/index.ts")];
    write(
      "tsconfig.json",
      JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, files, include: [] }),
    );
    const compiler = [require.resolve("typescript/lib/tsc.js"), "--pretty", "false", "-p", "."];
    const { stdout } = await run(process.execPath, compiler, { cwd: directory, accept: [0, 1, 2] });
    const errors = stdout.split("\n").filter((line) => line !== "" && !line.startsWith(" "));
    assert.deepEqual(
      errors.map((line) => line.replace(/\(\d+,\d+\)|(TS\d+).*/g, "$1")),
      ["former.ts: error TS2322", "former.ts: error TS2353"],
      stdout,
    );
  });
});
