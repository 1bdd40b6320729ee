import { readdirSync } from "node:fs";
import { join } from "node:path";
import tseslint from "typescript-eslint";

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
  message: "An assertion inside apply passes whatever the value is: await value(output).",
};
const commandOnlyInRemoteScript = {
  name: "@pulumi/command",
  message: "Only components/support/remote-script.ts runs commands; use RemoteScript.",
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
  cloud: ["base"],
  components: ["base", "cloud"],
  toolchain: ["base"],
  lab: ["base"],
  automation: ["base", "cloud", "components", "toolchain", "lab"],
  tools: ["base", "automation", "toolchain", "lab"],
};
/** The same of the folders of components/, each beneath those that stand on it. The files beside them may import all. */
const componentsMayImport = {
  support: [],
  arguments: ["support"],
  "pod-network": ["support", "arguments"],
  spec: ["support", "arguments", "pod-network"],
  plan: ["pod-network", "spec"],
  identity: ["support", "pod-network", "spec"],
  network: ["support", "pod-network", "spec", "plan", "identity"],
  endpoint: ["support", "spec", "identity", "network"],
  machine: ["support", "pod-network", "spec", "plan", "identity", "network"],
  access: ["support", "spec", "network", "machine"],
  ingress: ["support", "spec", "plan", "identity", "network", "endpoint", "machine"],
  etcd: ["support", "spec", "plan", "identity", "machine"],
  kubeadm: [
    ...["support", "pod-network", "spec", "plan", "identity", "endpoint", "machine", "access"],
    "etcd",
  ],
  addons: ["support", "pod-network", "spec", "plan", "identity", "network", "kubeadm"],
};
for (const table of [mayImport, componentsMayImport]) {
  for (const [index, [folder, others]] of Object.entries(table).entries()) {
    const above = Object.keys(table).slice(0, index);
    const wrong = others.find((one) => !above.includes(one));
    if (wrong) throw new Error(`${folder}/ may import only what stands above it, not ${wrong}/`);
  }
}
const only = (folder, others) =>
  `${folder}/ may import only ${["itself", ...others].join(", ")}: see docs/architecture.md.`;
const folders = [...Object.keys(mayImport), "test", "docs", "bench"];
const arrows = (folder) => {
  const forbidden = folders.filter((one) => one !== folder && !mayImport[folder].includes(one));
  return {
    regex: `^(\\.\\./)+(${forbidden.join("|")})/`,
    message: only(folder, mayImport[folder]),
  };
};
const componentFolders = readdirSync(join(import.meta.dirname, "components"), {
  withFileTypes: true,
})
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
/** A folder without a row may import nothing. `depth`: how many folders beneath components/ the file lies. */
const componentArrows = (folder, depth) => {
  const others = componentsMayImport[folder] ?? [];
  const allowed = [folder, ...others].join("|");
  return {
    regex: `^(\\.\\./){${depth}}(?!\\.\\./|(${allowed})/)`,
    message: only(`components/${folder}`, others),
  };
};
const hiddenInputs = [
  "MemberExpression[object.name='process'][property.name=/^(env|cwd)$/]",
  "ImportSpecifier[imported.name=/^(homedir|cacheDirectory|stateDirectory)$/]",
].map((selector) => ({ selector, message: "Hidden input: take it as an argument." }));
/** Files that only render: no Pulumi, no network, no clock. Keep in step with docs/architecture.md. */
const pureFiles = [
  "components/arguments/**/*.ts",
  "components/spec/**/*.ts",
  "components/plan/**/*.ts",
  "components/**/*-rules.ts",
  "components/**/*-plan.ts",
  "components/**/*-documents.ts",
  "components/**/documents.ts",
  "components/**/user-data.ts",
  "components/**/kubeconfig.ts",
  "components/**/cloud-conf.ts",
  "components/**/host-keys.ts",
  "components/**/manifests/**/*.ts",
  "components/pod-network/{cni,kinds,manifest-objects,manifest-option,traits}.ts",
  "components/pod-network/*/{manifests,options,traits}.ts",
  "components/support/shell.ts",
];

export default tseslint.config(
  { ignores: ["dist/**", "node_modules/**", "**/*.{cjs,mjs}", "test/fixtures/**"] },
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
      "max-lines": ["error", { max: 300 }],
      "max-lines-per-function": ["error", { max: 60 }],
      complexity: ["error", 12],
      "max-depth": ["error", 3],
      "max-params": ["error", 4],
      "no-console": "error",
      eqeqeq: "error",
      "no-restricted-syntax": ["error", creatingResourcesInApply, nestedApply],
      "no-restricted-imports": ["error", { paths: [commandOnlyInRemoteScript, yamlOnlyInSupport] }],
    },
  },
  {
    files: ["components/**/*.ts", "index.ts"],
    rules: {
      "no-restricted-syntax": ["error", creatingResourcesInApply, nestedApply, ...hiddenInputs],
    },
  },
  ...Object.keys(mayImport).map((folder) => ({
    files: [`${folder}/**/*.ts`],
    rules: {
      "@typescript-eslint/no-restricted-imports": ["error", { patterns: [arrows(folder)] }],
    },
  })),
  ...componentFolders.flatMap((folder) =>
    [1, 2, 3].map((depth) => ({
      files: [`components/${folder}/${"*/".repeat(depth - 1)}*.ts`],
      rules: {
        "@typescript-eslint/no-restricted-imports": [
          "error",
          { patterns: [arrows("components"), componentArrows(folder, depth)] },
        ],
      },
    })),
  ),
  {
    files: ["components/support/remote-script.ts"],
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
    files: ["test/**/*.ts"],
    rules: {
      "no-restricted-syntax": ["error", applyInTests],
      "no-restricted-imports": "off",
      "max-lines-per-function": "off",
      "@typescript-eslint/no-floating-promises": "error",
    },
  },
);
