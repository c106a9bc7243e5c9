import { accessProfiles, controlProfiles, findProtocol, protocolNames, protocolProfiles } from '@rushhour/contract';
import { describe, expect, it } from 'vitest';
import { createSchemaCheck } from '../../schema-check.ts';
import { assertTexts, issuesOfProtocol, usesOf } from './content.ts';

const issuesOf = (work: () => void) => {
  try {
    work();
  } catch (error) {
    return (error as { data: { issues: { path: string }[] } }).data.issues;
  }
  return [];
};

describe('cells of a body', () => {
  it('are texts, in rows that are arrays', () => {
    expect(issuesOf(() => assertTexts({ rows: [['a', '']], values: ['b'] }))).toEqual([]);
    expect(issuesOf(() => assertTexts({ rows: null }))).toEqual([]);
    const issues = issuesOf(() => assertTexts({ rows: [['a', null], { 0: 'a' }], values: ['b', 7] }));
    expect(issues.map(({ path }) => path)).toEqual(['/values/1', '/rows/0/1', '/rows/1']);
  });

  it('are looked at no further than a hundred problems', () => {
    let looked = 0;
    const row = new Proxy([1], {
      get: (target, name) => {
        if (name === '0') looked += 1;
        return Reflect.get(target, name);
      },
    });
    const rows = Array.from({ length: 100_000 }, () => row);
    expect(issuesOf(() => assertTexts({ rows }))).toHaveLength(100);
    expect(looked).toBe(100);
    expect(issuesOf(() => assertTexts({ values: Array.from({ length: 1_000_000 }, () => 1) }))).toHaveLength(100);
  });
});

describe('a dictionary uses', () => {
  it('the file it reads, the certificates its protocol shows, and nothing else', () => {
    expect(usesOf({ type: 'file', config: { $source: { fileID: 12 } } })).toEqual([{ kind: 'file', id: 12 }]);
    const supplicant = { method: 'tls', certificateID: 3, caCertificateID: 4 };
    expect(usesOf({ type: 'protocol.dot1x', config: { supplicant } })).toEqual([
      { kind: 'certificate', id: 3 },
      { kind: 'certificate', id: 4 },
    ]);
    expect(usesOf({ type: 'protocol.bgp', config: { imported: { fileID: 7 } } })).toEqual([{ kind: 'file', id: 7 }]);
    expect(usesOf({ type: 'table', config: { certificateID: { trim: true } } })).toEqual([]);
  });
});

const accessMembers =
  'accessLine dhcp dhcpv6 dot1x gptp igmp ipoe l2tp lag links openflow ppp pppoe sessions stp'.split(' ');
const controlMembers =
  'access bfd bgp evpn fec129 igmp igmp-querier isis ldp link-oam mld mld-querier mldp mpls-oam mpls-tp ospf pim pseudowire rip vpls vpws'.split(
    ' ',
  );

interface Member {
  type?: string;
  description?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  enum?: unknown[];
  maxItems?: number;
}

const membersOf = (name: keyof typeof protocolProfiles) =>
  Object.entries(protocolProfiles[name].properties).flatMap(([section, { properties }]) =>
    Object.entries(properties as Record<string, Member>).map(([member, schema]) => ({
      where: `${name}/${section}/${member}`,
      schema,
    })),
  );

/** The config with every default filled in. */
const withDefaults = (name: keyof typeof protocolProfiles, config: object): Record<string, Record<string, unknown>> => {
  const filled = structuredClone(config);
  createSchemaCheck(protocolProfiles[name])(filled);
  return filled as Record<string, Record<string, unknown>>;
};

const isBounded = ({ type, ...member }: Member) => {
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return member.minimum !== undefined && member.maximum !== undefined;
  if (type === 'array') return member.maxItems !== undefined;
  return (member.enum ?? member.format ?? member.maxLength ?? member.pattern) !== undefined;
};

describe('protocol profiles', () => {
  it('are there for every member of the access and the control plane', () => {
    expect(Object.keys(accessProfiles)).toEqual(accessMembers);
    expect(Object.keys(controlProfiles)).toEqual(controlMembers);
    expect(protocolNames).toHaveLength(new Set([...accessMembers, ...controlMembers]).size);
  });

  it.each(protocolNames)('of %s are complete without any config, and stay so when sent back', (name) => {
    expect(issuesOfProtocol(name, {})).toEqual([]);
    const filled = withDefaults(name, {});
    expect(Object.keys(filled)).toEqual(Object.keys(protocolProfiles[name].properties));
    expect(issuesOfProtocol(name, filled)).toEqual([]);
    expect(withDefaults(name, filled)).toEqual(filled);
  });

  it('describe every member, bound it, and give it a default or leave it optional', () => {
    const members = protocolNames.flatMap(membersOf);
    expect(members.length).toBeGreaterThan(400);
    expect(members.filter(({ schema }) => !schema.description).map(({ where }) => where)).toEqual([]);
    expect(members.filter(({ schema }) => !isBounded(schema)).map(({ where }) => where)).toEqual([]);
  });

  it('refuse what they do not know, with a pointer to every problem', () => {
    const config = {
      session: { localAs: 0, peerAs: '65001', peerAddress: '10.0.0.256', colour: 'blue' },
      capabilities: { families: ['ipv4-unicast', 'ipx'] },
      routes: { ipv4Start: '10.0.0.0/33', communities: ['65000:1', 'high'] },
      weather: {},
    };
    expect(
      issuesOfProtocol('bgp', config)
        .map(({ path, code }) => `${path} ${code}`)
        .sort(),
    ).toEqual([
      '/capabilities/families/1 ENUM',
      '/routes/communities/1 PATTERN',
      '/routes/ipv4Start PATTERN',
      '/session/colour UNKNOWN_MEMBER',
      '/session/localAs MINIMUM',
      '/session/peerAddress PATTERN',
      '/session/peerAs TYPE',
      '/weather UNKNOWN_MEMBER',
    ]);
  });

  it('refuse sections that are no objects, and leave the config they check alone', () => {
    const config = { session: 5, flaps: null };
    expect(issuesOfProtocol('bfd', config).map(({ path, code }) => `${path} ${code}`)).toEqual([
      '/session TYPE',
      '/flaps TYPE',
    ]);
    expect(config).toEqual({ session: 5, flaps: null });
  });

  it('report more than eight problems', () => {
    const session = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`member${i}`, i]));
    expect(issuesOfProtocol('bfd', { session })).toHaveLength(30);
  });

  it.each([
    ['::', true],
    ['2001:db8::1', true],
    ['1:2:3:4:5:6:7:8', true],
    ['1:2:3:4:5:6:7::', true],
    ['1:2:3:4:5:6:7:8:9', false],
    ['1:2:3:4:5:6:7::8', false],
    ['::2:3:4:5:6:7:8', true],
    ['1::2::3', false],
    ['12345::', false],
    ['10.0.0.1', true],
    ['10.0.0.01', false],
    ['host.test', false],
  ])('take %s as an address: %s', (peerAddress, isFine) => {
    expect(issuesOfProtocol('bfd', { session: { peerAddress } })).toHaveLength(isFine ? 0 : 1);
  });

  it('fill defaults inside lists', () => {
    const config = withDefaults('stp', { mst: { instances: [{ id: 1, vlans: '10-19' }] } });
    expect(config['mst']?.['instances']).toEqual([{ id: 1, vlans: '10-19', priority: 32_768 }]);
  });

  it('are found by the type of a dictionary, and nothing else is', () => {
    expect(findProtocol('protocol.mpls-tp')).toBe('mpls-tp');
    for (const type of ['protocol.BGP', 'protocol.', 'protocol.constructor', 'bgp', 'list']) {
      expect(findProtocol(type)).toBeUndefined();
    }
  });
});
