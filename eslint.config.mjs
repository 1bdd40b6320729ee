import { readdirSync } from "node:fs";
import { join } from "node:path";
import tseslint from "typescript-eslint";
import certainAssertion from "./packages/tools/lint-empty-loop-assertions.mjs";

const creatingResourcesInApply = {
  selector:
    "CallExpression[callee.property.name='apply'] NewExpression:not([callee.name=/Error$/]):not([callee.name=/^(Map|Set|URL|Date|RegExp)$/])",
  message: "No resources inside apply: preview would not show them. Decide with plain values.",
};
const nestedApply = {
  selector:
    "CallExpression[callee.property.name='apply'] CallExpression[callee.property.name='apply']",
  message: "No nested apply: use pulumi.all, pulumi.interpolate or a lifted property.",
};
const applyInTests = {
  selector: "CallExpression[callee.property.name='apply']",
  message: "An assertion inside apply passes with any value: await value(output).",
};
const commandOnlyInRemoteScript = {
  name: "@pulumi/command",
  message: "Only components/remote-scripts/remote-script.ts runs commands; use RemoteScript.",
};
const yamlOnlyInSupport = {
  name: "yaml",
  importNames: ["stringify", "Document"],
  message: "Readers of YAML 1.1 would take some text for booleans or numbers: use base/yaml.ts.",
};
const noPulumi = {
  group: ["@pulumi/*"],
  message: "This file only renders: keep Pulumi out of it.",
};
/** What each folder may import of the others: arrows go one way, without an exception. */
const mayImport = {
  base: [],
  openstack: ["base"],
  components: ["base", "openstack"],
  automation: ["base", "openstack", "components"],
};
/**
 * Folders of the product and earlier packages in this list that each package may import. The
 * product imports no package. Tests may import everything.
 */
const packagesMayImport = {
  toolchain: ["base"],
  lab: ["base"],
  tools: ["base", "components", "automation", "lab", "bench", "test"],
  site: ["tools"],
  bench: ["base", "openstack", "components", "automation", "toolchain", "lab", "tools", "test"],
};
/**
 * What each folder inside these may import, the lowest folder first. Other files may import all. A name
 * with an ending is such a file.
 */
const insideMayImport = {
  base: {
    failures: [],
    versions: [],
    terminal: ["failures", "progress.js", "url-passwords.js"],
  },
  openstack: {
    http: [],
    auth: ["http"],
    client: ["http", "auth"],
    inventory: ["http", "client"],
    checks: ["http", "auth", "client", "inventory"],
  },
  components: {
    pulumi: [],
    "remote-scripts": ["pulumi"],
    "kubernetes-objects": ["pulumi"],
    lookup: ["pulumi", "remote-scripts"],
    schema: ["kubernetes-objects"],
    "pod-network": ["pulumi", "kubernetes-objects", "lookup", "schema"],
    config: ["pulumi", "kubernetes-objects", "lookup", "schema", "pod-network"],
    plan: ["pod-network", "config"],
    lifecycle: ["pulumi", "remote-scripts", "lookup", "config", "plan"],
    identity: ["pulumi", "lookup", "pod-network", "config"],
    network: ["pulumi", "lookup", "pod-network", "config", "plan", "identity"],
    machine: [
      ...["pulumi", "remote-scripts", "lookup", "pod-network", "config", "plan", "lifecycle"],
      ...["identity", "network"],
    ],
    access: ["pulumi", "remote-scripts", "config", "network", "machine"],
    endpoint: [
      ...["pulumi", "lookup", "config", "plan", "lifecycle", "identity", "network", "machine"],
    ],
    etcd: ["remote-scripts", "config", "plan", "lifecycle", "identity", "machine"],
    kubeadm: [
      ...["pulumi", "remote-scripts", "pod-network", "config", "plan", "lifecycle", "identity"],
      ...["machine", "access", "endpoint", "etcd"],
    ],
    addons: [
      ...["pulumi", "kubernetes-objects", "lookup", "pod-network", "config", "plan", "identity"],
      ...["network", "kubeadm"],
    ],
    provider: ["pulumi", "schema", "config", "cluster.js", "prepare.js"],
  },
  automation: {
    pulumi: [],
    toolchain: [],
    setup: ["pulumi", "toolchain"],
    timeline: ["pulumi"],
    verify: ["pulumi"],
    engine: ["pulumi", "setup", "timeline", "verify"],
    steps: ["pulumi", "engine"],
    orphans: ["engine"],
    guards: ["pulumi", "setup", "verify", "engine", "steps", "orphans"],
    repair: ["pulumi", "verify", "engine", "steps", "guards"],
    preflight: ["pulumi", "engine", "steps", "repair"],
    destroy: ["pulumi", "verify", "engine", "steps", "orphans", "guards", "repair"],
    health: ["pulumi", "timeline", "verify", "engine", "steps", "guards"],
    operations: [
      ...["pulumi", "verify", "engine", "steps", "guards", "repair", "preflight", "destroy"],
      "health",
    ],
    backup: ["pulumi", "setup", "verify", "engine", "steps", "guards"],
    render: ["pulumi", "timeline", "verify", "engine", "health", "backup"],
    cli: [
      ...["pulumi", "toolchain", "setup", "verify", "engine", "orphans", "repair", "health"],
      ...["backup", "render", "cluster-service.js"],
    ],
  },
};
const isFile = (name) => name.endsWith(".js");
for (const table of [mayImport, ...Object.values(insideMayImport)]) {
  for (const [index, [folder, others]] of Object.entries(table).entries()) {
    const above = Object.keys(table).slice(0, index);
    const wrong = others.find((one) => !isFile(one) && !above.includes(one));
    if (wrong) throw new Error(`${folder}/ may import only what stands above it, not ${wrong}/`);
  }
}
const only = (folder, others) =>
  `${folder}/ may import only ${["itself", ...others].join(", ")}: see ARCHITECTURE.md.`;
const outside = ["test", "docs", "packages"];
const arrows = (folder) => {
  const forbidden = [...Object.keys(mayImport), ...outside].filter(
    (one) => one !== folder && !mayImport[folder].includes(one),
  );
  return {
    regex: `^(\\.\\./)+(${forbidden.join("|")})/|^@stackadm/`,
    message: only(folder, mayImport[folder]),
  };
};
const packageArrows = (name) => {
  const allowed = packagesMayImport[name];
  const folders = [...Object.keys(mayImport), ...outside, ...Object.keys(packagesMayImport)];
  // No other package imports the site. The lab has a folder of the same name.
  const forbidden = folders.filter(
    (one) => one !== name && one !== "site" && !allowed.includes(one),
  );
  return {
    regex: `^(\\.\\./)+(${forbidden.join("|")})/|^@stackadm/`,
    message: only(`packages/${name}`, allowed),
  };
};
const foldersIn = (top) =>
  readdirSync(join(import.meta.dirname, top), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
/**
 * A folder without a row may import nothing. `depth`: how many folders beneath `top` the file lies.
 */
const innerArrows = (top, folder, depth) => {
  const others = insideMayImport[top][folder] ?? [];
  const allowed = [folder, ...others].map((one) => (isFile(one) ? one : `${one}/`)).join("|");
  return {
    regex: `^(\\.\\./){${depth}}(?!\\.\\./|(${allowed}))`,
    message: only(`${top}/${folder}`, others),
  };
};
const spreadOfLiteral = {
  selector: "ObjectExpression > SpreadElement > ObjectExpression",
  message: "Write the properties without the spread.",
};
/** A correction of the clock, or a suspension of the machine, must not end a wait. */
const wallClockLimit = {
  selector:
    "BinaryExpression[operator='+'] > CallExpression[callee.object.name='Date'][callee.property.name='now']",
  message: "Write performance.now() for a time limit.",
};
/** Private parts of Pulumi, which only the files pulumi-internals.ts may use. */
const privatePulumi = [
  "ImportDeclaration[source.value=/^@pulumi[/][^/]+[/](?!automation$)/]",
  "MemberExpression[object.object.name='pulumi'][object.property.name='runtime'][property.name!='isDryRun']",
].map((selector) => ({ selector, message: "Private part of Pulumi: see pulumi-internals.ts." }));
const hiddenInputs = [
  "MemberExpression[object.name='process'][property.name=/^(env|cwd)$/]",
  "ImportSpecifier[imported.name=/^(homedir|getCachePath|getStatePath)$/]",
].map((selector) => ({ selector, message: "Hidden input: take it as an argument." }));
/**
 * Files that only render: no Pulumi, no network, no clock. Keep in step with ARCHITECTURE.md.
 */
const pureFiles = [
  "components/schema/**/*.ts",
  "components/config/**/*.ts",
  "components/plan/**/*.ts",
  "components/**/*-rules.ts",
  "components/**/*-plan.ts",
  "components/**/*-documents.ts",
  "components/**/user-data.ts",
  "components/**/kubeconfig.ts",
  "components/**/cloud-conf.ts",
  "components/provider/{package-schema,type-specs}.ts",
  "components/**/derived-ssh-keys.ts",
  "components/**/manifests/**/*.ts",
  "components/kubernetes-objects/{rbac,pod-settings}.ts",
  "components/pod-network/{cni-install-hook,manifest-objects,manifest-option}.ts",
  "components/pod-network/pod-network-{kinds,traits}.ts",
  "components/pod-network/*/{manifests,options,traits}.ts",
  "components/remote-scripts/shell-quoting.ts",
];

export default tseslint.config(
  {
    ignores: [
      ...["dist/**", "packages/*/dist/**", "node_modules/**", "**/*.{cjs,mjs}"],
      ...["test/fixtures/**", "packages/*/test/fixtures/**"],
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/prefer-nullish-coalescing": "error",
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
      "max-lines": ["error", { max: 400 }],
      "max-lines-per-function": ["error", { max: 60 }],
      complexity: ["error", 12],
      "max-depth": ["error", 3],
      "max-params": ["error", 4],
      "no-console": "error",
      eqeqeq: "error",
      "no-restricted-syntax": ["error", creatingResourcesInApply, nestedApply, spreadOfLiteral],
      "no-restricted-imports": ["error", { paths: [commandOnlyInRemoteScript, yamlOnlyInSupport] }],
    },
  },
  {
    files: ["{automation,base,openstack}/**/*.ts", "config.ts"],
    rules: {
      "no-restricted-syntax": [
        "error",
        creatingResourcesInApply,
        nestedApply,
        spreadOfLiteral,
        wallClockLimit,
        ...privatePulumi,
      ],
    },
  },
  {
    files: ["components/**/*.ts", "index.ts"],
    ignores: ["components/pulumi/pulumi-internals.ts"],
    rules: {
      "no-restricted-syntax": [
        "error",
        creatingResourcesInApply,
        nestedApply,
        spreadOfLiteral,
        wallClockLimit,
        ...hiddenInputs,
        ...privatePulumi,
      ],
    },
  },
  {
    // `prepare` is the one function of the library that reads the environment.
    files: ["components/prepare.ts"],
    rules: {
      "no-restricted-syntax": [
        "error",
        creatingResourcesInApply,
        nestedApply,
        spreadOfLiteral,
        ...privatePulumi,
      ],
    },
  },
  ...Object.keys(mayImport).map((folder) => ({
    files: [`${folder}/**/*.ts`],
    rules: {
      "@typescript-eslint/no-restricted-imports": ["error", { patterns: [arrows(folder)] }],
    },
  })),
  ...Object.keys(packagesMayImport).map((name) => ({
    files: [`packages/${name}/**/*.ts`],
    ignores: ["packages/*/test/**"],
    rules: {
      "@typescript-eslint/no-restricted-imports": ["error", { patterns: [packageArrows(name)] }],
    },
  })),
  ...Object.keys(insideMayImport).flatMap((top) =>
    foldersIn(top).flatMap((folder) =>
      [1, 2, 3].map((depth) => ({
        files: [`${top}/${folder}/${"*/".repeat(depth - 1)}*.ts`],
        rules: {
          "@typescript-eslint/no-restricted-imports": [
            "error",
            { patterns: [arrows(top), innerArrows(top, folder, depth)] },
          ],
        },
      })),
    ),
  ),
  {
    files: ["components/remote-scripts/remote-script.ts"],
    rules: { "no-restricted-imports": ["error", { paths: [yamlOnlyInSupport] }] },
  },
  {
    files: pureFiles,
    rules: {
      "no-restricted-imports": ["error", { paths: [yamlOnlyInSupport], patterns: [noPulumi] }],
    },
  },
  {
    files: ["base/yaml.ts"],
    rules: { "no-restricted-imports": ["error", { paths: [commandOnlyInRemoteScript] }] },
  },
  {
    files: ["test/**/*.ts", "packages/*/test/**/*.ts"],
    plugins: { tests: { rules: { "certain-assertion": certainAssertion } } },
    rules: {
      "tests/certain-assertion": "error",
      "no-restricted-syntax": ["error", applyInTests, spreadOfLiteral],
      "no-restricted-imports": "off",
      "max-lines-per-function": "off",
      "@typescript-eslint/no-floating-promises": "error",
    },
  },
);
