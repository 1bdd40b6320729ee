import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  findPulumiProject,
  requirePackageProgram,
} from "../../../../automation/cli/pulumi-project.js";
import { findProgramModulePath } from "../../../../automation/pulumi/workspace.js";
import { getPackageRoot } from "../../../../base/paths.js";
import { Failure } from "../../../../base/failures/failure.js";

describe("findPulumiProject", () => {
  let directory: string;
  const before = process.cwd();
  beforeEach(() => {
    directory = realpathSync(mkdtempSync(join(tmpdir(), "project-")));
  });
  afterEach(() => {
    process.chdir(before);
    rmSync(directory, { recursive: true });
  });
  const put = (file: string, text = ""): string => {
    const path = join(directory, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  };
  const project = (more = "", name = "mine"): string =>
    put("Pulumi.yaml", `name: ${name}\nruntime: nodejs\n${more}`);
  const program = (): string | undefined => findPulumiProject(directory).program;
  const refused = (said: RegExp, work: () => unknown): void => {
    assert.throws(work, (error: unknown) => {
      assert.ok(error instanceof Failure);
      assert.equal(error.exitCode, 2);
      assert.match(`${error.message} ${error.hint}`, said);
      return true;
    });
  };

  it("returns the project of the nearest directory with Pulumi.yaml, else the package", () => {
    const deep = join(directory, "a", "b");
    mkdirSync(deep, { recursive: true });
    process.chdir(deep);
    assert.deepEqual(findPulumiProject(), { directory: getPackageRoot() });
    project();
    assert.deepEqual(findPulumiProject(), { directory });
    put("a/Pulumi.yaml", "name: nearer\nruntime: nodejs\n");
    assert.deepEqual(findPulumiProject(), { directory: join(directory, "a") });
    assert.deepEqual(findPulumiProject("../.."), { directory });
  });

  it("returns the package for the package's own directory, also through a link", () => {
    const link = join(directory, "link");
    symlinkSync(getPackageRoot(), link);
    for (const cwd of [getPackageRoot(), join(getPackageRoot(), "docs"), link])
      assert.deepEqual(findPulumiProject(cwd), { directory: getPackageRoot() });
  });

  it("refuses a named directory without a project", () => {
    const nowhere = join(directory, "nowhere");
    refused(/^--cwd: there is no Pulumi\.yaml in \S+nowhere or .* Name the directory/, () =>
      findPulumiProject(nowhere),
    );
  });

  it("refuses a Pulumi.yaml that is not YAML", () => {
    put("Pulumi.yaml", "name: [\n");
    refused(/Pulumi\.yaml is not YAML: /, () => findPulumiProject(directory));
  });

  it("returns the package's program for a project with settings only or with that program", () => {
    project();
    assert.equal(program(), undefined);
    for (const settings of [{ name: "settings" }, { main: "" }, { main: 5 }, null]) {
      put("package.json", JSON.stringify(settings));
      assert.equal(program(), undefined, JSON.stringify(settings));
    }
    put("src/main.ts");
    assert.equal(program(), undefined, "nothing names it");
    project("main:\n");
    assert.equal(program(), undefined);
    for (const main of [findProgramModulePath(), join(getPackageRoot(), "program.cjs")]) {
      project(`main: ${main}\n`);
      assert.equal(program(), undefined, main);
    }
  });

  it("returns the program that Node would run", () => {
    project();
    const index = put("index.ts");
    assert.equal(program(), index);
    const main = put("bin/main.js");
    put("package.json", JSON.stringify({ main: "bin/main.js" }));
    assert.equal(program(), main);
    const source = put("src/index.ts");
    for (const named of ["src", "src/", "src/index", "src/index.ts", "./src"]) {
      project(`main: ${named}\n`);
      assert.equal(program(), source, named);
    }
    project("main: nowhere.ts\n");
    assert.equal(program(), join(directory, "nowhere.ts"));
    put("Pulumi.yaml", "name: mine\nruntime: { name: python }\n");
    assert.equal(program(), directory);
    assert.equal(findPulumiProject(directory).name, "mine");
  });

  it("returns the project's own program even before it is compiled", () => {
    project();
    for (const main of ["index.js", "dist/index.js", "dist/index", "dist", "./dist/"]) {
      put("package.json", JSON.stringify({ main }));
      assert.equal(program(), join(directory, main), main);
    }
    project("main: bin\n");
    assert.equal(program(), join(directory, "bin"));
    put("bin/package.json", JSON.stringify({ main: "lib/index.js" }));
    assert.equal(program(), join(directory, "bin/lib/index.js"));
  });

  it("resolves `main` of package.json as Node does", () => {
    project();
    const entry = put("dist/index.js");
    for (const main of ["dist/index.js", "dist/index", "dist", "dist/", "./dist"]) {
      put("package.json", JSON.stringify({ main }));
      assert.equal(program(), entry, main);
    }
  });

  for (const extension of ["ts", "js", "mjs", "cjs", "mts", "cts"])
    it(`finds the program in index.${extension}`, () => {
      project();
      const index = put(`index.${extension}`);
      assert.equal(program(), index);
    });

  it("treats another or missing runtime as a program of the project", () => {
    for (const runtime of ["runtime: python", "runtime: { name: go }", "runtime: yaml", ""]) {
      put("Pulumi.yaml", `name: mine\n${runtime}\n`);
      assert.equal(program(), directory, runtime);
    }
  });

  it("refuses a package.json that is not JSON", () => {
    project();
    put("package.json", "{ main: ");
    refused(/package\.json is not JSON\. Correct it/, () => findPulumiProject(directory));
  });

  it("explains how to use the package's program if the file in `main` is missing", () => {
    const options = { stack: "prod", cwd: directory };
    project();
    put("package.json", JSON.stringify({ main: "index.js" }));
    refused(/index\.js, which is not there\. .*delete `main` from package\.json/, () => {
      requirePackageProgram("up", options);
    });
  });

  it("refuses commands that need the package's program, and names the alternative", () => {
    const options = { stack: "prod", cwd: directory };
    project();
    requirePackageProgram("up", options);
    put("index.ts");
    refused(
      /^`up` runs the program of stackadm, .*index\.ts\. Run `pulumi up --stack prod` there/,
      () => {
        requirePackageProgram("up", options);
      },
    );
    refused(
      /`pulumi preview --stack prod` there, after `eval "\$\(stackadm env --stack prod\)"`/,
      () => {
        requirePackageProgram("preview", options);
      },
    );
    refused(/^`dev` runs .* Run `pulumi up /, () => {
      requirePackageProgram("dev", options);
    });
  });
});
