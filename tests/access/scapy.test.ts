import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeLacp } from '../../packages/wire/src/access/lag/lacp-message.ts';
import { sessionState } from '../../packages/wire/src/access/session-table.ts';
import { createMemory } from '../../packages/wire/src/bytes/memory.ts';
import {
  createEnds,
  dhcpv6ClientOptions,
  dhcpv6ServerOptions,
  gateway6Options,
  ipoe6Options,
  ipoeOptions,
  pppoeClientOptions,
  pppoeServerOptions,
} from '../../packages/wire/src/testing/access-ends.ts';
import { root } from '../../scripts/run.ts';
import { requireProgram } from '../engines/programs.ts';

/** A frame as scapy reads it: its layers, their fields, and the bytes that it cannot name. */
interface Reading {
  readonly layers: string[];
  readonly fields: Record<string, unknown>[];
  readonly unread: string;
  /** Whether scapy writes the same bytes for these fields, with lengths and checksums of its own. */
  readonly isSame: boolean;
}

const readFrames = (frames: readonly Uint8Array[]): Reading[] => {
  requireProgram('scapy');
  const input = frames.map((frame) => Buffer.from(frame).toString('hex')).join('\n');
  const script = join(root, 'tests/access/scapy-reader.py');
  const lines = execFileSync('/usr/bin/python3', [script], { input, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
};

/** Starts all sessions of a wire, ends them, and returns what both ends have sent. */
const framesOf = ({ lab, client }: ReturnType<typeof createEnds>): Uint8Array[] => {
  const { subscribers } = client;
  lab.keepsFrames = true;
  subscribers.begin();
  expect(lab.run(5000, () => subscribers.table.counts[sessionState.up] === subscribers.table.count)).toBe(true);
  subscribers.end();
  lab.run(3000);
  return lab.frames;
};

const framesOfPpp = (offer: 'chap' | 'pap') => {
  const own = pppoeClientOptions.ppp;
  const ip6cp = { enabled: true, autoconfigure: true, dhcpv6: { ...dhcpv6ClientOptions, releases: true } };
  const far = pppoeServerOptions.ppp;
  const serverPpp = {
    ...{ ...far, auth: { ...far.auth, offer } },
    ip6cp: { enabled: true, autoconfigure: true, pools: dhcpv6ServerOptions },
  };
  return framesOf(
    createEnds(
      { count: 3, access: { pppoe: { ...pppoeClientOptions, ppp: { ...own, ip6cp } } } },
      { dhcp: undefined, pppoe: { ...pppoeServerOptions, ppp: serverPpp } },
    ),
  );
};

const fieldsOf = (readings: readonly Reading[], layer: string) =>
  readings.flatMap(({ layers, fields }) => fields.filter((_, i) => layers[i] === layer));
const isIp6cp = ({ fields }: Reading) => fields.some(({ proto }) => proto === 0x8057);
const hexOf = (text: string) => Buffer.from(text).toString('hex');

describe('scapy', () => {
  it.each(['chap', 'pap'] as const)('reads and writes the messages of PPPoE and PPP with %s as we do', (offer) => {
    const readings = readFrames(framesOfPpp(offer));
    expect(readings.filter(({ isSame }) => !isSame)).toEqual([]);
    // IP6CP is the one protocol that it does not know.
    expect(readings.filter((one) => one.unread !== '' && !isIp6cp(one))).toEqual([]);
    expect(readings.filter(isIp6cp).length).toBeGreaterThan(8);
    const codes = new Set(fieldsOf(readings, 'PPPoED').map(({ code }) => code));
    expect(codes).toEqual(new Set([0x09, 0x07, 0x19, 0x65, 0xa7]));
    const names = new Set(readings.flatMap(({ layers }) => layers));
    const shared = ['PPP_LCP_Configure', 'PPP_LCP_Terminate', 'PPP_IPCP', 'ICMPv6ND_RS', 'ICMPv6ND_RA'];
    const messages = ['Solicit', 'Advertise', 'Request', 'Reply', 'Release'].map((name) => `DHCP6_${name}`);
    expect([...names]).toEqual(expect.arrayContaining([...shared, ...messages]));
    if (offer === 'pap') {
      const [request] = fieldsOf(readings, 'PPP_PAP_Request');
      expect(request).toMatchObject({ username: hexOf('user1@test'), password: hexOf('test-1') });
      return;
    }
    const all = fieldsOf(readings, 'PPP_CHAP_ChallengeResponse');
    const responses = all.filter(({ code }) => code === 2);
    expect(responses).toHaveLength(3);
    for (const { id, value, optional_name: name } of responses) {
      const number = /^user(\d+)@test$/.exec(Buffer.from(String(name), 'hex').toString())?.[1];
      const asked = all.find((one) => one['code'] === 1 && one['id'] === id);
      const proof = createHash('md5')
        .update(Uint8Array.of(Number(id)))
        .update(`test-${number}`);
      expect(value).toBe(proof.update(Buffer.from(String(asked?.['value']), 'hex')).digest('hex'));
    }
  });

  it('reads and writes the messages of DHCP and DHCPv6 as we do', () => {
    const ends = createEnds(
      { count: 3, access: { ipoe: { ...ipoeOptions, ipv6: ipoe6Options } } },
      { ipv6: gateway6Options },
    );
    const readings = readFrames(framesOf(ends));
    expect(readings.filter(({ isSame }) => !isSame)).toEqual([]);
    const withDhcp = readings.filter(({ layers }) =>
      layers.some((name) => name.startsWith('DHCP') || name === 'BOOTP'),
    );
    expect(withDhcp.filter(({ unread }) => unread !== '')).toEqual([]);
    const types = new Set(fieldsOf(withDhcp, 'DHCP').map(({ options }) => (options as unknown[][])[0]?.[1]));
    expect(types).toEqual(new Set([1, 2, 3, 5, 7]));
    const given = fieldsOf(withDhcp, 'DHCP6OptIA_PD').flatMap(({ iapdopt }) => iapdopt as [string, object][]);
    expect(given).toContainEqual([
      'DHCP6OptIAPrefix',
      expect.objectContaining({ plen: 56, prefix: '2001:db8:4000::' }),
    ]);
    const addresses = fieldsOf(withDhcp, 'DHCP6OptIA_NA').flatMap(({ ianaopts }) => ianaopts as [string, object][]);
    expect(addresses).toContainEqual([
      'DHCP6OptIAAddress',
      expect.objectContaining({ addr: '2001:db8:1::2', preflft: 1800, validlft: 3600 }),
    ]);
  });

  it('reads and writes a message of LACP as we do', () => {
    const memory = createMemory(200);
    memory.bytes.set([1, 0x80, 0xc2, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0x09]);
    const system = Uint8Array.of(2, 0, 0, 0, 0, 1);
    const actor = { systemPriority: 100, system, key: 7, portPriority: 200, port: 3, state: 0x3d };
    const end = writeLacp(memory, 14, { actor, partner: { ...actor, key: 9, state: 0x3c } });
    const [reading] = readFrames([memory.bytes.subarray(0, end)]);
    expect(reading).toMatchObject({ isSame: true, layers: ['Ether', 'SlowProtocol', 'LACP'] });
    expect(reading?.fields.at(-1)).toMatchObject({
      ...{ actor_system_priority: 100, actor_system: '02:00:00:00:00:01', actor_key: 7, actor_port_priority: 200 },
      ...{ actor_port_number: 3, actor_state: 0x3d, partner_key: 9, partner_state: 0x3c },
    });
  });
});
