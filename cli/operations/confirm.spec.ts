import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import { Failure } from '../failure.ts';
import { confirm } from './confirm.ts';

describe('asking before something is taken away', () => {
  const forever = new AbortController().signal;

  /** What was asked, and how it ended: 'yes', or the error. */
  async function ask({ typed, isTTY = true, yes = false, signal = forever }: Asked) {
    const input = Object.assign(new PassThrough(), { isTTY });
    const output = new PassThrough();
    if (typed !== undefined) input.end(typed);
    const ended: unknown = await confirm({ lines: ['a goes', 'b goes'], question: 'Sure?', yes }, signal, {
      input,
      output,
    }).then(
      () => 'yes',
      (error: unknown) => error,
    );
    return { said: String((output.read() as Buffer | null) ?? ''), ended };
  }

  interface Asked {
    readonly typed?: string;
    readonly isTTY?: boolean;
    readonly yes?: boolean;
    readonly signal?: AbortSignal;
  }

  it('says what will happen, and goes ahead on y or yes', async () => {
    for (const typed of ['y\n', 'yes\n', ' Y \n', 'y'])
      expect(await ask({ typed })).to.deep.equal({ said: 'a goes\nb goes\nSure? [y/N] ', ended: 'yes' });
  });

  it('does nothing on anything else, and at the end of the input', async () => {
    for (const typed of ['n\n', '\n', 'yeah right\n', '', 'no\ny\n']) {
      const { ended } = await ask({ typed });
      expect(ended).to.be.instanceOf(Failure).and.include({ message: 'nothing was changed', exitStatus: 1 });
    }
  });

  it('asks nothing where --yes was said', async () => {
    expect(await ask({ yes: true, isTTY: false })).to.deep.equal({ said: '', ended: 'yes' });
  });

  it('refuses where nobody can be asked, whatever stands in the input', async () => {
    const { said, ended } = await ask({ typed: 'y\n', isTTY: false });
    expect(said).to.equal('');
    expect(ended).to.be.instanceOf(Failure).and.include({ exitStatus: 2 });
    expect((ended as Failure).message).to.equal(
      'a goes; b goes: say --yes to go ahead, since there is no terminal to ask at; nothing was changed',
    );
  });

  it('ends on Ctrl-C', async () => {
    const { ended } = await ask({ signal: AbortSignal.abort() });
    expect(ended).to.be.instanceOf(IpledgerError).and.include({ code: 'CANCELLED' });
  });
});
