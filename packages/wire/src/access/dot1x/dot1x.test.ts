import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOfHex, createMemory, hexOfBytes, Memory } from '../../bytes/memory.ts';
import { createEnds, dhcpServerOptions, ipoeOptions } from '../../testing/access-ends.ts';
import { AccessLab } from '../../testing/access-lab.ts';
import { mutationRuns } from '../../testing/mutation-runs.ts';
import { sessionState } from '../session-table.ts';
import type { AuthenticatorOptions } from './authenticator.ts';
import { EapolFrame, md5Proof, portAccessMac, writeEapol } from './eapol.ts';
import type { SupplicantOptions } from './supplicants.ts';

const second = 1000;
const { up } = sessionState;
const text = (value: string) => new TextEncoder().encode(value);

const supplicant: SupplicantOptions = {
  version: 2,
  groupMac: portAccessMac,
  logoff: true,
  startPeriodMs: second,
  maxStart: 3,
  authPeriodMs: 3 * second,
  heldPeriodMs: 5 * second,
  reauthMs: 0,
  identity: (session) => text(`user${session + 1}`),
  password: (session) => text(`test-${session + 1}`),
};
const authenticator: Omit<AuthenticatorOptions, 'mac'> = {
  version: 2,
  groupMac: portAccessMac,
  decision: 'check',
  rejectPct: 0,
  answerMs: second,
  quietMs: 0,
  reauthMs: 0,
  passwordOf: (identity) => (identity.startsWith('user') ? text(`test-${identity.slice(4)}`) : undefined),
};

/** Subscribers and a gateway with DHCP, or with 802.1X alone. */
const createPair = (
  change: Partial<SupplicantOptions> = {},
  other: Partial<typeof authenticator> | null = {},
  isAlone = false,
  lab = new AccessLab(),
) => {
  const ends = createEnds(
    { count: 20, dot1x: { ...supplicant, ...change }, access: isAlone ? {} : { ipoe: ipoeOptions } },
    {
      dhcp: isAlone ? undefined : dhcpServerOptions,
      dot1x: other === null ? undefined : { ...authenticator, ...other },
    },
    lab,
  );
  const { table } = ends.client.subscribers;
  ends.client.subscribers.begin();
  return { ...ends, table, areUp: () => table.counts[up] === 20 };
};

it('frames of EAPOL are written and read back', () => {
  const memory = createMemory(100);
  const eap = { code: 1, id: 7, method: 4, data: bytesOfHex('021122') };
  const end = writeEapol(memory, 0, { version: 2, kind: 0, eap });
  expect(hexOfBytes(memory.bytes, 0, end)).toBe('020000080107000804021122');
  const frame = new EapolFrame();
  expect(frame.parse(memory, 0, end)).toBe(true);
  expect([frame.kind, frame.code, frame.id, frame.method, frame.end - frame.data]).toEqual([0, 1, 7, 4, 3]);
  // printf '\x07secretABCD' | md5sum
  expect(hexOfBytes(md5Proof(7, text('secret'), text('ABCD')))).toBe('0f7cd2275db74123645c60b8e8e5fce8');
});

describe('802.1X', () => {
  it.each([false, true])('lets sessions in, and out with EAPOL-Logoff (alone: %s)', (isAlone) => {
    const { lab, client, gateway, areUp } = createPair({}, {}, isAlone);
    expect(lab.run(10 * second, areUp)).toBe(true);
    expect(gateway.dot1x?.countOf('authorized')).toBe(20);
    expect(gateway.dot1x?.peers.map(({ identity }) => identity)).toContain('user20');
    expect(client.supplicants?.isAuthenticated(7)).toBe(true);
    client.subscribers.end();
    expect(lab.run(10 * second, () => client.subscribers.isOver)).toBe(true);
    lab.run(second);
    expect(gateway.dot1x?.countOf('authorized')).toBe(0);
  });

  it('keeps those out that have a wrong password, and asks them again only after their wait', () => {
    const { lab, client, gateway, table } = createPair({ password: () => text('wrong') }, {}, false);
    lab.run(4 * second);
    expect(table.counts[up]).toBe(0);
    expect(table.causeOf(3)).toBe('802.1X: refused');
    expect(gateway.dot1x?.peers[0]).toMatchObject({ lastError: 'wrong password', refusals: 1 });
    lab.run(4 * second);
    expect(gateway.dot1x?.peers[0]?.refusals).toBe(2);
    expect(client.ipoe?.dhcp?.counters.sent).toBe(0);
  });

  it.each([
    ['accept', 0, 20],
    ['reject', 0, 0],
    ['check', 100, 0],
  ] as const)('decides by %s, refusing %i %%', (decision, rejectPct, count) => {
    const password = decision === 'accept' ? () => text('wrong') : supplicant.password;
    const { lab, table } = createPair({ password }, { decision, rejectPct });
    lab.run(3 * second);
    expect(table.counts[up]).toBe(count);
  });

  it('goes on without authentication where no authenticator answers', () => {
    const { lab, client, areUp } = createPair({}, null);
    lab.run(2 * second);
    expect(areUp()).toBe(false);
    expect(lab.run(5 * second, areUp)).toBe(true);
    expect(client.supplicants?.isAuthenticated(0)).toBe(false);
  });

  it('is done again while sessions are up, by either end', () => {
    for (const [own, other] of [
      [{ reauthMs: 2 * second }, {}],
      [{}, { reauthMs: 2 * second }],
    ]) {
      const { lab, gateway, table, areUp } = createPair(own, other);
      expect(lab.run(5 * second, areUp)).toBe(true);
      const before = gateway.dot1x?.counters.received ?? 0;
      lab.run(5 * second);
      expect((gateway.dot1x?.counters.received ?? 0) - before).toBeGreaterThanOrEqual(80);
      expect([areUp(), table.flaps[0]]).toEqual([true, 0]);
    }
  });

  it('comes through a wire that loses and repeats frames', () => {
    const lab = new AccessLab();
    Object.assign(lab, { lossPct: 15, duplicatePct: 10, jitterMs: 20 });
    const { areUp } = createPair({}, {}, true, lab);
    expect(lab.run(120 * second, areUp)).toBe(true);
  });
});

it('mutated packets of EAPOL break neither end', () => {
  const lab = new AccessLab();
  lab.keepsFrames = true;
  const { client, gateway, areUp } = createPair({}, {}, true, lab);
  expect(lab.run(10 * second, areUp)).toBe(true);
  lab.keepsFrames = false;
  const { frames } = lab;
  const change = fc.tuple(fc.nat(60), fc.nat(255));
  fc.assert(
    fc.property(
      fc.nat(frames.length - 1),
      fc.array(change, { minLength: 1, maxLength: 6 }),
      fc.nat(70),
      (index, changes, length) => {
        const frame = (frames[index] as Uint8Array).slice(0, Math.max(length, 14));
        for (const [at, value] of changes) if (at + 14 < frame.length) frame[at + 14] = value;
        client.receive(new Memory(frame), 0, frame.length);
        gateway.receive(new Memory(frame), 0, frame.length);
      },
    ),
    { numRuns: mutationRuns(3000) },
  );
  expect(lab.run(300 * second, areUp, 5)).toBe(true);
});
