// Moves of each package: the first rule that fits the path of a file applies.

/** Packages in the order of their moves. */
export const packages = {
  // What the command lines of the product and of packages share.
  terminal: [
    [
      /^automation\/(render|cli|pulumi)\/(progress-screen|json-progress|table|session|command-line|redact-secrets)\.ts$/,
      "base/terminal/$2.ts",
    ],
    [
      /^test\/(unit|commands)\/automation\/(render|cli|pulumi)\/(progress-screen|json-progress|table|session|redact-secrets)\.test\.ts$/,
      "test/$1/base/terminal/$3.test.ts",
    ],
    [/^automation\/engine\/cancellation\.ts$/, "base/failures/cancellation.ts"],
    [
      /^test\/unit\/automation\/engine\/cancellation\.test\.ts$/,
      "test/unit/base/failures/cancellation.test.ts",
    ],
  ],
  tools: [
    [/^tools\//, "packages/tools/"],
    [/^test\/(unit|commands)\/tools\//, "packages/tools/test/$1/"],
    [/^test\/golden\/tools\//, "packages/tools/test/golden/"],
  ],
  bench: [
    [/^bench\//, "packages/bench/"],
    [/^test\/unit\/bench\//, "packages/bench/test/unit/"],
    [
      /^test\/graph\/(bare-calls|terraform-peer)\.test\.ts$/,
      "packages/bench/test/graph/$1.test.ts",
    ],
  ],
  toolchain: [
    [/^toolchain\/stand-ins\/nodejs\/inspect-guard\.mjs$/, "base/inspect-guard.mjs"],
    [/^toolchain\//, "packages/toolchain/"],
    [/^test\/(unit|commands)\/toolchain\//, "packages/toolchain/test/$1/"],
    [/^test\/fixtures\/transcripts\//, "packages/toolchain/test/fixtures/transcripts/"],
    [
      /^test\/engine\/plugins\/(conformance\.test|kubernetes\.test|kubernetes-program|kubernetes-support)\.ts$/,
      "packages/toolchain/test/engine/$1.ts",
    ],
  ],
  // What the product needs of the toolchain: the search for installed programs.
  search: [
    [/^packages\/toolchain\/toolchain\.ts$/, "automation/toolchain/toolchain.ts"],
    [/^packages\/toolchain\/find\.ts$/, "automation/toolchain/find-programs.ts"],
    [/^packages\/toolchain\/versions\.ts$/, "base/versions/pulumi-versions.ts"],
    [
      /^packages\/toolchain\/test\/unit\/toolchain\.test\.ts$/,
      "test/unit/automation/toolchain/toolchain.test.ts",
    ],
    [
      /^packages\/toolchain\/test\/unit\/find\.test\.ts$/,
      "test/unit/automation/toolchain/find-programs.test.ts",
    ],
  ],
  lab: [
    [/^lab\//, "packages/lab/"],
    [/^docs\/lab\.md$/, "packages/lab/README.md"],
    [/^test\/(unit|commands)\/lab\//, "packages/lab/test/$1/"],
    [/^test\/golden\/lab\//, "packages/lab/test/golden/"],
  ],
  // The command line of the lab.
  commands: [[/^automation\/cli\/commands\/lab\.ts$/, "packages/lab/cli/commands.ts"]],
};

/** Files whose text no move changes: records, and what tests compare byte by byte. */
export const untouched = new RegExp(
  [
    ...["^package-lock\\.json$", "^LICENSE$", "^test/golden/", "^test/fixtures/", "/golden/"],
    ...["^packages/[a-z]+/test/(golden|fixtures)/", "^docs/evidence\\.jsonl$", "records\\.jsonl$"],
    ...["^docs/config\\.schema\\.json$", "^docs/decisions/003[56]-", "^restructure/", "\\.svg$"],
  ].join("|"),
);

/** First folders of paths that text may mention. */
export const tops = [
  "automation",
  "base",
  "tools",
  "bench",
  "toolchain",
  "lab",
  "test",
  "docs",
  "packages",
];
