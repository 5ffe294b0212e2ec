/** Tar archives (POSIX ustar) whose bytes depend only on the files. */

/** A file, a symbolic link or a folder. */
export interface TarEntry {
  /** Relative, without a leading or trailing slash, as 'usr/local/bin/node'. */
  readonly path: string;
  /** Permission bits. */
  readonly mode: number;
  readonly content: { readonly file: Buffer } | { readonly link: string } | 'folder';
}

/** A file of an archive. A leading slash of the path is dropped. */
export const tarFile = (path: string, content: Buffer | string, mode = 0o644): TarEntry => ({
  path: path.replace(/^\//, ''),
  mode,
  content: { file: Buffer.from(content) },
});

const blockBytes = 512;
/** Readers expect that an archive ends with two empty blocks. */
const end = Buffer.alloc(2 * blockBytes);

/** Adds the parent folders that are missing, and sorts. @param modifiedAt seconds since 1970 */
export function formatTar(entries: readonly TarEntry[], modifiedAt: number): Buffer {
  const blocks = withFolders(entries).flatMap((entry) => {
    const content = typeof entry.content === 'object' && 'file' in entry.content ? entry.content.file : Buffer.alloc(0);
    const padding = Buffer.alloc((blockBytes - (content.length % blockBytes)) % blockBytes);
    return [formatHeader(entry, content.length, modifiedAt), content, padding];
  });
  return Buffer.concat([...blocks, end]);
}

function withFolders(entries: readonly TarEntry[]): TarEntry[] {
  const byPath = new Map<string, TarEntry>();
  for (const { path } of entries)
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1))
      byPath.set(path.slice(0, at), { path: path.slice(0, at), mode: 0o755, content: 'folder' });
  for (const entry of entries) byPath.set(entry.path, entry);
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function formatHeader({ path, mode, content }: TarEntry, size: number, modifiedAt: number): Buffer {
  const isFolder = content === 'folder';
  const link = typeof content === 'object' && 'link' in content ? content.link : undefined;
  const { name, prefix } = splitPath(isFolder ? `${path}/` : path);
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, at: number, length: number): void =>
    void header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at);
  header.write(name, 0);
  octal(mode, 100, 8);
  octal(0, 108, 8); // owner: root
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(modifiedAt, 136, 12);
  header.write(' '.repeat(8), 148); // the checksum counts its own field as spaces
  header.write(isFolder ? '5' : link === undefined ? '0' : '2', 156);
  if (Buffer.byteLength(link ?? '') > 100) throw new RangeError(`the link ${path} has a target of more than 100 bytes`);
  header.write(link ?? '', 157);
  header.write('ustar\x0000', 257);
  header.write(prefix, 345);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** The name has at most 100 bytes, and the prefix, with the folders of a longer path, 155. */
function splitPath(path: string): { name: string; prefix: string } {
  if (Buffer.byteLength(path) <= 100) return { name: path, prefix: '' };
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= 100 && name !== '') return { name, prefix };
  }
  throw new RangeError(`the path ${path} is too long for a tar archive`);
}
