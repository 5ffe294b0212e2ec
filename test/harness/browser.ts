/** Chromium of the machine, which tests drive. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Capability } from './network/network-namespaces.ts';
import { packagedProgram } from './programs/packaged-programs.ts';
import type { Run } from './run.ts';

/** Whether this machine has Chromium, or the reason why not. */
export function probeBrowser(): Capability {
  try {
    packagedProgram('chromium');
    return { isAvailable: true };
  } catch (error) {
    return { isAvailable: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Starts Chromium without a window. It ends with the run. */
export async function startBrowser(run: Run): Promise<Browser> {
  // The sandbox of Chromium needs a user other than root
  const browser = await chromium.launch({ executablePath: packagedProgram('chromium'), args: ['--no-sandbox'] });
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
