/**
 * Reads the folders of host-local: NETWORK/ADDRESS in /var/lib/cni/networks of a node, each with
 * the container id, and in a second line the interface. Other files are `last_reserved_ip.N` and
 * `lock`.
 */
import { constants } from 'node:fs';
import { open, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalAddress } from '../../ledger/domain/addresses/address.ts';
import { CliError } from '../cli-error.ts';
import { maxSourceAddresses, type SourceAddress, type SourceAddresses, type SourceConflict } from './source-address.ts';

const maxNetworks = 10_000;
/** A container id of 64 characters and an interface of 15 need far less. */
const maxFileBytes = 1_024;
const idText = /^[\w.-]{1,256}$/;
const interfaceText = /^[^\s/]{0,15}$/;

export interface NodeFolder {
  readonly node: string;
  readonly folder: string;
}

/** The place of a file of host-local. */
interface AddressFile {
  readonly node: string;
  readonly network: string;
  readonly name: string;
  readonly path: string;
}

/** @throws CliError for an unreadable folder, and for more files than an import can have */
export async function readHostLocal(
  folders: readonly NodeFolder[],
  isSelected: (network: string) => boolean,
): Promise<SourceAddresses> {
  const networks = new Set<string>();
  const files: AddressFile[] = [];
  for (const { node, folder } of folders)
    for (const network of await listFolder(folder, 'directories', maxNetworks)) {
      networks.add(network);
      if (!isSelected(network)) continue;
      const remaining = maxSourceAddresses - files.length;
      for (const name of await listFolder(join(folder, network), 'files', remaining))
        files.push({ node, network, name, path: join(folder, network, name) });
    }
  const [conflicts, addresses]: [SourceConflict[], SourceAddress[]] = [[], []];
  for (const file of files) {
    const parsed = parseAddressFile(file, await readBounded(file.path));
    if ('kind' in parsed) conflicts.push(parsed);
    else addresses.push(parsed);
  }
  return { networks, addresses, conflicts };
}

function parseAddressFile({ node, network, name }: AddressFile, content = ''): SourceAddress | SourceConflict {
  const where = `${network}/${name} of node ${node}`;
  const address = canonicalAddress(name);
  const [containerId = '', interfaceName = '', ...more] = content.split(/\r?\n/).map((each) => each.trim());
  const isValid = idText.test(containerId) && interfaceText.test(interfaceName) && more.every((each) => each === '');
  if (address !== undefined && isValid)
    return { where, network, address, interface: interfaceName, containerId, holder: { by: 'node', node } };
  return {
    kind: 'invalid entry',
    where,
    what: address === undefined ? 'its name is not an address' : 'it has no container id, or unknown content',
    remedy: 'remove the file from the copy of the folder, and delete the Pod that has the address',
    ...(address !== undefined && { about: { network, address } }),
  };
}

const isBookkeeping = (name: string): boolean => name === 'lock' || name.startsWith('last_reserved_ip.');

/** The names in a folder. Fails at the first name beyond the limit. */
async function listFolder(folder: string, what: 'directories' | 'files', limit: number): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const entry of await opendir(folder)) {
      if (what === 'directories' ? !entry.isDirectory() : isBookkeeping(entry.name)) continue;
      if (names.length >= limit)
        throw new CliError('refused', `${folder} has too many ${what} for one import: nothing was changed`);
      names.push(entry.name);
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError('usage', `cannot read ${folder}: ${(error as Error).message}`, { cause: error });
  }
  return names.sort();
}

/** Reads a regular file of at most `maxFileBytes`; undefined for anything else. */
async function readBounded(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!(await file.stat()).isFile()) return undefined;
    const { bytesRead, buffer } = await file.read(Buffer.alloc(maxFileBytes + 1), 0, maxFileBytes + 1, 0);
    return bytesRead > maxFileBytes ? undefined : buffer.toString('utf8', 0, bytesRead);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') return undefined;
    throw new CliError('usage', `cannot read ${path}: ${(error as Error).message}`, { cause: error });
  }
}
