/*
 * Builds the documentation as a static site in packages/site/dist. Fails if a link or anchor is dead.
 *
 *   npm run site [-- --serve] [--base /path/] [--repository URL]
 *
 * `--serve` shows the site on a local port and reloads changed pages. `--base` is the path of the
 * site on its server. `--repository` is the web address of the repository, for links to sources.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { build, createServer } from "vitepress";
import { writeApiPages } from "./api.js";
import { apiFolder, readPage, repositoryVariable, root } from "./pages.js";

interface Manifest {
  readonly exports: Readonly<Record<string, string>>;
  readonly repository?: { readonly url: string };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      serve: { type: "boolean", default: false },
      base: { type: "string", default: "/" },
      repository: { type: "string" },
    },
  });
  const manifest = JSON.parse(readPage("package.json")) as Manifest;
  const url = manifest.repository?.url.replace(/^git\+/, "").replace(/\.git$/, "");
  const repository = values.repository ?? url;
  if (repository !== undefined) process.env[repositoryVariable] = repository;

  const api = join(root, apiFolder);
  if (!values.serve || !existsSync(api)) await writeApiPages(api, manifest.exports);
  if (!values.serve) {
    await build(import.meta.dirname, { base: values.base });
    return;
  }
  const server = await createServer(import.meta.dirname, { base: values.base });
  await server.listen();
  server.printUrls();
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
