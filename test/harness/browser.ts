/** Chromium of the machine, which tests drive. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Run } from './run.ts';

/** The executable; undefined if the machine has none. `make e2e-console` installs it. */
export const chromiumPath: string | undefined = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'chromium'))
  .find(isExecutable);

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Starts Chromium without a window. It ends with the run. */
export async function startBrowser(run: Run): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('chromium is not on PATH: run sh test/harness/prerequisites browser');
  // Its sandbox needs a user other than root
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });
  run.onEnd(() => browser.close());
  return browser;
}

/** A page in a context of its own, so with a session of its own. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors on the console, exceptions and violations of the content security policy. */
  readonly problems: string[];
}

export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  return { page, problems };
}
