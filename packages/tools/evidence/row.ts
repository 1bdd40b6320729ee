/** Test that shows a row. */
export interface Proof {
  /** Path of the test file in the repository. */
  readonly file: string;
  /**
   * Part of the full titles of the tests that show the row. All of these tests must pass. Default:
   * every test of the file.
   */
  readonly title?: string;
  /** Path of the file that the page links to. Default: `file`. */
  readonly link?: string;
}

/** Row of docs/reference/support-matrix.md: something that tests have run, or that no test has run yet. */
export interface SupportRow {
  /** Subject of the row, in Markdown. */
  readonly what: string;
  /** Proofs. Each proof alone shows the row. Default: none. */
  readonly proofs?: readonly Proof[];
  /**
   * Paths of tests that run a machine's scripts on files like the files of the system. The system
   * itself does not run there. Default: none.
   */
  readonly scripts?: readonly string[];
  /**
   * Remark next to the links: another check of the row, or the reason why the lab cannot run it.
   */
  readonly note?: string;
  /** Beginning of the names of the images to which the row applies. Default: any image. */
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
 * Origins of a part. `official`: a published binary. `built`: built here from upstream's Go
 * modules. `stand-in`: this project's own replacement.
 */
export const pulumiPartOrigins = ["official", "built", "stand-in"] as const;
export type PulumiPartOrigin = (typeof pulumiPartOrigins)[number];

/**
 * Returns the proof by a file of the lab tier, such as "all/control-planes/five". If the file has several
 * clusters, the title selects tests.
 */
export const createLabProof = (name: string, title?: string): Proof => ({
  file: `test/lab/${name}.test.ts`,
  ...(title !== undefined && { title }),
});

/** Returns the proof by a file of the emulated tier, whose machines have their own kernels. */
export const createEmulatedProof = (name: string, title?: string): Proof => ({
  file: `test/emulated/${name}.test.ts`,
  ...(title !== undefined && { title }),
});

/** Returns the proof by an example of the examples tier. */
export const createExampleProof = (name: string): Proof => ({
  file: "test/examples/examples.test.ts",
  title: `the example ${name},`,
  link: `test/examples/${name}.ts`,
});
