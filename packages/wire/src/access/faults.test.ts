import { describe, expect, it } from 'vitest';
import { dhcpFaults } from '../testing/faults/dhcp-faults.ts';
import { dot1xFaults } from '../testing/faults/dot1x-faults.ts';
import { provoke } from '../testing/faults/fault.ts';
import { ipv6Faults } from '../testing/faults/ipv6-faults.ts';
import { l2tpFaults } from '../testing/faults/l2tp-faults.ts';
import { pppFaults } from '../testing/faults/ppp-faults.ts';
import { pppoeFaults } from '../testing/faults/pppoe-faults.ts';
import { sessionCauses } from './causes.ts';

const tables = {
  DHCP: dhcpFaults,
  IPv6: ipv6Faults,
  PPPoE: pppoeFaults,
  PPP: pppFaults,
  L2TP: l2tpFaults,
  '802.1X': dot1xFaults,
};

/** Causes that need no misbehaviour of the other end, or are those of a gateway: their tests are elsewhere. */
const others = ['none', 'stopped', 'link down', 'hold time over', 'RADIUS: no answer', 'RADIUS: session time over'];

describe.each(Object.entries(tables))('the other end of %s', (_, faults) => {
  it.each(faults.map((fault) => [fault.name, fault] as const))(
    'shows %s: sessions end with the cause',
    (_name, fault) => {
      const expected = { state: 'ended', attempts: 2, cause: fault.cause, failures: 2, timersLeft: 0 };
      expect(provoke(fault)).toEqual(expected);
    },
  );
});

it('every cause of the session table is provoked', () => {
  const provoked = Object.values(tables).flatMap((faults) => faults.map(({ cause }) => cause));
  expect(new Set([...provoked, ...others])).toEqual(new Set(sessionCauses));
});
