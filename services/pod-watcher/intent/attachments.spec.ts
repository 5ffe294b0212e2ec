import { expect } from 'chai';
import { defaultNetworkAnnotation, networksAnnotation } from '../kubernetes/objects.ts';
import { selections } from './attachments.ts';

const plain = { addresses: [], mac: '', main: false, interface: '' };

function selected(networks: string, defaultNetwork?: string) {
  const annotations = {
    [networksAnnotation]: networks,
    ...(defaultNetwork === undefined ? {} : { [defaultNetworkAnnotation]: defaultNetwork }),
  };
  return selections({ namespace: 'app', annotations });
}

describe('the networks that a Pod selects', () => {
  const understood: [what: string, networks: string, expected: object[]][] = [
    ['a short name is in the Pod’s namespace', 'macvlan', [{ ...plain, name: 'macvlan', namespace: 'app' }]],
    ['a name may bring its namespace', 'default/macvlan', [{ ...plain, name: 'macvlan', namespace: 'default' }]],
    [
      'blanks around elements and parts do not matter',
      ' default / macvlan @ net1 , m2',
      [
        { ...plain, name: 'macvlan', namespace: 'default', interface: 'net1' },
        { ...plain, name: 'm2', namespace: 'app' },
      ],
    ],
    [
      'the JSON form brings addresses, a MAC, an interface and gateways',
      '[{"name":"m","namespace":"n","ips":["10.0.0.9/16","fd00::9/64"],"mac":"02:00:00:00:00:01","interface":"net9","default-route":["10.0.0.1"]}]',
      [
        {
          ...plain,
          name: 'm',
          namespace: 'n',
          addresses: ['10.0.0.9/16', 'fd00::9/64'],
          mac: '02:00:00:00:00:01',
          interface: 'net9',
          defaultRoute: ['10.0.0.1'],
        },
      ],
    ],
    ['an empty annotation selects nothing', '  ', []],
    ['an empty JSON array selects nothing', '[]', []],
  ];
  for (const [what, networks, expected] of understood)
    it(what, () => expect(selected(networks)).to.deep.equal({ ok: true, value: expected }));

  it('attaches the default network first, as eth0', () => {
    expect(selected('default/net2', 'default/macvlan')).to.deep.equal({
      ok: true,
      value: [
        { ...plain, name: 'macvlan', namespace: 'default', interface: 'eth0', main: true },
        { ...plain, name: 'net2', namespace: 'default' },
      ],
    });
  });

  it('selects nothing for a Pod without annotations', () => {
    expect(selections({ namespace: 'app', annotations: {} })).to.deep.equal({ ok: true, value: [] });
  });

  const refused: [networks: string, sentence: string][] = [
    ['a/b/c', `Invalid network object (failed at '/') in "a/b/c"`],
    ['a@b@c', `Invalid network object (failed at '@') in "a@b@c"`],
    ['Macvlan', '"Macvlan" in "Macvlan" is no name'],
    ['macvlan,', 'a network without name'],
    ['-a', 'is no name'],
    ['a@net_1', '"net_1" in "a@net_1" is no name'],
    ['[{"name":"a"}', 'no valid JSON'],
    ['{"name":"a"}', 'want a JSON array of networks'],
    ['[{"namespace":"a"}]', '[0]["name"]'],
    ['[{"name":""}]', 'a network without name'],
    ['[{"name":"a","ips":"10.0.0.1"}]', '[0]["ips"]'],
    ['[{"name":"a","interface":"sixteen-letters-"}]', 'Linux takes at most 15 characters'],
    ['[{"name":"a","interface":"net/1"}]', 'interface "net/1" of a: Linux takes no blank, slash or colon in it'],
    ['[{"name":"a","default-route":["10.0.0.0/8"]}]', 'default-route "10.0.0.0/8" of a is not an address'],
    ['a@net1,b@net1', 'interface net1 is asked for twice: give each NIC a name of its own'],
  ];
  for (const [networks, sentence] of refused)
    it(`refuses ${networks}, and says what and where`, () => {
      const result = selected(networks);
      expect(result)
        .to.have.property('problem')
        .that.contains(sentence)
        .and.contains(`annotation ${networksAnnotation}`);
    });

  it('names the annotation that is wrong', () => {
    expect(selected('ok', 'a@b@c')).to.have.property('problem').that.contains(`annotation ${defaultNetworkAnnotation}`);
  });
});
