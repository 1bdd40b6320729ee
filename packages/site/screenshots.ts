/*
 * Looks at the built site in headless Chromium: writes screenshots to packages/site/dist-screens,
 * checks accessibility with axe, the keyboard, and the search box with the questions of operators.
 * Fails if the browser asks any other host for a file.
 *
 *   npm run site && npm run site:screenshots
 *
 * Needs Chromium at CHROMIUM_PATH, or `chromium` on the PATH.
 */
import { existsSync, mkdirSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import axe, { type AxeResults } from "axe-core";
import { chromium, type BrowserContextOptions, type Page } from "playwright-core";
import { addressOf } from "./pages.js";
import { questions } from "./questions.js";

const dist = join(import.meta.dirname, "dist");
const screens = join(import.meta.dirname, "dist-screens");
/** Address of the site. No server runs: the browser's requests are answered from the files. */
const origin = "http://site.invalid";

const pages = {
  home: "README.md",
  task: "docs/operate/upgrade-kubernetes.md",
  table: "docs/reference/support-matrix.md",
  picture: "ARCHITECTURE.md",
  api: "packages/site/api/stackadm/automation.md",
};

const desktop = { viewport: { width: 1440, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const looks: Readonly<Record<string, BrowserContextOptions>> = {
  light: { ...desktop, colorScheme: "light" },
  dark: { ...desktop, colorScheme: "dark" },
  phone: { ...phone, colorScheme: "light" },
};

const problems: string[] = [];

function check(isRight: boolean, problem: string): void {
  if (!isRight) problems.push(problem);
}

function findChromium(): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const named = process.env["CHROMIUM_PATH"];
  const found = named ?? folders.map((one) => join(one, "chromium")).find((one) => existsSync(one));
  if (found === undefined) throw new Error("There is no chromium: set CHROMIUM_PATH.");
  return found;
}

/** Answers the browser's requests from the built files. */
async function answerFromFiles(page: Page): Promise<void> {
  await page.route("**/*", async (route) => {
    const url = new URL(route.request().url());
    const path = join(dist, decodeURIComponent(url.pathname));
    const file = url.pathname.endsWith("/") ? join(path, "index.html") : path;
    const isFile = url.origin === origin && statSync(file, { throwIfNoEntry: false })?.isFile();
    check(isFile === true, `the browser asked for ${url.href}`);
    await (isFile ? route.fulfill({ path: file }) : route.abort());
  });
}

async function open(page: Page, file: string): Promise<void> {
  const address = addressOf(file);
  await page.goto(`${origin}${address}${address.endsWith("/") ? "" : ".html"}`);
  await page.waitForLoadState("networkidle");
}

/** Checks the page with the rules of WCAG 2 A and AA. */
async function checkAccessibility(page: Page, name: string): Promise<void> {
  await page.evaluate(axe.source);
  const rules = JSON.stringify({ runOnly: ["wcag2a", "wcag2aa"] });
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${rules})`);
  for (const { id, nodes } of violations)
    problems.push(`${name}: ${id}: ${nodes.length} elements, ${nodes[0]?.html ?? ""}`);
}

async function checkKeyboard(page: Page): Promise<void> {
  await open(page, pages.task);
  await page.keyboard.press("Tab");
  const focused = await page.locator(":focus").textContent();
  check(focused?.trim() === "Skip to content", `the first Tab focuses '${focused ?? ""}'`);
  const box = page.locator(".VPLocalSearchBox");
  await page.keyboard.press("Control+k");
  await box.waitFor();
  await checkAccessibility(page, "search box");
  await page.keyboard.press("Escape");
  await box.waitFor({ state: "detached" });
}

/** Types each question into the search box. Its page must be one of the first three results. */
async function askQuestions(page: Page): Promise<void> {
  await page.keyboard.press("Control+k");
  const input = page.locator("#localsearch-input");
  const results = page.locator(".VPLocalSearchBox a.result");
  for (const { page: file, searches } of questions)
    for (const words of searches) {
      // The search box shows the results of the former words for a moment.
      await input.fill("");
      await results.first().waitFor({ state: "detached" });
      await input.fill(words);
      await results.first().waitFor();
      const first = (await results.all()).slice(0, 3);
      const targets = await Promise.all(first.map((result) => result.getAttribute("href")));
      const isFound = targets.some((target) => target?.startsWith(`${addressOf(file)}.html`));
      check(isFound, `the search for '${words}' does not show ${file} first`);
    }
  await page.screenshot({ path: join(screens, "search.png") });
}

async function main(): Promise<void> {
  mkdirSync(screens, { recursive: true });
  const browser = await chromium.launch({ executablePath: findChromium() });
  try {
    for (const [look, options] of Object.entries(looks)) {
      const page = await (await browser.newContext(options)).newPage();
      await answerFromFiles(page);
      for (const [name, file] of Object.entries(pages)) {
        await open(page, file);
        await page.screenshot({ path: join(screens, `${name}-${look}.png`) });
        await checkAccessibility(page, `${name}, ${look}`);
      }
      if (look === "phone") continue;
      await checkKeyboard(page);
      await askQuestions(page);
    }
  } finally {
    await browser.close();
  }
  if (problems.length > 0) throw new Error(problems.join("\n"));
  process.stdout.write(`No problems. Screenshots are in ${screens}.\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
