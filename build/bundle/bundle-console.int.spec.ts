import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { bundleConsole } from './bundle-console.ts';

describe('The bundle of the console', () => {
  const folders: string[] = [];
  const bundle = async (): Promise<{ readonly folder: string; readonly packages: string[] }> => {
    const folder = mkdtempSync(join(tmpdir(), 'ipledger-console-'));
    folders.push(folder);
    return { folder, packages: await bundleConsole(folder) };
  };
  after(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

  it('The bundle of the console has the same bytes each time, and reports its packages', async () => {
    const [one, other] = [await bundle(), await bundle()];
    const files = readdirSync(one.folder).sort();
    expect(files).to.deep.equal(['app.css', 'app.js', 'icon.svg', 'index.html']);
    for (const file of files)
      expect(readFileSync(join(one.folder, file)).equals(readFileSync(join(other.folder, file))), file).to.equal(true);
    const names = one.packages.map((folder) => folder.replace('node_modules/', ''));
    expect(names).to.deep.equal(['htm', 'ipaddr.js', 'preact', 'uplot']);
  });

  it('The bundle of the console is small, and its page has no inline script or style and no other host', async () => {
    const { folder } = await bundle();
    const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
    expect(read('app.js').length).to.be.below(200_000);
    expect(read('index.html')).not.to.match(/<style|style=|<script(?![^>]* src="\/)|https?:|onload/);
    expect(read('app.css')).not.to.match(/url\(|@import/);
  });
});
