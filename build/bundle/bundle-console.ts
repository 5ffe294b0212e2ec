/**
 * Bundles the pages of the console for browsers: one script, one style sheet, a page and an icon.
 */
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundledPackages, root } from './bundle-programs.ts';

const sources = 'services/console/web';

/**
 * Writes app.js, app.css, index.html and icon.svg into a folder. The same sources give the same
 * bytes. Returns the folders of the npm packages that are in the bundle, relative to the project.
 */
export async function bundleConsole(folder: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['app.ts', 'app.css'].map((name) => ({ in: `${sources}/${name}`, out: 'app' })),
    outdir: folder,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    legalComments: 'none', // the notices are a file of their own
    metafile: true,
    logLevel: 'warning',
  });
  for (const name of ['index.html', 'icon.svg']) await cp(join(root, sources, name), join(folder, name));
  return bundledPackages(metafile);
}

/**
 * Adds the files that the bundled console reads: its pages and the runbooks. Returns the folders of
 * the packages, as `bundleConsole` does.
 */
export async function bundleConsoleFiles(folder: string): Promise<string[]> {
  await cp(join(root, 'docs/runbooks.md'), join(folder, 'runbooks.md'));
  return bundleConsole(join(folder, 'console-web'));
}
