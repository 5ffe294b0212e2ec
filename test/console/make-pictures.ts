/** Makes the pictures of docs/console.md: `make console-pictures`. */
import { join } from 'node:path';
import { openPage, startBrowser } from '../harness/browser.ts';
import { root } from '../harness/paths.ts';
import { openRun } from '../harness/run.ts';
import { openConsoleEnvironment } from './console-environment.ts';
import { signIn } from './sign-in.ts';

const folder = join(root, 'docs/pictures');
/** The pictures: a name, a page, and a text that is on the page when its data has arrived. */
const pictures = [
  { name: 'console-subnets', path: '/', content: '10.32.0.0/16', height: 480 },
  { name: 'console-map', path: '/subnets/lan?select=10.8.0.100', content: 'Address reserved', height: 1_060 },
  { name: 'console-address', path: '/subnets/lan/10.8.0.2', content: 'Address bound', height: 900 },
];

const run = openRun();
try {
  const [environment, browser] = await Promise.all([openConsoleEnvironment(run), startBrowser(run)]);
  const options = { baseURL: environment.url, ignoreHTTPSErrors: true };
  const { page } = await openPage(browser, options);
  await page.goto('/');
  await signIn(page, environment.token);
  for (const { name, path, content, height } of pictures) {
    await page.setViewportSize({ width: 1_200, height });
    await page.goto(path);
    await page.getByText(content).first().waitFor();
    await page.screenshot({ path: join(folder, `${name}.png`) });
    console.log(`docs/pictures/${name}.png`);
  }
} finally {
  await run.end();
}
