/** A test that shows a row. */
export interface Proof {
  /** Path in the repository. */
  readonly file: string;
  /** Part of the full titles of those tests in the file that show the row, all of which have to pass. Default: every test of the file. */
  readonly title?: string;
  /** Path in the repository that the page links to. Default: `file`. */
  readonly link?: string;
}

/** One line of docs/support-matrix.md: a thing that runs, or that nothing has run yet. */
export interface Row {
  /** The subject of the row, in Markdown. */
  readonly what: string;
  /** The tests each of which shows the row. Default: none. */
  readonly proofs?: readonly Proof[];
  /** Paths of tests that run the scripts of a machine on files like those of the system, which itself never ran there. Default: none. */
  readonly scripts?: readonly string[];
  /** A remark beside the links: what else looks at it, or why the lab cannot run it. */
  readonly note?: string;
  /** The beginning of the names of images for which the row holds. Default: any image. */
  readonly image?: string;
  /** The one plugin, and where it has to come from, for which the row holds. Default: any. */
  readonly plugin?: { readonly name: PluginPiece; readonly origin: PluginOrigin };
}

/** A table of the page. */
export interface Section {
  readonly title: string;
  /** A sentence above the table. */
  readonly intro?: string;
  readonly rows: Readonly<Record<string, Row>>;
}

/** The parts of Pulumi that a run takes. */
export const pluginPieces = ["engine", "nodejs", "openstack", "kubernetes", "command"] as const;
export type PluginPiece = (typeof pluginPieces)[number];

/** `official`: a published binary, or one that was installed as such. `built`: made here of upstream's Go modules. `stand-in`: this project's own. */
export const pluginOrigins = ["official", "built", "stand-in"] as const;
export type PluginOrigin = (typeof pluginOrigins)[number];

/** Returns the proof by a file of the lab tier: "all/five", with the tests' title where the file has several clusters. */
export const lab = (name: string, title?: string): Proof => ({
  file: `test/lab/${name}.test.ts`,
  ...(title !== undefined && { title }),
});

/** Returns the proof by a file of the emulated tier, whose machines have kernels of their own. */
export const emulated = (name: string, title?: string): Proof => ({
  file: `test/emulated/${name}.test.ts`,
  ...(title !== undefined && { title }),
});

/** Returns the proof by an example of the examples tier. */
export const example = (name: string): Proof => ({
  file: "test/examples/examples.test.ts",
  title: `the example ${name},`,
  link: `test/examples/${name}.ts`,
});
