/** Test that proves a row of the support matrix. */
export interface Proof {
  /** Path of the test file in the repository. */
  readonly file: string;
  /**
   * Text that the full titles of the row's tests contain. All tests with this text must pass.
   * Default: all tests of the file.
   */
  readonly title?: string;
  /** Path of the file that the page links to. Default: `file`. */
  readonly link?: string;
}

/** Row of the support matrix: a feature that tests have run, or that no test has run yet. */
export interface SupportRow {
  /** Subject of the row, in Markdown. */
  readonly what: string;
  /** Proofs of the row. A single proof is sufficient. Default: none. */
  readonly proofs?: readonly Proof[];
  /**
   * Paths of tests that run a machine's scripts with copies of the system's files. These tests do
   * not boot the system. Default: none.
   */
  readonly scripts?: readonly string[];
  /**
   * Remark next to the links, such as another check of the row, or the reason why the lab cannot
   * run it.
   */
  readonly note?: string;
  /** Prefix of the names of the images to which the row applies. Default: any image. */
  readonly image?: string;
  /** Plugin, with its origin, to which the row applies. Default: any plugin. */
  readonly plugin?: { readonly name: PulumiPart; readonly origin: PulumiPartOrigin };
}

/** Table of the page. */
export interface SupportSection {
  readonly title: string;
  /** Sentence above the table. */
  readonly intro?: string;
  readonly rows: Readonly<Record<string, SupportRow>>;
}

/** Parts of Pulumi that a run uses. */
export const pulumiParts = ["engine", "nodejs", "openstack", "kubernetes", "command"] as const;
export type PulumiPart = (typeof pulumiParts)[number];

/**
 * Origins of a part of Pulumi. `official`: a published binary. `built`: built on this machine from
 * upstream's Go modules. `stand-in`: a replacement that is part of this project.
 */
export const pulumiPartOrigins = ["official", "built", "stand-in"] as const;
export type PulumiPartOrigin = (typeof pulumiPartOrigins)[number];

/**
 * Returns a proof that consists of a test file of the lab tier, such as "all/control-planes/five".
 * If the file has several clusters, the title selects the tests.
 */
export const createLabProof = (name: string, title?: string): Proof => ({
  file: `test/lab/${name}.test.ts`,
  ...(title !== undefined && { title }),
});

/**
 * Returns a proof that consists of a test file of the emulated tier, whose machines have their own
 * kernels.
 */
export const createEmulatedProof = (name: string, title?: string): Proof => ({
  file: `test/emulated/${name}.test.ts`,
  ...(title !== undefined && { title }),
});

/** Returns a proof that consists of the tests of one example. */
export const createExampleProof = (name: string): Proof => ({
  file: "test/examples/examples.test.ts",
  title: `the example ${name},`,
  link: `test/examples/${name}.ts`,
});
