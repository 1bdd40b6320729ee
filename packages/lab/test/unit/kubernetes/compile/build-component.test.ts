import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentProgress } from "../../../../../../base/progress.js";
import { Failure } from "../../../../../../base/failures/failure.js";
import {
  buildComponent,
  computeComponentKey,
  requireGo,
} from "../../../../kubernetes/compile/build-component.js";
import type { Component } from "../../../../kubernetes/catalog/component.js";

const component: Component = {
  name: "tool",
  version: "v1.2.3",
  source: { kind: "module", module: "example.org/tool" },
  programs: { tool: "example.org/tool/cmd/tool" },
  expectedSeconds: 1,
};
const program: Component = {
  ...component,
  name: "livenessprobe",
  source: { kind: "program", directory: "livenessprobe", require: ["example.org/api v1.0.0"] },
  programs: { livenessprobe: "." },
};
const pause: Component = {
  ...component,
  name: "pause",
  source: { kind: "c", module: "example.org/k", moduleVersion: "v1.0.0", file: "pause.c" },
  programs: { pause: "" },
};

describe("computeComponentKey", () => {
  it("changes with every input of the executables", () => {
    const keys = [
      component,
      { ...component, version: "v1.2.4" },
      { ...component, tags: ["one"] },
      { ...component, link: { "main.version": "1" } },
      { ...component, cgo: true },
      { ...component, programs: { tool: "example.org/tool/cmd/other" } },
      { ...component, source: { kind: "module" as const, module: "example.org/other" } },
      program,
    ].map(computeComponentKey);
    assert.equal(new Set(keys).size, keys.length);
  });

  it("does not change with descriptions", () => {
    const said = { ...component, expectedSeconds: 99, deviation: "something" };
    assert.equal(computeComponentKey(said), computeComponentKey(component));
  });

  it("is short enough for a directory name", () => {
    assert.match(computeComponentKey(component), /^[0-9a-f]{12}$/);
  });
});

describe("buildComponent", () => {
  let folder: string;
  let cache: string;
  let goCache: string;
  const path = process.env["PATH"];

  /** Installs a stub of `go` that records its calls and answers like the real program. */
  const installGo = (build = 'touch "$out"', download = `{"Dir":"$FOLDER/module"}`) => {
    const script = `#!/bin/bash
FOLDER="${folder}"
echo "$CGO_ENABLED $GOFLAGS $GOCACHE $GOMODCACHE $*" >>"$FOLDER/calls"
case "$1 $2" in
  "env GOVERSION") echo "\${GO_SAYS:-go1.26.8}" ;;
  "mod download") echo "${download.replaceAll('"', '\\"')}" ;;
  "mod edit") echo '{"Go":"1.26.0","Replace":null}' ;;
  build*)
    while [ "$1" != -o ]; do shift; done
    out=$2
    cp go.mod "$FOLDER/go.mod"
    echo example.org/tool/internal >&2
    ${build}
    ;;
esac
`;
    writeFileSync(join(folder, "bin", "go"), script);
    chmodSync(join(folder, "bin", "go"), 0o755);
  };
  const calls = () => readFileSync(join(folder, "calls"), "utf8");

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "stackadm-test-"));
    cache = join(folder, "components");
    goCache = join(folder, "go");
    for (const name of ["bin", "module"]) mkdirSync(join(folder, name));
    process.env["PATH"] = `${join(folder, "bin")}:${path ?? ""}`;
    installGo();
  });
  afterEach(() => {
    process.env["PATH"] = path;
    delete process.env["GO_SAYS"];
    rmSync(folder, { recursive: true });
  });

  it("writes the executable into a directory of name, version and key", async () => {
    const built = await buildComponent(component, { cache, goCache, progress: silentProgress });
    assert.equal(built.directory, join(cache, `tool-v1.2.3-${computeComponentKey(component)}`));
    assert.deepEqual(readdirSync(built.directory), ["tool"]);
  });

  it("copies files of the module as executable, because modules store no executable bit", async () => {
    mkdirSync(join(folder, "module", "files", "etc"), { recursive: true });
    writeFileSync(join(folder, "module", "files", "etc", "run"), "#!/bin/sh", { mode: 0o444 });
    const copying = { ...component, copies: { etc: "files/etc" } };
    const { directory } = await buildComponent(copying, {
      cache,
      goCache,
      progress: silentProgress,
    });
    assert.equal(statSync(join(directory, "etc", "run")).mode & 0o777, 0o755);
    assert.notEqual(computeComponentKey(copying), computeComponentKey(component));
  });

  it("does nothing if the result exists", async () => {
    await buildComponent(component, { cache, goCache, progress: silentProgress });
    const before = calls();
    const again = await buildComponent(component, { cache, goCache, progress: silentProgress });
    assert.equal(calls(), before);
    assert.equal(again.seconds, 0);
  });

  it("builds without C by default, and resolves missing versions of go.mod", async () => {
    await buildComponent(component, { cache, goCache, progress: silentProgress });
    assert.match(
      calls(),
      /^0 -mod=mod -modcacherw -buildvcs=false \S+go\/build \S+go\/modules build /m,
    );
    await buildComponent({ ...component, cgo: true }, { cache, goCache, progress: silentProgress });
    assert.match(
      calls(),
      /^1 -mod=mod -modcacherw -buildvcs=false \S+go\/build \S+go\/modules build /m,
    );
  });

  it("writes source and go.mod of a program of the lab", async () => {
    installGo('test -f main.go && touch "$out"');
    await buildComponent(program, { cache, goCache, progress: silentProgress });
    assert.match(
      readFileSync(join(folder, "go.mod"), "utf8"),
      /require example\.org\/api v1\.0\.0/,
    );
  });

  it("compiles C statically from the module", async () => {
    const gcc = join(folder, "bin", "gcc");
    const note = `echo "$*" >>"${folder}/gcc"; while [ "$1" != -o ]; do shift; done; touch "$2"`;
    writeFileSync(gcc, `#!/bin/bash\n${note}\n`);
    chmodSync(gcc, 0o755);
    const built = await buildComponent(pause, { cache, goCache, progress: silentProgress });
    assert.deepEqual(readdirSync(built.directory), ["pause"]);
    const said = readFileSync(join(folder, "gcc"), "utf8");
    assert.ok(said.includes("-static") && said.includes(join(folder, "module", "pause.c")));
  });

  it("leaves no result after a failure, reports the compiler's error and rebuilds at the next call", async () => {
    installGo("echo no such type >&2; exit 1");
    await assert.rejects(
      buildComponent(component, { cache, goCache, progress: silentProgress }),
      /no such type/,
    );
    assert.ok(!existsSync(join(cache, `tool-v1.2.3-${computeComponentKey(component)}`)));
    installGo();
    await buildComponent(component, { cache, goCache, progress: silentProgress });
    assert.deepEqual(
      readdirSync(cache).filter((name) => name.endsWith(".part")),
      [],
    );
  });

  it("stops on cancellation and leaves no result", async () => {
    installGo("exec sleep 20");
    const stop = new AbortController();
    const progress = {
      ...silentProgress,
      step: () => ({
        ...silentProgress.step(""),
        update: (detail: string) => {
          if (detail.includes("packages compiled")) stop.abort();
        },
      }),
    };
    await assert.rejects(
      buildComponent(component, { cache, goCache, progress, signal: stop.signal }),
      /abort/i,
    );
    assert.ok(!existsSync(join(cache, `tool-v1.2.3-${computeComponentKey(component)}`)));
  });

  it("reports an unavailable module", async () => {
    installGo("exit 1", '{"Error":"not available"}');
    await assert.rejects(
      buildComponent(component, { cache, goCache, progress: silentProgress }),
      (error: unknown) =>
        error instanceof Failure &&
        error.message.includes("example.org/tool@v1.2.3") &&
        error.message.includes("not available"),
    );
  });

  it("counts packages during compilation", async () => {
    const said: string[] = [];
    const progress = {
      ...silentProgress,
      step: () => ({
        ...silentProgress.step(""),
        update: (detail: string) => void said.push(detail),
      }),
    };
    await buildComponent(component, { cache, goCache, progress });
    assert.ok(said.includes("1 packages compiled, now example.org/tool/internal"));
  });

  it("reports a Go that is too old", async () => {
    await requireGo();
    for (const version of ["go1.25.9", "go1.9"]) {
      process.env["GO_SAYS"] = version;
      await assert.rejects(requireGo(), /too old/, version);
    }
    for (const version of ["go1.26.0", "go1.27.1", "go1.26.8-X:nodwarf5"]) {
      process.env["GO_SAYS"] = version;
      await requireGo();
    }
  });

  it("reports a missing Go", async () => {
    process.env["PATH"] = join(folder, "module");
    await assert.rejects(requireGo(), /there is no Go here/);
  });
});
