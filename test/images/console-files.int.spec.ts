/**
 * Starts the console from the files of its image. Its pages and runbooks were once missing there,
 * and no suite noticed, because the console of the tests reads them from the sources.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { bundleConsoleFiles } from '../../build/bundle/bundle-console.ts';
import { bundlePrograms } from '../../build/bundle/bundle-programs.ts';
import { bundleFiles } from '../../build/images/root-filesystem.ts';
import { findFreePort } from '../harness/processes/free-ports.ts';
import { probeHttp } from '../harness/processes/readiness-probes.ts';
import { startServer } from '../harness/processes/server.ts';
import { openRun, type Run } from '../harness/run.ts';

describe('The files of the image ipledger', () => {
  let run: Run;
  before(() => {
    run = openRun();
  });
  after(() => run.end());

  it('a console that has only the files of its image starts, and serves its page, its script and its style', async () => {
    const [bundle, image] = [join(run.folder, 'bundle'), join(run.folder, 'image')];
    await bundlePrograms(['console'], bundle);
    await bundleConsoleFiles(bundle);
    for (const { path, content } of bundleFiles(bundle)) {
      mkdirSync(dirname(join(image, path)), { recursive: true });
      if (typeof content === 'object' && 'file' in content) writeFileSync(join(image, path), content.file);
    }
    const url = `http://127.0.0.1:${await findFreePort()}`;
    await startServer(run, {
      name: 'console',
      program: process.execPath,
      args: [join(image, 'app/console.mjs'), '--open', '--listen', url.slice('http://'.length)],
      env: { IPLEDGER_HEALTH_LISTEN: '127.0.0.1:0' },
      ready: (signal) => probeHttp(`${url}/`, signal),
      readyWithinMs: 60_000,
    });
    const read = async (path: string): Promise<string> => (await fetch(`${url}${path}`)).text();
    const page = await read('/');
    for (const [, file = ''] of page.matchAll(/(?:src|href)="(\/[^"]+)"/g))
      expect(await read(file), file)
        .to.have.length.above(100)
        .and.not.equal(page);
    expect(page).to.contain('/app.js').and.contain('/app.css');
  });
});
