/** Bundles programs with esbuild: JavaScript files that need Node and no node_modules. */
import { globSync } from 'node:fs';
import { cp, readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';

export const root = join(import.meta.dirname, '../..');

/** The source of each program. */
const sources = {
  allocator: 'services/allocator/main.ts',
  'pod-watcher': 'services/pod-watcher/main.ts',
  'ovn-projector': 'services/ovn-projector/main.ts',
  'read-model': 'services/read-model/main.ts',
  console: 'services/console/main.ts',
  'node-agent': 'services/node-agent/main.ts',
  'install-plugin': 'services/node-agent/install-plugin.ts',
  ipledger: 'cli/main.ts',
} as const;
export type ProgramName = keyof typeof sources;

/**
 * The flags of Node for the bundled agent, which is on every node and does little: without the
 * compiler of machine code and with a small young generation it takes 10 MB less at rest, and 25 MB
 * less after a burst of ADDs. Without that compiler Node has no WebAssembly, which it needs to run
 * the sources. A collection after the start (services/node-agent/wiring.ts) and no public
 * authorities (lib/tls/public-authorities.ts) save 4 MB. The chart has the same flags:
 * test/chart/chart.int.spec.ts compares them.
 */
export const agentFlags = ['--lite-mode', '--max-semi-space-size=1', '--expose-gc', '--use-openssl-ca'] as const;

/** The packages that load .proto files at run time, relative to their `__dirname`. */
const protoPackages = ['etcd3', 'grpc-health-check', '@grpc/reflection'];

/**
 * CommonJS packages need `require` and `__dirname`, which ES modules lack. All files of a bundle
 * are in one folder, so that `bundleFolder` is the same in each.
 */
const banner = [
  "import { createRequire as createBundleRequire } from 'node:module';",
  'const require = createBundleRequire(import.meta.url);',
  'const bundleFolder = import.meta.dirname, __dirname = bundleFolder, __filename = import.meta.filename;',
].join('\n');

/**
 * Writes NAME.mjs for each program, the chunks that they share, and the .proto files. The same
 * sources give the same bytes. Returns the folders of the npm packages that are in the bundle,
 * relative to the project.
 */
export function bundlePrograms(names: readonly ProgramName[], folder: string): Promise<string[]> {
  return bundleFiles(Object.fromEntries(names.map((name) => [name, sources[name]])), folder);
}

/**
 * Bundles any programs as those of ipledger.
 * @param files the source of each program, relative to the project, by the name of its bundle
 */
export async function bundleFiles(files: Readonly<Record<string, string>>, folder: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: files,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunk-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // Names stay as they are, for readable stack traces
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none', // the notices are a file of their own
    banner: { js: banner },
    metafile: true,
    logLevel: 'warning',
    plugins: [builtinModules, protoLocations, versionOnly],
  });
  refuseLocales(metafile);
  await cp(join(root, 'proto/ipledger.proto'), join(folder, 'proto/ipledger.proto'));
  for (const name of protoPackages)
    for (const file of globSync('**/*.proto', { cwd: join(root, 'node_modules', name), exclude: ['node_modules/**'] }))
      await cp(join(root, 'node_modules', name, file), join(folder, 'packages', name, file));
  return bundledPackages(metafile);
}

/**
 * Loads Node's modules without `import`, which reads each of their exports: `node:http` then loads
 * undici, and `node:crypto` the Web Cryptography API. That takes 25 % of the start of the command
 * line, and memory of every program.
 */
const builtinModules: Plugin = {
  name: 'builtin-modules',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^[a-z]/ }, ({ path, kind }) =>
      kind === 'import-statement' && isBuiltin(path) ? { path, namespace: 'builtin' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
      loader: 'js',
    }));
  },
};

/** Bundles the agent into a folder. Returns the arguments of Node that start it. */
export async function bundleAgent(folder: string): Promise<string[]> {
  await bundlePrograms(['node-agent'], folder);
  return [...agentFlags, join(folder, 'node-agent.mjs')];
}

/** Points the packages and reflection.ts to the .proto files beside the bundle. */
const protoLocations: Plugin = {
  name: 'proto-locations',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/node_modules\/(etcd3|grpc-health-check|@grpc\/reflection)\/.*\.js$/ }, async ({ path }) => {
      const folder = dirname(relative(join(root, 'node_modules'), path));
      const text = await readFile(path, 'utf8');
      const contents = text.replaceAll('__dirname', `(bundleFolder + ${JSON.stringify(`/packages/${folder}`)})`);
      return { contents, loader: 'js' };
    });
    onLoad({ filter: /\/lib\/grpc\/server\/reflection\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const location = "'../../../proto/ipledger.proto'";
      if (!text.includes(location))
        throw new Error(`${path} does not load ${location}: change ${import.meta.filename}`);
      return { contents: text.replace(location, "'./proto/ipledger.proto'"), loader: 'ts' };
    });
  },
};

/** Bundles only the version of package.json, so that its other fields do not change the bundle. */
const versionOnly: Plugin = {
  name: 'version-only',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/package\.json$/ }, async ({ path }) => {
      if (path !== join(root, 'package.json')) return undefined;
      const { version } = JSON.parse(await readFile(path, 'utf8')) as { version: string };
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
  },
};

/** @throws Error for `import { z } from 'zod'`: with it esbuild keeps all of zod, 5 MB of memory */
function refuseLocales({ outputs }: Metafile): void {
  const isBundled = Object.values(outputs).some(({ inputs }) =>
    Object.keys(inputs).some((file) => file.endsWith('zod/v4/locales/fr.js')),
  );
  if (isBundled) throw new Error("a source has `import { z } from 'zod'`: write `import * as z from 'zod'`");
}

/** Returns the packages with code in an output: esbuild leaves out what no program uses. */
export function bundledPackages({ outputs }: Metafile): string[] {
  const files = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const folders = files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? []);
  return [...new Set(folders)].sort();
}
