/**
 * The console in Chromium, on a real etcd, allocator, read model and Kubernetes API. Each test ends
 * with a look at the page: no error, no warning and no violation of the content security policy.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { eventually } from '../e2e/support/eventually.ts';
import { openPage, probeBrowser, startBrowser, type WatchedPage } from '../harness/browser.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type ConsoleEnvironment, openConsoleEnvironment } from './console-environment.ts';
import { addressesOfBig, allocate, hostileText, release } from './console-ledger.ts';
import { signIn } from './sign-in.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A view, and a text that it shows when its data has arrived. */
const views: readonly (readonly [string, string])[] = [
  ['/', '10.32.0.0/16'],
  ['/subnets/lan', 'after event'],
  ['/subnets/lan?select=10.8.0.100', 'Address reserved'],
  ['/subnets/dual?family=6', 'fd00:9::/64'],
  ['/subnets/big', 'after event'],
  ['/subnets/lan/10.8.0.2', 'Address allocated'],
  ['/pods/shop/web-0', 'Address bound'],
  ['/events', 'shop/big-'],
  ['/events/5', 'Proof'],
  ['/alarms', 'ipledger'],
  ['/search?q=web-0', 'shop/web-0'],
  ['/search', 'at least two characters'],
  ['/nowhere', 'no page at this address'],
];

/** A script of the page: the pictures of the legend and the trend, and whether all have content. */
const canvases = `[...document.querySelectorAll('.legend canvas, .trend canvas')]`;
const pictures = `${canvases}.map((canvas) => canvas.toDataURL())`;
const arePicturesDrawn = `['.legend canvas', '.trend canvas'].every((each) => document.querySelector(each)) &&
  ${canvases}.every((canvas) => canvas.toDataURL() !== canvas.cloneNode().toDataURL())`;

describe('The console', function () {
  this.timeout(180_000);
  let run: Run;
  let environment: ConsoleEnvironment;
  let browser: Browser;
  /** The cookie of a person who has signed in. */
  let session: StorageState;
  let opened: WatchedPage[] = [];

  before(async function () {
    const ability = probeBrowser();
    if (!ability.isAvailable) {
      console.log(`      skipped: ${ability.reason}`);
      this.skip();
    }
    run = openRun();
    [environment, browser] = await Promise.all([openConsoleEnvironment(run), startBrowser(run)]);
    const { page } = await openPage(browser, toConsole());
    await page.goto('/');
    await signIn(page, environment.token);
    session = await page.context().storageState();
    await page.context().close();
  });
  after(() => run?.end());
  afterEach(async () => {
    const problems = opened.flatMap((each) => each.problems);
    await Promise.all(opened.map(({ page }) => page.context().close()));
    opened = [];
    expect(problems).to.deep.equal([]);
  });

  /** Opens a page of the person, who has signed in before. */
  async function signedIn(path: string, options: BrowserContextOptions = {}): Promise<WatchedPage> {
    const watched = await openPage(browser, { ...toConsole(), storageState: session, ...options });
    opened.push(watched);
    await watched.page.goto(path);
    return watched;
  }
  const toConsole = (): BrowserContextOptions => ({ baseURL: environment.url, ignoreHTTPSErrors: true });
  const map = (page: Page) => page.getByRole('application');
  /** The line that screen readers speak for the selected cell. */
  const spoken = (page: Page) => page.locator('.map [role=status]');
  const shownTime = (page: Page) => page.locator('.slider b');

  // The colours are all that differs in the dark
  for (const [colorScheme, rules] of [
    ['light', {}],
    ['dark', { runOnly: ['color-contrast'] }],
  ] as const)
    it(`The console has no serious or critical finding of axe on any view, in ${colorScheme} colours`, async () => {
      const { page } = await signedIn('/', { colorScheme });
      for (const [path, content] of views) {
        await page.goto(path);
        await page.locator('main').getByText(content).locator('visible=true').first().waitFor();
        expect(await findSerious(page, rules), path).to.deep.equal([]);
      }
    });

  it('The console shows the page also when the session is known before the first frame', async () => {
    const { page } = await signedIn('/');
    await page.addInitScript('requestAnimationFrame = () => 0');
    await page.goto('/events');
    await page.locator('main').getByText('shop/big-').locator('visible=true').first().waitFor();
  });

  it('The console shows the state at another time by the slider, and the same page for its address', async () => {
    const { page } = await signedIn('/subnets/lan?select=10.8.0.100');
    await spoken(page).getByText('10.8.0.100: reserved').waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Previous event of 10.8.0.100' }).click();
    await page.getByText('Address reserved').waitFor();
    const atReservation = page.url();
    await page.getByRole('slider', { name: 'Time' }).press('Home');
    await spoken(page).getByText('10.8.0.100: free').waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Next event of 10.8.0.100' }).click();
    await spoken(page).getByText('10.8.0.100: reserved').waitFor({ state: 'attached' });
    expect(page.url()).to.equal(atReservation);

    const { page: other } = await signedIn(atReservation);
    await spoken(other).getByText('10.8.0.100: reserved').waitFor({ state: 'attached' });
    expect(await shownTime(other).textContent()).to.equal(await shownTime(page).textContent());
  });

  it('The console draws legend and trend again when the reader changes between dark and light', async () => {
    const { page } = await signedIn('/subnets/lan', { colorScheme: 'dark' });
    await eventually(async () => expect(await page.evaluate(arePicturesDrawn)).to.equal(true));
    const dark = await page.evaluate<string[]>(pictures);
    await page.emulateMedia({ colorScheme: 'light' });
    await eventually(async () => {
      const light = await page.evaluate<string[]>(pictures);
      expect(light.map((each, index) => each === dark[index])).to.deep.equal(dark.map(() => false));
    });
  });

  it('The console plays the history of a Subnet up to now', async () => {
    const { page } = await signedIn('/subnets/dual');
    await page.getByRole('button', { name: 'Play' }).click();
    await page.waitForURL(/seq=/);
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await shownTime(page).getByText('Now').waitFor();
    await page.getByRole('button', { name: 'Play' }).waitFor();
    expect(page.url()).not.to.contain('seq=');
  });

  it('The console opens the page of an address from the list of Subnets with the keyboard only', async () => {
    const { page } = await signedIn('/');
    await page.getByRole('link', { name: 'lan', exact: true }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).to.equal('Skip to the content');
    await page.keyboard.press('Enter');
    await tabTo(page, 'lan');
    await page.keyboard.press('Enter');
    await map(page).waitFor();
    await tabTo(page, '', 'application');
    for (const key of ['ArrowRight', 'ArrowDown', 'ArrowUp', 'ArrowRight', 'ArrowRight'])
      await page.keyboard.press(key);
    await spoken(page).getByText('10.8.0.2: bound').waitFor({ state: 'attached' });
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '10.8.0.2', exact: true }).waitFor();
    await page.goBack();
    await map(page).waitFor();
  });

  it(`The console shows a Subnet with ${addressesOfBig} addresses by blocks, and each address by zooming`, async () => {
    const { page } = await signedIn('/subnets/big');
    await map(page).press('ArrowRight');
    await spoken(page).getByText('10.32.0.0/24').waitFor({ state: 'attached' });
    await map(page).press('ArrowRight');
    await spoken(page).getByText('10.32.1.0/24: 256 addresses allocated').waitFor({ state: 'attached' });
    await page.getByText('This map as a table').click();
    // No address is free, all are allocated
    await page.getByRole('row', { name: /^10\.32\.20\.0\/24 0 256 / }).waitFor();
    await map(page).press('Enter');
    await page.waitForURL(/range=10\.32\.1\.0%2F24/);
    await map(page).press('ArrowRight');
    await spoken(page).getByText('10.32.1.0: allocated').waitFor({ state: 'attached' });
    await map(page).press('Escape');
    await spoken(page).getByText('10.32.1.0/24').waitFor({ state: 'attached' });
  });

  it('The console shows texts of tenants as text, isolated from the text around them', async () => {
    const { page } = await signedIn('/subnets/lan/10.8.0.101');
    const isolated = page.locator('bdi').getByText(hostileText, { exact: true });
    await isolated.first().waitFor();
    expect(await isolated.count()).to.be.above(1);
    expect(await page.locator('main img').count()).to.equal(0);
    expect(await page.title()).to.contain('10.8.0.101');
    await page.goto(`/search?q=${encodeURIComponent('<b>x</b>')}`);
    await page.getByRole('heading', { name: '<b>x</b>' }).waitFor();
  });

  it('The console shows the same page after a new sign-in when the session has ended', async () => {
    const { page, problems } = await signedIn('/subnets/lan?select=10.8.0.100');
    await spoken(page).getByText('10.8.0.100: reserved').waitFor({ state: 'attached' });
    const { href } = new URL(page.url());
    await page.context().clearCookies();
    await page.getByText('Your session has ended').waitFor();
    expect(page.url()).to.equal(href);
    await signIn(page, environment.token);
    await spoken(page).getByText('10.8.0.100: reserved').waitFor({ state: 'attached' });
    expect(page.url()).to.equal(href);
    ignoreStatus(problems, 401);
  });

  it('The console rejects a token that is not accepted, and shows why', async () => {
    const watched = await openPage(browser, toConsole());
    opened.push(watched);
    const { page, problems } = watched;
    await page.goto('/');
    await page.getByLabel('Kubernetes token').fill('not-a-token');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    ignoreStatus(problems, 401);
  });

  it('The console shows the effects before it reserves an address, and another browser shows the event', async () => {
    const [{ page }, { page: other }] = [
      await signedIn('/subnets/lan/10.8.0.150'),
      await signedIn('/events?subnet=lan'),
    ];
    await other.getByText('Live:').waitFor();
    await page.getByRole('button', { name: 'Reserve …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reserved for').fill('vip/scanner');
    await dialog.getByLabel('Reason').fill('a scanner');
    await dialog.getByRole('button', { name: 'Show what will happen' }).click();
    await dialog.getByText('This will happen').waitFor();
    expect(await findSerious(page)).to.deep.equal([]);
    await dialog.getByRole('button', { name: 'Reserve', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('vip/scanner').first().waitFor();
    const row = other.getByRole('row').filter({ hasText: '10.8.0.150' });
    await row.getByText('Address reserved').waitFor();
    expect(await row.textContent()).to.contain(environment.user);
  });

  it('The console follows new events, and filters them', async () => {
    const { page } = await signedIn('/events?subnet=lan&type=AddressAllocated');
    await page.getByText('Live:').waitFor();
    await allocate(environment.connection, { name: 'late', provider: 'lan.default', subnet: 'lan' });
    await page.getByRole('link', { name: 'shop/late' }).waitFor();
    await release(environment.connection, 'late');
    await page.getByLabel('Type').selectOption('AddressReleased');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL(/type=AddressReleased/);
    await page
      .getByRole('row', { name: /shop\/late/ })
      .getByText('Address released')
      .waitFor();
    expect(await page.getByRole('cell', { name: 'Address allocated' }).count()).to.equal(0);
  });

  for (const program of ['allocator', 'readModel'] as const)
    it(`The console keeps a page while the ${program} restarts, and continues`, async () => {
      const { page, problems } = await signedIn('/events?subnet=lan');
      await page.getByText('Live:').waitFor();
      const name = `after-${program.toLowerCase()}`;
      await environment[program].stop();
      await page.getByText('Filter').first().waitFor();
      await page.getByRole('button', { name: 'Clear' }).click();
      await page.getByText('It is tried again').waitFor();
      await environment[program].start();
      await page.getByText('It is tried again').waitFor({ state: 'detached' });
      await page.getByText('Live:').waitFor();
      await allocate(environment.connection, { name, provider: 'lan.default', subnet: 'lan' });
      await page.getByRole('link', { name: `shop/${name}` }).waitFor();
      ignoreStatus(problems, 503);
    });

  it('The console keeps a page while its own server does not answer, and continues after a sign-in', async () => {
    const { page, problems } = await signedIn('/events?subnet=lan');
    await page.getByText('Live:').waitFor();
    await environment.console.stop();
    await page.getByText('It is tried again').waitFor();
    expect(await page.getByRole('row').count()).to.be.above(1);
    await environment.console.start();
    await page.getByText('Your session has ended').waitFor();
    await signIn(page, environment.token);
    await page.getByText('Live:').waitFor();
    expect(page.url()).to.contain('/events?subnet=lan');
    ignoreStatus(problems, 401);
    problems.splice(0, problems.length, ...problems.filter((problem) => !problem.includes('net::ERR_')));
  });
});

/** The name and the elements of each serious or critical finding. */
async function findSerious(page: Page, rules: object = {}): Promise<string[]> {
  const options = JSON.stringify({ resultTypes: ['violations'], ...rules });
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate<{ violations: Finding[] }>(`axe.run(${options})`);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>;

interface Finding {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
}

/** Removes the report of Chromium about a reply with an error status. */
function ignoreStatus(problems: string[], status: number): void {
  const others = problems.filter((problem) => !problem.includes(`status of ${status}`));
  problems.splice(0, problems.length, ...others);
}

/** Presses Tab until an element with this name (and role, if given) has the focus. */
async function tabTo(page: Page, name: string, role?: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab');
    const focused = page.locator(':focus');
    if (role !== undefined ? (await focused.getAttribute('role')) === role : (await focused.textContent()) === name)
      return;
  }
  throw new Error(`Tab does not reach ${role ?? name}`);
}
