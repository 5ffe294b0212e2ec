import { expect } from 'chai';
import { defaultNetworkAnnotation, networksAnnotation } from '../../../kubernetes/objects/pod.ts';
import { parseNetworkSelections } from './network-selections.ts';

const plain = { addresses: [], mac: '', isMain: false, interface: '' };

function selected(networks: string, defaultNetwork?: string) {
  const annotations = {
    [networksAnnotation]: networks,
    ...(defaultNetwork === undefined ? {} : { [defaultNetworkAnnotation]: defaultNetwork }),
  };
  return parseNetworkSelections({ namespace: 'app', annotations });
}

describe('the network selections of a Pod', () => {
  const parsed: [what: string, networks: string, expected: object[]][] = [
    ['are in the Pod’s namespace if they have none', 'macvlan', [{ ...plain, name: 'macvlan', namespace: 'app' }]],
    ['are in the namespace before the slash', 'default/macvlan', [{ ...plain, name: 'macvlan', namespace: 'default' }]],
    [
      'ignore blanks around elements and their parts',
      ' default / macvlan @ net1 , m2',
      [
        { ...plain, name: 'macvlan', namespace: 'default', interface: 'net1' },
        { ...plain, name: 'm2', namespace: 'app' },
      ],
    ],
    [
      'have addresses, a MAC, an interface and gateways in the JSON form',
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
    [
      'have fields in any letter case, as Multus reads them',
      '[{"Name":"m","IPs":["10.0.0.9"],"MAC":"02:00:00:00:00:01","Interface":"net9"},{"name":"m2","Ips":["10.0.0.8"]}]',
      [
        {
          ...plain,
          name: 'm',
          namespace: 'app',
          addresses: ['10.0.0.9'],
          mac: '02:00:00:00:00:01',
          interface: 'net9',
        },
        { ...plain, name: 'm2', namespace: 'app', addresses: ['10.0.0.8'] },
      ],
    ],
    [
      'have null fields as absent ones, and the older name of interface beside an empty one',
      '[{"name":"m","namespace":null,"ips":null,"mac":null,"interface":"","interfaceRequest":"net9","default-route":null,"ipam-claim-reference":null}]',
      [{ ...plain, name: 'm', namespace: 'app', interface: 'net9' }],
    ],
    ['are none for an empty annotation', '  ', []],
    ['are none for an empty JSON array', '[]', []],
  ];
  for (const [what, networks, expected] of parsed)
    it(`the network selections of a Pod ${what}`, () =>
      expect(selected(networks)).to.deep.equal({ ok: true, value: expected }));

  it('the network selections of a Pod begin with the default network, as eth0', () => {
    expect(selected('default/net2', 'default/macvlan')).to.deep.equal({
      ok: true,
      value: [
        { ...plain, name: 'macvlan', namespace: 'default', interface: 'eth0', isMain: true },
        { ...plain, name: 'net2', namespace: 'default' },
      ],
    });
  });

  it('the network selections of a Pod without annotations are empty', () => {
    expect(parseNetworkSelections({ namespace: 'app', annotations: {} })).to.deep.equal({ ok: true, value: [] });
  });

  const rejected: [networks: string, sentence: string][] = [
    ['a/b/c', `Invalid network object (failed at '/') in "a/b/c"`],
    ['a@b@c', `Invalid network object (failed at '@') in "a@b@c"`],
    ['Macvlan', '"Macvlan" in "Macvlan" is not a name'],
    ['macvlan,', 'a network has no name'],
    ['-a', 'is not a name'],
    ['a@net_1', '"net_1" in "a@net_1" is not a name'],
    ['[{"name":"a"}', 'not valid JSON'],
    ['{"name":"a"}', 'must be a JSON array of networks'],
    ['[{"namespace":"a"}]', '[0]["name"]'],
    ['[{"name":""}]', 'a network has no name'],
    ['[{"name":"a","ips":"10.0.0.1"}]', '[0]["ips"]'],
    ['[{"name":"a","interface":"sixteen-letters-"}]', 'Linux allows at most 15 characters'],
    ['[{"name":"a","interface":"net/1"}]', 'interface "net/1" of a: Linux allows no blank, slash or colon in it'],
    ['[{"name":"a","default-route":["10.0.0.0/8"]}]', 'default-route "10.0.0.0/8" of a is not an address'],
    ['a@net1,b@net1', 'interface net1 is requested twice: give each NIC a name of its own'],
  ];
  for (const [networks, sentence] of rejected)
    it(`the network selections of a Pod are rejected for ${networks}, with the reason and the annotation`, () => {
      const result = selected(networks);
      expect(result)
        .to.have.property('problem')
        .that.contains(sentence)
        .and.contains(`annotation ${networksAnnotation}`);
    });

  it('the network selections of a Pod are rejected with the name of the wrong annotation', () => {
    expect(selected('ok', 'a@b@c')).to.have.property('problem').that.contains(`annotation ${defaultNetworkAnnotation}`);
  });
});
