import { expect } from 'chai';
import { verbTable } from '../../cli/verb-table.ts';
import { createManPage } from './command-line-files.ts';

describe('createManPage', () => {
  it('createManPage has each verb of the command line', async () => {
    const page = await createManPage({ version: '1.2.3', revision: '', createdAt: 0 });
    for (const { usage } of verbTable)
      expect(page).to.contain(`ipledger ${usage.split(' ')[0]?.replaceAll('-', '\\-')}`);
  });
});
