/** Reads the files of a tar archive (POSIX ustar) from any source. */

const blockBytes = 512;
const maxEntries = 10_000;

/**
 * The regular files by their paths, as views of the archive. Links, folders and devices are left
 * out: nothing is written, so no path leaves a folder.
 * @throws RangeError when the archive is damaged or has too many entries
 */
export function readTar(archive: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  let at = 0;
  for (let entries = 0; at + blockBytes <= archive.length; entries += 1) {
    const header = archive.subarray(at, at + blockBytes);
    if (header.every((byte) => byte === 0)) return files;
    if (entries >= maxEntries) throw new RangeError(`the archive has more than ${maxEntries} entries`);
    if (readOctal(header, 148, 8) !== checksumOf(header)) throw new RangeError(`the header at byte ${at} is damaged`);
    const size = readOctal(header, 124, 12);
    const start = at + blockBytes;
    if (size > archive.length - start) throw new RangeError(`the file at byte ${at} is longer than the archive`);
    const [name, prefix] = [readText(header, 0, 100), readText(header, 345, 155)];
    const type = header[156];
    if (type === 48 || type === 0)
      files.set(prefix === '' ? name : `${prefix}/${name}`, archive.subarray(start, start + size));
    at = start + Math.ceil(size / blockBytes) * blockBytes;
  }
  throw new RangeError('the archive has no end: it is incomplete');
}

function readText(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
}

function readOctal(header: Buffer, at: number, length: number): number {
  const text = readText(header, at, length).trim();
  if (!/^[0-7]{1,11}$/.test(text)) throw new RangeError(`the archive has a number that is not octal`);
  return Number.parseInt(text, 8);
}

/** The field of the checksum itself counts as spaces. */
const checksumOf = (header: Buffer): number =>
  header.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 32 : byte), 0);
