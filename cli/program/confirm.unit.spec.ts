import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import { CliError } from '../cli-error.ts';
import { confirm } from './operation-verb.ts';

describe('Confirmation', () => {
  const notAborted = new AbortController().signal;

  /** Returns the printed text, and the result: 'yes', or the error. */
  async function runConfirm({ typed, isTTY = true, yes = false, signal = notAborted }: Conditions) {
    const input = Object.assign(new PassThrough(), { isTTY });
    const output = new PassThrough();
    if (typed !== undefined) input.end(typed);
    const result: unknown = await confirm({ lines: ['a ends', 'b ends'], question: 'Sure?', yes }, signal, {
      input,
      output,
    }).then(
      () => 'yes',
      (error: unknown) => error,
    );
    return { printed: String((output.read() as Buffer | null) ?? ''), result };
  }

  interface Conditions {
    readonly typed?: string;
    readonly isTTY?: boolean;
    readonly yes?: boolean;
    readonly signal?: AbortSignal;
  }

  it('Confirmation prints the changes and accepts y or yes', async () => {
    for (const typed of ['y\n', 'yes\n', ' Y \n', 'y'])
      expect(await runConfirm({ typed })).to.deep.equal({ printed: 'a ends\nb ends\nSure? [y/N] ', result: 'yes' });
  });

  it('Confirmation rejects any other answer and the end of the input', async () => {
    for (const typed of ['n\n', '\n', 'yeah right\n', '', 'no\ny\n']) {
      const { result } = await runConfirm({ typed });
      expect(result).to.be.instanceOf(CliError).and.include({ message: 'nothing was changed', exitStatus: 1 });
    }
  });

  it('Confirmation prints nothing with --yes', async () => {
    expect(await runConfirm({ yes: true, isTTY: false })).to.deep.equal({ printed: '', result: 'yes' });
  });

  it('Confirmation fails without a terminal, and does not read the input', async () => {
    const { printed, result } = await runConfirm({ typed: 'y\n', isTTY: false });
    expect(printed).to.equal('');
    expect(result).to.be.instanceOf(CliError).and.include({ exitStatus: 2 });
    expect((result as CliError).message).to.equal(
      'a ends; b ends: nothing was changed, because there is no terminal for the confirmation: add --yes',
    );
  });

  it('Confirmation ends on Ctrl-C', async () => {
    const { result } = await runConfirm({ signal: AbortSignal.abort() });
    expect(result).to.be.instanceOf(IpledgerError).and.include({ code: 'CANCELLED' });
  });
});
