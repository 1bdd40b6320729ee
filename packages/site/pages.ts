/** Markdown files of the repository that are pages of the site, and their addresses. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Directory of the repository. */
export const root = join(import.meta.dirname, "..", "..");

/** Folder of the pages that TypeDoc writes. Git ignores this folder. */
export const apiFolder = "packages/site/api";

/** Folder of pictures that pages link to. The site has a copy of the folder. */
export const picturesFolder = "docs/pictures";

/** Environment variable through which the command passes the repository's web address to VitePress. */
export const repositoryVariable = "STACKADM_SITE_REPOSITORY";

/** Markdown files that are no pages. VitePress also ignores `node_modules`, `dist` and `.*`. */
export const excluded = ["**/test/**"];

/** Returns whether the file is a page of the site. `file` is relative to the repository. */
export const isPage = (file: string): boolean =>
  /\.md$/.test(file) && !/^[.]|(^|\/)test\//.test(file) && existsSync(join(root, file));

/**
 * Returns the file of a page in the site. `docs/` is left out, so addresses are short. README.md is
 * the first page of its folder. The README.md of the repository is the home page, so the index of
 * the documentation has another name.
 */
export const routeOf = (file: string): string =>
  file === "docs/README.md"
    ? "documentation.md"
    : file
        .replace(/^docs\//, "")
        .replace(new RegExp(`^${apiFolder}/`), "api/")
        .replace(/(^|\/)README\.md$/, "$1index.md");

/** Returns the address of a page, without the base of the site and the ending `.html`. */
export const addressOf = (file: string): string =>
  `/${routeOf(file).replace(/(^|\/)index\.md$|\.md$/, "$1")}`;

export const readPage = (file: string): string => readFileSync(join(root, file), "utf8");

/** Returns the title of a page as plain text. */
export const titleOf = (file: string): string =>
  /^# (.+)$/m.exec(readPage(file))?.[1]?.replaceAll("`", "") ?? file;
