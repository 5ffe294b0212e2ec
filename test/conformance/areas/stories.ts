/** allocate: Pods that the case tells of in words. */
import { type Case, notUnderstood, understandOnly } from '../case.ts';
import type { Seen } from '../compare.ts';
import { type Json, textOf } from '../json.ts';
import type { Stage } from '../stage.ts';
import { addressesOf, hold, lookAt, makePod, makeSetting } from '../world/cast.ts';
import { macvlanConfig, settingOf } from '../world/setting.ts';
import { recordOf, type Trial } from '../world/world.ts';

import { fateIn } from './words.ts';

interface Story {
  readonly told: RegExp;
  readonly perform: (the: Case, trial: Trial) => Promise<Seen>;
}

/** Executes a story, if it is known. @throws CannotExecute */
export async function tellStory(the: Case, stage: Stage): Promise<Seen> {
  const words = textOf(the.given['pod']);
  const story = stories.find(({ told }) => told.test(words));
  if (!story) throw notUnderstood('given pod', words);
  await using trial = await (await stage.world()).begin();
  return await story.perform(the, trial);
}

const network = (name: string) => ({
  namespace: 'default',
  name,
  config: JSON.stringify(macvlanConfig(`${name}.default`)),
});

const secondExhausted: Story = {
  told: /^two attachments, (?:the )?second subnet (?:is )?exhausted/,
  async perform(the, trial) {
    understandOnly('expectation', the.expect, ['annotations written', 'first address', 'event']);
    const subnets = [
      { name: 'one', spec: { provider: 'one.default', cidrBlock: '10.1.0.0/24' } },
      { name: 'two', spec: { provider: 'two.default', cidrBlock: '10.2.0.0/30' } },
    ];
    const networks = [network('one'), network('two')];
    await makeSetting(trial, { ...settingOf({}), networks, subnets });
    await trial.startWatcher();
    await hold(trial, await makePod(trial, 'default', 'other'), { subnet: 'two', addresses: ['10.2.0.2'] });
    const annotations = { 'k8s.v1.cni.cncf.io/networks': 'one,two' };
    const pod = await makePod(trial, 'default', 'p', { annotations });
    await trial.settle();
    const { 'first address': ofFirst, ...others } = the.expect;
    const meanwhile = await trial.until(async () => {
      const look = await lookAt(trial, pod);
      const { event } = others;
      const got = {
        event: look.reasons.find((reason) => reason === event) ?? null,
        'annotations written': writtenOf(look.annotations),
      };
      return { expected: { ...others, 'annotations written': 'none' }, got };
    });
    const reserved = (await recordOf(trial, 'one', '10.1.0.2'))?.allocation !== undefined;
    await trial.objects.patch({ kind: 'Subnet', name: 'two' }, { spec: { cidrBlock: '10.2.0.0/29' } });
    const meantime = reserved ? 'reserved' : 'free';
    const expected = /^(?:stays )?reserved/.test(textOf(ofFirst)) ? 'reserved' : textOf(ofFirst) || meantime;
    const wanted = { first: `${expected}, 10.1.0.2 on retry` };
    const after = await trial.until(async () => {
      const [first] = (await lookAt(trial, pod)).allocations;
      const got = first ? `${addressesOf(first)} on retry` : 'nothing on retry';
      return { expected: wanted, got: { first: `${meantime}, ${got}` } };
    });
    return { expected: [meanwhile.expected, after.expected], got: [meanwhile.got, after.got] };
  },
};

function writtenOf(annotations: Readonly<Record<string, string>>): Json {
  const written = Object.keys(annotations).filter((key) => key.endsWith('/allocated') || key.endsWith('/ip_address'));
  return written.length === 0 ? 'none' : written.join(',');
}

/** The Pod goes away while its annotations are on their way. */
const deletedBeforePatch: Story = {
  told: /^deleted between allocation and annotation patch/,
  async perform(the, trial) {
    understandOnly('expectation', the.expect, ['enqueue', 'finally']);
    await makeSetting(trial, settingOf({}));
    await trial.startWatcher();
    let patched = false;
    trial.attention.before = async ({ method, path }) => {
      if (patched || method !== 'PATCH' || !path.endsWith('/pods/p')) return;
      patched = true;
      await trial.objects.remove({ kind: 'Pod', namespace: 'default', name: 'p' }, 0);
    };
    const annotations = { 'k8s.v1.cni.cncf.io/networks': 'macvlan' };
    const pod = await makePod(trial, 'default', 'p', { annotations });
    await trial.settle();
    return await trial.until(async () => {
      const fate = (await lookAt(trial, pod)).allocations.length === 0 ? 'released' : 'kept';
      // How its deletion is noticed is nobody's business; that it is, shows at the end.
      const expected = Object.entries(the.expect).map(([key, words]) => [
        key,
        key === 'finally' ? fateIn(words) : words,
      ]);
      const noticed = the.expect['enqueue'] !== undefined && { enqueue: fate === 'released' ? 'delete pod' : null };
      return {
        expected: Object.fromEntries(expected) as Json,
        got: { finally: patched ? fate : 'never patched', ...noticed },
      };
    });
  },
};

const stories: readonly Story[] = [secondExhausted, deletedBeforePatch];
