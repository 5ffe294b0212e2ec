import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { kubernetesPermissions } from '../../../lib/grpc/server/kubernetes-permissions.ts';
import type { LedgerClient } from '../../../lib/ledger-client/ledger-client.ts';
import { IpamService, LedgerService, SubnetsService, ViewsService } from '../../../proto/generated/ipledger.ts';
import { verifyPerson } from './verify-person.ts';

const permissionOf = (path: string): string => {
  const { resource, verb } = kubernetesPermissions.get(path) ?? { resource: 'none', verb: path };
  return `${resource}/${verb}`;
};

/** The permissions that the review of a person needs. */
async function verified(): Promise<Set<string>> {
  const paths: string[] = [];
  const client = {
    call: async ({ path }: { readonly path: string }) => {
      paths.push(path);
      return { caller: 'alice' };
    },
    async *stream({ path }: { readonly path: string }) {
      paths.push(path);
      yield await Promise.reject(new IpledgerError('INVALID_REQUEST', 'no such type'));
    },
  } as unknown as LedgerClient;
  await verifyPerson(client);
  return new Set(paths.map(permissionOf));
}

const services = { IpamService, LedgerService, SubnetsService, ViewsService };

/** The RPCs that the console calls with its own certificate, from its source: file and path. */
function* sharedCalls(): Generator<readonly [string, string]> {
  for (const folder of ['views', 'ledger'])
    for (const file of readdirSync(join(import.meta.dirname, '..', folder))) {
      if (file.includes('.spec.') || file === 'actions.ts') continue; // actions are calls of the person
      const text = readFileSync(join(import.meta.dirname, '..', folder, file), 'utf8');
      for (const [, service = '', name = ''] of text.matchAll(/\b(\w+Service)\.(\w+)/g)) {
        const methods = services[service as keyof typeof services] as unknown as Record<string, { path: string }>;
        yield [`${folder}/${file}`, methods[name]?.path ?? name];
      }
    }
}

describe('The review of a person', () => {
  const calls = [...sharedCalls()];

  it('The review of a person finds the calls of the views', () => {
    expect(new Set(calls.map(([, path]) => path))).to.include.members([
      LedgerService.watch.path,
      ViewsService.mapAddresses.path,
      SubnetsService.listPools.path,
    ]);
  });

  for (const [file, path] of calls)
    it(`The review of a person covers the permission of ${path.split('/').at(-1)}, which ${file} calls for all people`, async () => {
      expect(await verified()).to.include(permissionOf(path));
    });
});
